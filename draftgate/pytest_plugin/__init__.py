"""The pytest plugin: recorded agent turns on both paths as test arguments (docs/pytest.md).

Every run of pytest imports this module, so it holds hooks and fixtures alone: whatever costs time
is imported when a test first asks for it. Without such a test nothing happens.
"""

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from draftgate.pytest_plugin.settings import (
    MARKER,
    OPTIONS,
    add_options,
    is_strict,
    refuse_unknown_keys,
)
from draftgate.pytest_plugin.status import REASON, STATUS

if TYPE_CHECKING:
    from draftgate.pytest_plugin.capturing import Capturing
    from draftgate.pytest_plugin.suite import Suite
    from draftgate.run.outcome import GateOutcome
    from draftgate.testing import BothPaths, RecordedTurn
    from traces.cases.case import CaseScenario

SUITE = pytest.StashKey["Suite"]()
SAID = pytest.StashKey[bool]()
PARAMETRIZED = ("recorded_turn", "case_scenario")
FIXTURES = frozenset({"draftgate_run", "both_paths", "capture", *PARAMETRIZED})


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    refuse_unknown_keys(config)
    names = ", ".join(option.name for option in OPTIONS)
    text = f"{MARKER}({names}): what this test uses, in place of the ini keys draftgate_…"
    config.addinivalue_line("markers", text)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Tests that use the fixtures are found by ``-m draftgate``, marked or not."""
    if FIXTURES.intersection(getattr(item, "fixturenames", ())):
        item.add_marker(MARKER)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test for each recorded turn, and for each scenario of a case file."""
    for name in PARAMETRIZED:
        if name in metafunc.fixturenames and _is_draftgate_fixture(metafunc, name):
            found = _suite(metafunc.config).parameters(name, metafunc.definition)
            metafunc.parametrize(name, found, indirect=True)


def _is_draftgate_fixture(metafunc: pytest.Metafunc, name: str) -> bool:
    """Not where the suite has a fixture of that name, or gives the values itself."""
    for marker in metafunc.definition.iter_markers("parametrize"):
        given = marker.args[0] if marker.args else marker.kwargs.get("argnames", "")
        if name in (given.replace(",", " ").split() if isinstance(given, str) else given):
            return False
    definitions = getattr(metafunc, "_arg2fixturedefs", {}).get(name) or ()
    return not definitions or definitions[-1].func.__module__ == __name__


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    undecided = call.excinfo is not None and call.excinfo.typename == "Inconclusive"
    marked = item.get_closest_marker(MARKER) is not None and SUITE in item.config.stash
    if not (marked or undecided):
        return report
    from draftgate.pytest_plugin.reporting import finish

    return finish(report, call, item)


def pytest_report_teststatus(
    report: pytest.CollectReport | pytest.TestReport,
) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    return STATUS if hasattr(report, REASON) else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if STATUS[0] in terminalreporter.stats:
        from draftgate.pytest_plugin.reporting import summarize

        summarize(terminalreporter)


@pytest.fixture
def recorded_turn(request: pytest.FixtureRequest) -> "RecordedTurn":
    """One recorded turn: its name, its ids, and the chat request that asks for it again.

    A test that takes it becomes one test per turn of the sessions or journals that are named.
    """
    turn: RecordedTurn = request.param
    return turn


@pytest.fixture
def case_scenario(request: pytest.FixtureRequest) -> "CaseScenario":
    """One scenario of a vendored case file; a test that takes it becomes one per scenario."""
    scenario: CaseScenario = request.param
    return scenario


@pytest.fixture
def both_paths(
    request: pytest.FixtureRequest,
    recorded_turn: "RecordedTurn",
    tmp_path_factory: pytest.TempPathFactory,
) -> "BothPaths":
    """The recorded turn as both paths answered it: stored, sent now, or replayed by the gate."""
    shared = _shared(request.config, tmp_path_factory)
    return _suite(request.config).both(request.node, recorded_turn, shared)


@pytest.fixture
def capture(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> "Capturing":
    """Asks one path: ``capture("List the files.", path="candidate")`` gives its `Answer`."""
    shared = _shared(request.config, tmp_path_factory)
    return _suite(request.config).capturing(request.node, shared)


@pytest.fixture
def draftgate_run(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> "GateOutcome":
    """The verdict of a whole run: of the gate, made once, or of the journals that are named."""
    shared = _shared(request.config, tmp_path_factory)
    return _suite(request.config).outcome(request.node, shared)


def _suite(config: pytest.Config) -> "Suite":
    """Made for the first test that needs it. Where another package takes the place of a part of
    draftgate, nothing else of draftgate is imported, and the message says that."""
    if SUITE not in config.stash:
        from draftgate.machine.shadowing import FIX, shadows

        if found := [str(shadow) for shadow in shadows()]:
            said, config.stash[SAID] = config.stash.get(SAID, False), True
            full = f": {'; '.join(found)}\nfix: {FIX}"
            text = "draftgate cannot run here" + (", as said above" if said else full)
            raise pytest.Collector.CollectError(text)
        from draftgate.pytest_plugin.suite import Suite

        config.stash[SUITE] = Suite(is_strict(config))
    return config.stash[SUITE]


def _shared(config: pytest.Config, factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this test run share: under xdist each has one inside it."""
    own = factory.getbasetemp()
    return (own.parent if hasattr(config, "workerinput") else own) / "draftgate"
