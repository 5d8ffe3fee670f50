"""Many A/A gates: what each of them replays, and how their rows add up."""

import random
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

pytest.importorskip("torch", reason="the servers need it")

from draftgate.config.file import read_config
from evidence.live import aa_runs, beginnings, twins
from evidence.live.results import Result
from traces.importing.importer import import_files
from traces.session.session import Session


@pytest.fixture(scope="module")
def samples() -> list[Session]:
    return [s for source in import_files(beginnings.SAMPLES) for s in source.sessions]


def test_a_run_replays_some_turns_of_enough_sessions(samples: list[Session]) -> None:
    known = {session.session_id: session for session in samples}
    for number in range(5):
        drawn = aa_runs.drawn(samples, random.Random(f"1/{number}"))
        assert aa_runs.FEWEST_SESSIONS <= len({s.session_id for s in drawn}) == len(drawn)
        for part in drawn:
            whole = known[part.session_id]
            chosen = list(part.replayable_turns())
            assert len(chosen) == min(aa_runs.TURNS, len(list(whole.replayable_turns())))
            for turn in chosen:
                assert part.prefix(turn) == whole.prefix(whole.turn(turn.turn_id))


def test_turns_with_calls_come_first(samples: list[Session]) -> None:
    known = {session.session_id: session for session in samples}
    for part in aa_runs.drawn(samples, random.Random(3)):
        whole = known[part.session_id]
        early = list(whole.replayable_turns())[: aa_runs.EARLY]
        calls = {
            t.turn_id for t in early if (out := whole.output(t)) is not None and out.tool_calls
        }
        chosen = {turn.turn_id for turn in part.replayable_turns()}
        assert chosen <= {turn.turn_id for turn in early}
        assert len(chosen & calls) == min(len(chosen), len(calls))


def test_runs_differ_and_repeat_by_seed(samples: list[Session]) -> None:
    def turns(seed: str) -> list[tuple[str, str]]:
        drawn = aa_runs.drawn(samples, random.Random(seed))
        return [(s.session_id, t.turn_id) for s in drawn for t in s.replayable_turns()]

    assert turns("1/0") == turns("1/0")
    assert len({tuple(turns(f"1/{number}")) for number in range(10)}) == 10


def test_a_gate_is_an_aa_run_in_which_any_difference_of_the_servers_counts() -> None:
    config = twins.twin_config(
        replace(aa_runs.TWINS, concurrency=4), ["http://a", "http://b"], twins.HOME / "x.jsonl"
    )
    assert (config.run.kind, config.run.concurrency) == ("aa", 4)
    assert config.run.sessions == (str(twins.HOME / "x.jsonl"),)
    assert config.policy.severity == {}
    assert config.policy.call_margin == read_config(twins.PAIR).policy.call_margin


def test_rows_add_up_what_runs_say() -> None:
    quiet = Result("x", "r", "inconclusive", (), (), ("tool_success",), 100, 1, 1, 0, 0.1, 2, None)
    loud = replace(quiet, verdict="fail", codes=("CALLS_CHANGED x 1",), broken=("call_agreement",))
    runs = [
        aa_runs.Run(1, 0, 4, quiet, 10, 0, 1),
        aa_runs.Run(1, 5, 4, quiet, 20, 1, 0),
        aa_runs.Run(1, 2, 8, loud, 5, 4, 0),
    ]
    one, eight, whole = aa_runs.rows(runs)
    assert one == (
        "4", 2, "2 `inconclusive`", "none", "none", "200", 2, 4, "30", 1, 1
    )  # fmt: skip
    assert eight[:5] == ("8", 1, "1 `fail`", "`CALLS_CHANGED` 1", "`call_agreement` 1")
    assert whole[:3] == ("all", 3, "1 `fail`, 2 `inconclusive`")
    assert len(one) == len(aa_runs.HEAD)


def test_finished_runs_are_kept_and_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    quiet = Result("x", "r", "inconclusive", (), (), ("tool_success",), 100, 1, 1, 0, None, 2, None)
    made: list[list[int]] = []

    def make(numbers: list[int], seed: int, file: Path) -> None:
        made.append(list(numbers))
        with file.open("ab") as out:
            for number in numbers:
                run = aa_runs.Run(seed, number, aa_runs.concurrency_of(number), quiet, 1, 0, 0)
                out.write(msgspec.json.encode(run) + b"\n")

    monkeypatch.setattr(aa_runs, "HOME", tmp_path)
    monkeypatch.setattr(aa_runs, "_make", make)
    for runs, seed in ((3, 1), (5, 1), (5, 1), (2, 2)):
        monkeypatch.setattr("sys.argv", ["aa_runs", "--runs", str(runs), "--seed", str(seed)])
        assert aa_runs.main() == 0
    assert made == [[0, 1, 2], [3, 4], [0, 1]]
    assert "| all | 5 |" in capsys.readouterr().out
