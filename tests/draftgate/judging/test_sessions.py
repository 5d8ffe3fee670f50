"""Sessions that come one by one from their journals are judged as those that are all in memory."""

import errno
import gc
import json
import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from checks.acceptance.drafting import Drafting
from checks.greedy.turn import GreedyTurn
from checks.policy import Policy
from checks.run.judge import judge_all
from checks.run.read import HeldSessions, ReadSession, Sessions
from checks.sessions.evidence import Answers, RunFacts, ServerFacts, sessions_of
from draftgate.judging.sessions import FiledSessions
from draftgate.judging.spool import Spool
from draftgate.run.folder import add_journal
from tests.checks.run.test_fold import as_bytes
from traces.errors import OutputError
from traces.journal.exchange import Evidence, Exchange, TurnId
from traces.journal.index import JournalIndex
from traces.journal.journal import JournalWriter, journal_path
from traces.journal.path_facts import PathFacts
from traces.journal.served_parsers import ServedParsers
from traces.wire.capture import Capture, CaptureKey

ARMS = (("candidate", "main"), ("baseline", "main"), ("baseline", "aa"))
TURNS, TOKENS = 2, 120
FACTS = RunFacts(
    run="r",
    policy=Policy(),
    seed=0,
    concurrency=3,
    servers={path: [PathFacts(path, "http://x")] for path in ("candidate", "baseline")},
    server=ServerFacts(),
    drafting=Drafting("eagle3", 3),
    served={path: ServedParsers() for path in ("candidate", "baseline")},
)


def event(chunk: dict[str, Any]) -> str:
    return f"data: {json.dumps(chunk)}\n\n"


def entry(token: int, logprob: float) -> dict[str, Any]:
    listed = [(token, logprob), (token + 1, logprob - 0.7)]
    return {
        "token": f"token_id:{token}",
        "logprob": logprob,
        "bytes": list(f"w{token} ".encode()),
        "top_logprobs": [{"token": f"token_id:{i}", "logprob": x} for i, x in listed],
    }


