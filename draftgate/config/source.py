"""A configuration however it is given: as a file, as its tables, or read already."""

from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from draftgate.config.config import Config, RunSection
from draftgate.config.file import laid_over, parse_config, read_config, read_tables
from draftgate.config.overrides import Overrides
from traces.user_paths import expanded

Given = str | PathLike[str] | Mapping[str, Any] | Config


def config_of(given: Given, overrides: Overrides) -> Config:
    """`given` with `overrides` laid over it. Raises ConfigError as `read_config` does."""
    if isinstance(given, (str, PathLike)):
        return read_config(Path(expanded(fspath(given))), overrides)
    return parse_config(laid_over(_tables(given), overrides), "configuration")


def output_of(given: Given) -> Path:
    """`run.output` of a configuration that may be whole only with the options of a begun run."""
    section = _tables(given).get("run")
    output = section.get("output") if isinstance(section, Mapping) else None
    return Path(output if isinstance(output, str) else RunSection().output)


def _tables(given: Given) -> Mapping[str, Any]:
    if isinstance(given, (str, PathLike)):
        return read_tables(Path(expanded(fspath(given))))
    return given.model_dump(exclude_unset=True) if isinstance(given, Config) else given
