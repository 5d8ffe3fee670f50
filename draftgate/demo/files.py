"""Where the demo's model pair and sessions lie: in the installed package, or in a checkout."""

from importlib.resources import files
from pathlib import Path

from traces.errors import InputError

INSTALLED = Path(str(files("draftgate"))) / "demo" / "pair"
CHECKOUT = Path(str(files("draftgate"))).parent / "models" / "weights"


def pair_folder() -> Path:
    """The folder that holds `target` and `drafter`. Raises InputError where there is none."""
    for folder in (INSTALLED, CHECKOUT):
        if (folder / "target" / "config.json").is_file():
            return folder
    raise InputError(
        f"{INSTALLED}: the demo's model pair is not there",
        "install draftgate from its wheel again: pip install --force-reinstall draftgate",
    )


def samples_folder() -> Path:
    """The folder of the recorded sessions."""
    return Path(str(files("traces"))) / "samples"