def captured(session: int, turn: int, path: str, arm: str) -> Capture:
    """An answer of random words; every third session's candidate says another one in the middle."""
    rng = np.random.default_rng((session, turn))
    ids = rng.integers(10, 500, TOKENS)
    if path == "candidate" and session % 3 == 1:
        ids[TOKENS // 2] += 1
    events = [
        event(
            {
                "choices": [
                    {
                        "index": 0,
                        "delta": {"content": f"w{token} "},
                        "token_ids": [token],
                        "logprobs": {"content": [entry(token, -0.25)]},
                        "finish_reason": "stop" if place == TOKENS - 1 else None,
                    }
                ],
                "prompt_token_ids": [1, session, turn] if place == 0 else None,
            }
        )
        for place, token in enumerate(ids.tolist())
    ]
    usage = {"prompt_tokens": 3, "completion_tokens": TOKENS}
    events += [event({"choices": [], "usage": usage}), "data: [DONE]\n\n"]
    return Capture(
        CaptureKey("r", path, arm, f"s{session}", f"t{turn}"),
        {"messages": [{"role": "user", "content": "go"}], "temperature": 0, "max_tokens": 500},
        200,
        1e9 + 100.0 * turn + session // 3,  # three at a time
        tuple((4.0 * place, text) for place, text in enumerate(events)),
        "done",
    )


def journals(folder: Path, sessions: int) -> list[Path]:
    """The journals of a run, turns in the order of their ends: not that of their sessions."""
    files = []
    for path, arm in ARMS:
        files.append(journal_path(folder, path, arm))
        with JournalWriter(files[-1]) as writer:
            for turn in range(TURNS):
                for session in reversed(range(sessions)):
                    writer.add(captured(session, turn, path, arm))
    return files


def filed(files: list[Path], spool: Spool) -> FiledSessions:
    index = JournalIndex()
    for file in files:
        index.add(file)
    return FiledSessions(index, Answers(), FACTS, spool)


@pytest.fixture
def spool() -> Iterator[Spool]:
    with closing(Spool()) as made:
        yield made


def test_from_journals_or_from_memory_the_judgement_has_the_same_bytes(
    tmp_path: Path, spool: Spool
) -> None:
    files = journals(tmp_path, 12)
    evidence = Evidence()
    for file in files:
        add_journal(evidence, file)
    held = HeldSessions(sessions_of(evidence, Answers(), FACTS), FACTS)
    whole = judge_all(held, FACTS, Answers()).judgement
    assert whole.turns == 12 * TURNS
    assert {turn.fork is not None for turn in whole.parts.greedy.turns} == {True, False}
    states = {control.kind: control.state for control in whole.verdict.controls}
    assert states["run of a neighbor's tokens"] == "caught", "neighbors in flight are known"
    judged = judge_all(filed(files, spool), FACTS, Answers()).judgement
    assert as_bytes(judged) == as_bytes(whole)


class Counting:
    """Sessions that count, each time one is handed out, how many exchanges are in memory."""

    def __init__(self, sessions: Sessions) -> None:
        self.sessions = sessions
        self.most = 0

    def __iter__(self) -> Iterator[ReadSession]:
        for one in self.sessions:
            live = sum(isinstance(found, Exchange) for found in gc.get_objects())
            self.most = max(self.most, live)
            yield one

    def session(self, name: str) -> ReadSession:
        return self.sessions.session(name)

    def turn(self, turn: TurnId) -> GreedyTurn:
        return self.sessions.turn(turn)


def most_in_memory(folder: Path, sessions: int, spool: Spool) -> int:
    folder.mkdir()
    counting = Counting(filed(journals(folder, sessions), spool))
    judge_all(counting, FACTS, Answers())
    return counting.most


def test_at_most_two_sessions_are_in_memory_however_many_there_are(
    tmp_path: Path, spool: Spool
) -> None:
    """The one that was just judged is given up when the next one is there."""
    gc.collect()
    before = sum(isinstance(found, Exchange) for found in gc.get_objects())
    few, many = (most_in_memory(tmp_path / str(n), n, spool) - before for n in (4, 16))
    assert few == many <= 2 * TURNS * len(ARMS)


class Measuring(Counting):
    """Sessions that note, each time one is handed out, how many bytes are in use."""

    def __iter__(self) -> Iterator[ReadSession]:
        for one in self.sessions:
            self.most = max(self.most, tracemalloc.get_traced_memory()[0])
            yield one


def bytes_in_use(folder: Path, sessions: int) -> int:
    folder.mkdir()
    files = journals(folder, sessions)
    with closing(Spool()) as spool:
        tracemalloc.start()
        measuring = Measuring(filed(files, spool))
        judge_all(measuring, FACTS, Answers())
        tracemalloc.stop()
    return measuring.most


def test_a_further_session_adds_a_small_part_of_what_it_holds(tmp_path: Path) -> None:
    """Kept of it are sums, regrets, places and times, and no answer."""
    files = journals(tmp_path, 12)
    bytes_in_use(tmp_path / "first", 2)  # what is loaded once: tables of markers, patterns
    evidence = Evidence()
    tracemalloc.start()
    for file in files:
        add_journal(evidence, file)
    held = HeldSessions(sessions_of(evidence, Answers(), FACTS), FACTS)
    of_one = tracemalloc.get_traced_memory()[0] / len(list(held))
    tracemalloc.stop()
    few, many = bytes_in_use(tmp_path / "few", 6), bytes_in_use(tmp_path / "many", 18)
    assert (many - few) / 12 < of_one / 4


def test_what_is_kept_comes_back(spool: Spool) -> None:
    first = spool.add({"a": np.arange(3), "b": ("x", None)})
    text = spool.add_text("häß \ud800")
    second = spool.add([1, 2])
    found = spool.value(first)
    assert (found["a"].tolist(), found["b"]) == ([0, 1, 2], ("x", None))
    assert (spool.text(text), spool.value(second)) == ("häß \ud800", [1, 2])


def test_a_full_disk_is_an_error_with_a_fix(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def write(self, data: memoryview) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(spool, "_file", Full())
    with pytest.raises(OutputError, match="cannot be written") as error:
        spool.add([1])
    assert "free some space" in error.value.fix
    monkeypatch.undo()
