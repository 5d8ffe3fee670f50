"""`docs/findings.md` has one entry per code, in report order, each of them whole."""

import re
from pathlib import Path

from checks.findings import CODES

PARTS = ("Computed", "Example", "Known reports", "What to do")


def entries(root: Path) -> dict[str, str]:
    page = (root / "docs" / "findings.md").read_text(encoding="utf-8")
    parts = re.split(r"^### `([A-Z0-9_]+)`$", page, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_code_is_documented_in_report_order(root: Path) -> None:
    assert list(entries(root)) == list(CODES)


def test_every_entry_is_whole(root: Path) -> None:
    for code, text in entries(root).items():
        for part in PARTS:
            assert re.search(rf"^- \*\*{part}:\*\* \S", text, re.MULTILINE), (code, part)
        assert CODES[code].meaning[1:] in text, code
        if CODES[code].severity != "error":
            assert f"Severity: {CODES[code].severity}" in text, code


def test_reports_are_written_so_that_they_can_be_found(root: Path) -> None:
    for code, text in entries(root).items():
        reports = re.search(r"\*\*Known reports:\*\* (.*)", text)
        assert reports is not None
        for report in reports[1].split(", ") if not reports[1].startswith("none") else []:
            assert re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", report), (code, report)
