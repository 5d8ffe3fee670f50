"""What a configuration says of the paths, before a server is asked or launched.

Each of these would otherwise be found when a path's turn comes, hours later.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

from checks.servers.drafting_state import one_server
from draftgate.config.config import Config
from draftgate.run.paths import api_key, section_of, server_spec
from replay.launch.command import server_command
from replay.sending.url import server_root
from traces.errors import ConfigError, InvalidRun
from traces.journal.exchange import PATHS


def check_paths(config: Config, names: Sequence[str] = PATHS) -> None:
    """Raise InvalidRun where both paths name one server, ConfigError for a key that is not in the
    environment, for a Python or a model folder that is not there, and for flags that clash.
    """
    if len(names) > 1:
        check_urls(config)
    for name in names:
        section = section_of(config, name)
        if section.urls:
            api_key(name, section)
        else:
            check_python(config, name)
            server_command(server_spec(config, name), port=0)
    for key, model in launched_models(config, names):
        check_model(key, model)


def check_urls(config: Config) -> None:
    """Raise InvalidRun where a URL stands in both paths of a run that is no A/A."""
    both = set(map(server_root, config.baseline.urls)) & set(
        map(server_root, config.candidate.urls)
    )
    if both and config.run.kind != "aa":
        mismatch = one_server(min(both))
        raise InvalidRun(mismatch.message, mismatch.fix)


def check_python(config: Config, name: str) -> None:
    """Raise ConfigError where there is no `server.python` to launch the path with."""
    python = config.server.python
    if python and shutil.which(python) is None:
        raise ConfigError(
            f"path {name}: there is no Python at {python} (server.python)",
            "name the Python of an environment that has vLLM, or take `python` out",
        )


def launched_models(config: Config, names: Sequence[str] = PATHS) -> list[tuple[str, str]]:
    """The keys that name models to launch, and the models: the target's, the drafter's."""
    launched = [name for name in names if not section_of(config, name).urls]
    found = [("server.model", config.server.model)] if launched else []
    drafter = config.candidate.speculative_config.get("model")
    if "candidate" in launched and isinstance(drafter, str) and drafter not in ("ngram", "[ngram]"):
        found.append(("candidate.speculative_config.model", drafter))
    return found


def check_model(key: str, model: str) -> bool:
    """Whether `model` is a folder with a model; a name of a hub is left to vLLM.

    Raises ConfigError for what can only be a folder, and holds no config.json.
    """
    folder = Path(model)
    if (folder / "config.json").is_file():
        return True
    if folder.exists() or model.startswith((".", "/", "~")):
        raise ConfigError(f"{model} holds no config.json ({key})", f"fix `{key}`")
    return False
