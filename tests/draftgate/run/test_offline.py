"""Judging journals: what was named is what is judged, wherever it lies."""

import json
import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from checks.run.answered import lone_arm_notes
from draftgate.cli import run
from draftgate.progress import SilentReporter
from draftgate.run.gate import run_gate
from draftgate.run.offline import NO_FACTS, judge_journals
from tests.support.paper.gate import K, paper_config, paper_paths
from tests.support.paper.server import Faults
from tests.support.paper.sessions import leave_a_part_out, write_sessions
from tests.support.paper.stream import Stream
from traces.errors import InputError
from traces.journal.exchange import Evidence
from traces.journal.journal import JournalReader, JournalWriter


def lost_calls(stream: Stream, request: dict) -> None:
    stream.calls = []


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """(the folder of a run whose candidate loses its calls, that of a sound run)."""
    home = tmp_path_factory.mktemp("runs")
    found = []
    for fault in (Faults(drafts=K, spoil=lost_calls), Faults(drafts=K)):
        with paper_paths(fault) as servers:
            found.append(run_gate(paper_config(home, servers), SilentReporter()).folder)
    return found[0], found[1]


@pytest.fixture
def folders(runs: tuple[Path, Path], tmp_path: Path) -> tuple[Path, Path]:
    """Copies of both, to be spoilt. Names that sort either way: the outcome must not hang on them.

    (the run that loses its calls, the sound one)
    """
    bad, good = runs
    return shutil.copytree(bad, tmp_path / "a"), shutil.copytree(good, tmp_path / "b")


def named(candidate: Path, baseline: Path) -> list[Path]:
    return [candidate / "candidate-main-0.jsonl.zst", baseline / "baseline-main-0.jsonl.zst"]


@pytest.mark.parametrize("swap", [False, True])
def test_the_named_candidate_is_judged_and_not_the_one_beside_the_baseline(
    folders: tuple[Path, Path], swap: bool
) -> None:
    bad, good = folders
    files = named(bad, good)
    assert "TOOL_CALL_LOST" in judge_journals(files[::-1] if swap else files, None).codes
    assert "TOOL_CALL_LOST" not in judge_journals(named(good, bad), None).codes


def test_scores_are_found_beside_any_named_journal(folders: tuple[Path, Path]) -> None:
    _, good = folders
    states = [
        {b.name: b.state for b in judge_journals(files, None).verdict.bounds}
        for files in (named(good, good), named(good, good)[::-1])
    ]
    assert states[0] == states[1]
    assert states[0]["scored_share"] == "pass"


def test_a_plain_arm_that_one_path_lacks_does_not_pass(folders: tuple[Path, Path]) -> None:
    _, good = folders
    (good / "candidate-plain-0.jsonl.zst").unlink()
    bounds = {b.name: b for b in judge_journals(named(good, good), None).verdict.bounds}
    assert bounds["answered_turns"].state == "inconclusive"
    assert "arm plain" in bounds["answered_turns"].message


def respelled(journal: Path, wrong: dict[int, dict[str, str]]) -> None:
    """Write the journal again, with these words in the keys of these records (counted from 1)."""
    captures = list(JournalReader(journal))
    journal.unlink()
    with JournalWriter(journal) as writer:
        for number, capture in enumerate(captures, start=1):
            key = replace(capture.key, **wrong.get(number, {}))
            writer.add(replace(capture, key=key))


