"""Fixtures every test may use."""

import os
import signal
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

# A shared machine may be slow at any moment, so no example has a deadline; `make test` and
# continuous integration draw the same examples each time (CI=1), `make test-random` other ones.
settings.register_profile("people", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "people")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell lets its background jobs ignore Ctrl-C, and children inherit that; the tests press it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parent.parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with real vLLM come first: they take longest."""
    items.sort(key=lambda item: not uses_vllm(str(item.path)))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    """Workers share the files (`Files`)."""
    return Files(config, log)


class Files(LoadScopeScheduling):
    """A file stays whole, because its tests share servers and runs; those with real vLLM go to one
    worker. vLLM takes all the cores there are: two of them would only wait for each other.

    xdist's own groups (`--dist loadgroup`) do not work with pytest 9.2, whose node ids are fixed.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return "vllm" if uses_vllm(str(ROOT / file)) else file


@cache
def uses_vllm(file: str) -> bool:
    """Whether tests of a file are marked as starting real vLLM."""
    return "pytest.mark.vllm" in Path(file).read_text(encoding="utf-8")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was not run is said by name, with its reason: a checkout with its requirements leaves
    out nothing but what needs a browser or a GPU that is not there."""
    left_out = terminalreporter.stats.get("skipped", [])
    if left_out:
        terminalreporter.section("not run")
    for report in left_out:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        terminalreporter.write_line(f"{report.nodeid}: {str(reason).removeprefix('Skipped: ')}")


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository root."""
    return ROOT
