"""Fixtures every test may use."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository root."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real recorded sessions and fault cases that may lie beside the checkout."""
    folder = ROOT.parent / "shared"
    if not (folder / "cases").is_dir():
        pytest.skip("the folder of recorded sessions and fault cases is not beside this checkout")
    return folder
