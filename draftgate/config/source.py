"""A configuration however it is given: as a file, as its tables, or read already."""

from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from draftgate.config.config import Config
from draftgate.config.file import laid_over, parse_config, read_config
from draftgate.config.overrides import Overrides


def config_of(
    given: str | PathLike[str] | Mapping[str, Any] | Config, overrides: Overrides
) -> Config:
    """`given` with `overrides` laid over it. Raises ConfigError as `read_config` does."""
    if isinstance(given, (str, PathLike)):
        return read_config(Path(fspath(given)), overrides)
    tables = given.model_dump(exclude_unset=True) if isinstance(given, Config) else given
    return parse_config(laid_over(tables, overrides), "configuration")
