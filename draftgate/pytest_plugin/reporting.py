"""How a test ends: inconclusive is an outcome of its own, and no secret is printed."""

from collections.abc import Iterable, Iterator

import pytest

from draftgate.pytest_plugin.settings import settings_of_item
from draftgate.pytest_plugin.status import REASON, STATUS
from draftgate.testing.inconclusive import Inconclusive
from draftgate.testing.masking import Mask, texts_in


class InconclusiveWarning(UserWarning):
    """A test could neither pass nor fail, and the settings say to warn."""


def finish(
    report: pytest.TestReport, call: pytest.CallInfo[None], item: pytest.Item
) -> pytest.TestReport:
    """The report of a test of draftgate's, or of any test that raised `Inconclusive`."""
    if call.excinfo is not None and isinstance(call.excinfo.value, Inconclusive):
        _end_inconclusive(report, str(call.excinfo.value), item)
    _mask(report, item)
    return report


def _end_inconclusive(report: pytest.TestReport, reason: str, item: pytest.Item) -> None:
    """Make `report` say that its test is inconclusive, in the way that the settings ask for."""
    way = settings_of_item(item).inconclusive
    if way == "warn":
        try:
            item.warn(InconclusiveWarning(f"{item.nodeid}: {reason}"))
        except Warning:  # the suite's filters make errors of warnings
            way = "fail"
    if way == "skip":
        path, line = item.reportinfo()[:2]
        report.outcome = "skipped"
        report.longrepr = (str(path), (line or 0) + 1, f"inconclusive: {reason}")
        return
    setattr(report, REASON, reason)
    report.outcome = "failed" if way == "fail" else "passed"
    report.longrepr = f"inconclusive: {reason}"


def _mask(report: pytest.TestReport, item: pytest.Item) -> None:
    """Take the keys out of a failure and of what the test printed: those of its recorded texts,
    whole or in part, and any other that is known by its shape."""
    failed = report.longrepr is not None and not isinstance(report.longrepr, tuple)
    if not failed and not report.sections:
        return
    mask = Mask(*_recorded(item))
    if failed:
        shown = str(report.longrepr)
        clean = mask.keys(shown)
        if clean != shown:
            report.longrepr = clean
    report.sections = [(name, mask.keys(text)) for name, text in report.sections]


def _recorded(item: pytest.Item) -> Iterator[Iterable[str]]:
    """The recorded texts a test had in its hands."""
    for value in getattr(item, "funcargs", {}).values():
        if hasattr(value, "texts"):
            yield value.texts()
        elif hasattr(value, "request") and hasattr(value, "turn"):
            yield texts_in(value.request)


def summarize(terminal: pytest.TerminalReporter) -> None:
    """A line per inconclusive test, with what is missing."""
    found = terminal.stats.get(STATUS[0], [])
    if not found:
        return
    terminal.section("inconclusive: nothing wrong was seen, too little to say so", sep="=")
    for report in found:
        reason = str(getattr(report, REASON)).splitlines()
        terminal.line(f"{report.nodeid} - {reason[0]}")
        for line in reason[1:]:
            terminal.line(f"    {line}")
