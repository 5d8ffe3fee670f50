"""`docs/pytest.md` is run, top to bottom: its files are written, its commands give its output."""

import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

import reports.formats.terminal  # noqa: F401  (so that suites run inside this process find them)
from draftgate.progress import SilentReporter
from draftgate.run.gate import run_gate
from tests.support.paper.gate import K, paper_config, paper_paths
from tests.support.paper.server import Faults
from tests.support.paper.sessions import write_sessions
from tests.support.paper.spoiled import torn_arguments

PART = re.compile(r"(?:`([\w./-]+)`:\n\n)?```(\w+)\n(.*?)```", re.S)


def test_the_page_is_true(
    root: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (root / "docs" / "pytest.md").read_text(encoding="utf-8")
    home = pytester.path
    (home / "recordings").mkdir()
    for name, fault in (
        ("run", Faults(drafts=K)),
        ("run-with-a-fault", Faults(drafts=K, spoil=torn_arguments)),
    ):
        place = pytester.mkdir(f"made-{name}")
        write_sessions(place / "sessions.jsonl", 3, 2)
        with paper_paths(fault) as servers:
            outcome = run_gate(paper_config(place, servers), SilentReporter())
        shutil.move(outcome.folder, home / name)
    shutil.copy(home / "made-run" / "sessions.jsonl", home / "recordings" / "chat.jsonl")
    asked = 0
    with paper_paths() as (_, candidate):
        for file, language, text in PART.findall(page):
            if language == "console":
                command, *shown = text.replace("http://candidate:8000", candidate.url).splitlines()
                program, *arguments = shlex.split(command.removeprefix("$ "))
                assert program == "pytest"
                result = pytester.runpytest(*arguments)
                wanted = [re.sub("…|[?]|\\[|\\]", _glob, line) for line in shown]
                result.stdout.fnmatch_lines([f"*{line}*" for line in wanted if line != "*"])
                asked += 1
            else:
                target = home / (file or "pytest.ini")
                target.parent.mkdir(exist_ok=True)
                target.write_text(text)
                # A module of this suite may bear the same name; pytest would take it for this one.
                monkeypatch.delitem(sys.modules, target.stem, raising=False)
    assert asked == 8


def _glob(match: re.Match[str]) -> str:
    return {"…": "*", "?": "[?]", "[": "[[]", "]": "[]]"}[match[0]]
