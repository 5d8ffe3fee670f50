"""What the baseline is asked is the same from journals, session by session, as from memory."""

import gc
from pathlib import Path

from checks.greedy.judge import judge_greedy
from checks.sessions.evidence import Answers
from checks.sessions.turns import greedy_turns, scoring_requests
from draftgate.judging.captures import FiledCaptures, FiledTurns
from draftgate.judging.spool import Spool
from draftgate.run.folder import add_journal
from draftgate.run.questions import ask_main
from tests.draftgate.judging.test_sessions import FACTS, TURNS, journals
from tests.draftgate.judging.test_sessions import spool as spool
from traces.journal.arm import Arm
from traces.journal.exchange import Evidence, Exchange
from traces.journal.index import JournalIndex

MAIN_ARM = Arm("main", FACTS.concurrency)
SESSIONS = 12


def filed(files: list[Path], spool: Spool) -> FiledCaptures:
    index = JournalIndex()
    for file in files:
        index.add(file)
    return FiledCaptures(index, spool)


def held(files: list[Path]) -> Evidence:
    evidence = Evidence()
    for file in files:
        add_journal(evidence, file)
    return evidence.in_order()


def test_turns_come_in_order_and_are_those_in_memory(tmp_path: Path, spool: Spool) -> None:
    files = journals(tmp_path, SESSIONS)
    captures = filed(files, spool)
    turns = FiledTurns(captures, FACTS, MAIN_ARM, Answers())
    wanted = greedy_turns(
        held(files), Answers(), MAIN_ARM, processed_logprobs=FACTS.processed_logprobs
    )
    assert len(wanted) == SESSIONS * TURNS
    assert list(turns) == wanted, "from the journals"
    assert list(turns) == wanted, "from what was kept of them"
    assert [turns.turn((one.session, one.turn)) for one in wanted] == wanted


def test_the_baseline_is_asked_the_same(tmp_path: Path, spool: Spool) -> None:
    files = journals(tmp_path, SESSIONS)
    captures = filed(files, spool)
    turns = greedy_turns(
        held(files), Answers(), MAIN_ARM, processed_logprobs=FACTS.processed_logprobs
    )
    named = {(turn.session, turn.turn): turn for turn in turns}
    from_memory = scoring_requests(turns, named.__getitem__, FACTS.seed)
    asked = FiledTurns(captures, FACTS, MAIN_ARM, Answers())
    assert scoring_requests(asked, asked.turn, FACTS.seed) == from_memory
    judged = judge_greedy(turns, FACTS.policy, FACTS.seed)
    found = ask_main(captures, FACTS, Answers())
    assert judged.turns, "turns were judged"
    assert set(found.diverged) == {FACTS.main}


def test_one_session_is_in_memory_at_a_time(tmp_path: Path, spool: Spool) -> None:
    captures = filed(journals(tmp_path, SESSIONS), spool)
    arms = (("candidate", "main"), ("baseline", "main"))
    most = 0
    for _ in range(2):
        for _ in captures.of(*arms):
            most = max(most, sum(isinstance(one, Exchange) for one in gc.get_objects()))
    assert most <= 2 * len(arms) * TURNS
