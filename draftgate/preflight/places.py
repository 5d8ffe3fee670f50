"""Where a run writes: tried before hours are spent, and left as it was."""

import os
import tempfile
from pathlib import Path

from draftgate.config.config import Config
from traces.output import writing


def check_output(config: Config) -> None:
    """Raise OutputError where no folder of a run can be made in `run.output`."""
    check_writable(Path(config.run.output) / "runs")


def check_writable(folder: Path) -> None:
    """Raise OutputError where nothing can be made in `folder`, or it cannot be made itself.

    Permissions alone do not tell: a file system may be read-only, or no real one.
    """
    with writing(folder):
        os.rmdir(tempfile.mkdtemp(dir=standing(folder), prefix=".draftgate-"))


def standing(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    absolute = folder.absolute()
    return next(one for one in (absolute, *absolute.parents) if one.exists())