def test_records_of_no_path_are_counted_and_reported_with_their_place(
    folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    _, good = folders
    files = named(good, good)
    assert judge_journals(files, None).counts["records_of_no_path"] == 0
    respelled(files[0], {2: {"path": "candidat"}, 5: {"path": "\x1b[2J"}})
    plain = good / "baseline-plain-0.jsonl.zst"
    respelled(plain, {1: {"path": ""}})
    outcome = judge_journals(files, None)
    assert outcome.counts["records_of_no_path"] == 3
    effect = ", so nothing judges it"
    assert [note for note in outcome.notes if "record " in note] == [
        f"{plain.resolve()}, record 1: path '' is neither baseline nor candidate{effect}",
        f"{files[0].resolve()}, record 2, and 1 more of them: path 'candidat' is neither "
        f"baseline nor candidate{effect}",
    ]
    # The turns whose answers they were are unanswered: such a run does not pass.
    assert outcome.verdict.verdict != "pass"
    outcome.print_summary()
    assert "record 2, and 1 more of them" in " ".join(capsys.readouterr().out.split())


def test_an_arm_of_one_path_alone_is_reported() -> None:
    """The baseline's own repeats, and turns that were sent again, are of one path by design."""
    exchange: Any = object()
    of = {("s", "t"): exchange}
    own = ("main", "plain", "rerun-1", "plain-rerun-2", "c16-rerun-alone")
    evidence = Evidence({("candidate", arm): of for arm in (*own, "c16", "c32")})
    evidence.arms["baseline", "aa"] = evidence.arms["baseline", "c16-aa"] = of
    assert list(lone_arm_notes(evidence.arms, {"c16"})) == [
        "arm 'c32': 1 turns of the candidate, which the other path lacks, so nothing judges them"
    ]


def test_notes_of_journals_hold_it(folders: tuple[Path, Path]) -> None:
    _, good = folders
    journal = Path(shutil.copy(named(good, good)[0], good / "candidate-c16-0.jsonl.zst"))
    respelled(journal, {n: {"arm": "c16"} for n in range(1, 1000)})
    notes = judge_journals(named(good, good), None).notes
    assert len([note for note in notes if note.startswith("arm 'c16': ")]) == 1


def test_the_order_in_which_answers_ended_changes_nothing(folders: tuple[Path, Path]) -> None:
    bad, _ = folders
    before = judge_journals(named(bad, bad), None).as_json()
    for place, journal in enumerate(sorted(bad.glob("*-*-0.jsonl.zst"))):
        if journal.name.startswith("scores"):
            continue
        captures = list(JournalReader(journal))
        random.Random(place).shuffle(captures)
        journal.unlink()
        with JournalWriter(journal) as writer:
            for capture in captures:
                writer.add(capture)
    assert judge_journals(named(bad, bad), None).as_json() == before


def test_a_folder_is_its_journals(
    folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    bad, good = folders
    for folder, code in ((bad, 1), (good, 0)):
        named_both = judge_journals(named(folder, folder), None)
        assert judge_journals([folder], None).as_json() == named_both.as_json()
        assert run(["check", str(folder), "--json"]) == named_both.exit_code == code
        printed = json.loads(capsys.readouterr().out)
        assert printed == json.loads(json.dumps(named_both.as_json()))


def test_a_folder_without_journals_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no journal there"):
        judge_journals([tmp_path], None)


def test_fidelity_is_that_of_the_gate_and_where_it_is_not_on_file_the_report_says_so(
    tmp_path: Path,
) -> None:
    leave_a_part_out(write_sessions(tmp_path / "sessions.jsonl", 6, 4))
    with paper_paths() as servers:
        gated = run_gate(paper_config(tmp_path, servers), SilentReporter())
    assert gated.folder is not None
    files = named(gated.folder, gated.folder)
    checked = judge_journals(files, None)
    shown = [
        {key: outcome.as_json()[key] for key in ("verdict", "reasons", "bounds", "faithful")}
        for outcome in (gated, checked)
    ]
    assert json.dumps(shown[0]) == json.dumps(shown[1])
    alone = {bound.name: bound.value for bound in checked.faithful}
    assert alone["turns"] == 18  # 6 of 24 are lossy
    plan = gated.folder / "run.json"
    plan.write_text(json.dumps({**json.loads(plan.read_text()), "facts": []}))
    without = judge_journals(files, None)
    assert without.faithful == ()
    assert NO_FACTS in without.notes
    assert NO_FACTS not in checked.notes
