"""Fixtures every test may use."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A shared machine may be slow at any moment, so no example has a deadline; continuous integration
# draws the same examples each time, and people other ones.
settings.register_profile("people", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "people")

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parent.parent


VLLM = "vllm"


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in the same hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Workers share the files; those with real vLLM go to one of them, which begins with them.

    A file stays whole, because its tests share servers and runs. vLLM takes all the cores there
    are: two of them at a time would only wait for each other.
    """
    real = {item.path for item in items if item.get_closest_marker(VLLM)}
    for item in items:
        group = VLLM if item.path in real else item.path.stem
        item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: item.path not in real)


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
