"""A run is judged session by session: any partition of the sessions, in any order, gives the same.

The made-up run holds what depends on other sessions: a noise floor, near ties and a hard
divergence that re-runs show again, neighbors in flight, stalls, a block size that no server says,
and a further arm beside the main one.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from msgspec import structs

from checks.acceptance.drafting import Drafting
from checks.acceptance.profile_sums import ProfileSums
from checks.controls.swap import SwapPlan, plan_far_swap, plan_frequent_swaps
from checks.controls.swap_spots import Survey
from checks.greedy.bounds import LADDER
from checks.greedy.judge import judge_greedy
from checks.policy import Policy
from checks.run.bounds import FAITHFUL
from checks.run.floor import RunMeasures, measure_session, run_floor
from checks.run.judge import RunJudgement, judge_all, judge_run
from checks.run.read import HeldSessions, read_session
from checks.run.session import judge_session
from checks.run.sums import RunSums
from checks.sessions.evidence import Answers, RunFacts, ServerFacts, sessions_of
from checks.sessions.turns import greedy_turns, scoring_requests
from tests.support.synthetic_model import SyntheticModel, gaussian
from traces.journal.arm import MAIN, PLAIN, Arm
from traces.journal.exchange import ArmKey, Evidence, Exchange, TurnId
from traces.journal.path_facts import PathFacts
from traces.journal.score import Score
from traces.journal.served_parsers import ServedParsers
from traces.session.facts import SessionFacts, TurnFacts
from traces.wire.capture import CaptureKey
from traces.wire.response import Response, Speculation, Usage

MODEL = SyntheticModel(
    noise={
        (arm, shape): gaussian(0.05)
        for arm in ("baseline", "repeat", "candidate", "c8", "wild")
        for shape in ("decode", "prefill")
    }
    | {("wild", "decode"): gaussian(3.0)}
)
SESSIONS, TURNS, LENGTH = 8, 2, 25
C8 = Arm("c8", 8)
FACTS = RunFacts(
    run="r",
    policy=Policy(),
    seed=0,
    concurrency=2,
    servers={path: [PathFacts(path, "http://x")] for path in ("candidate", "baseline")},
    server=ServerFacts(),
    drafting=Drafting("eagle3", 3),
    served={path: ServedParsers() for path in ("candidate", "baseline")},
    arms=(C8,),
    sessions=tuple(
        SessionFacts(
            f"s{s}",
            "made-up",
            "file",
            None,
            f"template {s % 2}",
            {"team": "blue"},
            tuple(TurnFacts(f"t{t}", t, "main", "exact", None) for t in range(TURNS)),
        )
        for s in range(SESSIONS)
    ),
    limits={(f"s{s}", f"t{t}"): LENGTH for s in range(SESSIONS) for t in range(TURNS)},
)
REQUEST = {
    "messages": [{"role": "user", "content": "go"}],
    "max_tokens": 500,
    "stream": True,
    "stream_options": {"include_usage": True},
}


def exchange(key: ArmKey, turn: TurnId, response: Response, temperature: float) -> Exchange:
    place = int(turn[0][1:])
    return Exchange(
        key=CaptureKey("r", *key, *turn),
        request={**REQUEST, "temperature": temperature},
        response=response,
        sent_at=100.0 * int(turn[1][1:]) + place / 4,
        ended="done",
        ended_ms=400.0,
        bytes=1,
        error=None,
    )


def drafted(response: Response) -> Response:
    """As a drafter of three tokens gives it: one prefill, then steps of three tokens."""
    steps = (LENGTH - 1) // 3
    return replace(response, speculation=Speculation((2,) * steps, (3,) * steps, {}))


def stalled(response: Response) -> Response:
    chunks = [
        structs.replace(c, at_ms=c.at_ms + 9000.0 * (n > 9)) for n, c in enumerate(response.chunks)
    ]
    return replace(response, chunks=tuple(chunks), tokens=None, prompt_token_ids=None)


def captured(session: int, number: int) -> Iterator[tuple[ArmKey, Response]]:
    """The answers to one turn, by path and arm."""
    prompt = (session + 1, number + 1)
    wild = (session, number) == (3, 1)
    baseline = MODEL.stream(prompt, LENGTH, "baseline")
    usage = Usage(64, LENGTH, 16 * session)
    candidate = drafted(MODEL.stream(prompt, LENGTH, "wild" if wild else "candidate"))
    yield ("candidate", MAIN), replace(candidate, usage=usage)
    yield ("baseline", MAIN), replace(baseline, usage=usage)
    yield ("baseline", "aa"), MODEL.stream(prompt, LENGTH, "repeat")
    yield ("candidate", "c8"), drafted(MODEL.stream(prompt, LENGTH, "c8"))
    yield ("baseline", "c8"), baseline
    yield ("baseline", "c8-aa"), MODEL.stream(prompt, LENGTH, "repeat")
    if wild:
        yield from ((("candidate", f"rerun-{n}"), candidate) for n in (1, 2))
    if session % 2:
        late = stalled(candidate)
        yield ("baseline", PLAIN), replace(late, chunks=baseline.chunks, speculation=None)
        yield ("candidate", PLAIN), late
        yield ("candidate", "plain-rerun-1"), replace(late, chunks=baseline.chunks)


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    found = Evidence()
    for s in range(SESSIONS):
        for t in range(TURNS):
            turn = (f"s{s}", f"t{t}")
            for key, response in captured(s, t):
                temperature = 0.7 if turn == ("s6", "t0") else 0.0
                of_arm = found.arms.setdefault(key, {})
                of_arm[turn] = exchange(key, turn, response, temperature)
    return found


def turns_of(evidence: Evidence, answers: Answers, arm: Arm = FACTS.main) -> list[Any]:
    return greedy_turns(evidence, answers, arm, processed_logprobs=False)


@pytest.fixture(scope="module")
def asked(evidence: Evidence) -> tuple[Answers, tuple[SwapPlan, ...]]:
    """What the baseline scores, the planted tokens among it."""
    scores: dict[str, Score] = {}
    for arm in (FACTS.main, C8):
        bare = turns_of(evidence, Answers(), arm)
        named = {(turn.session, turn.turn): turn for turn in bare}
        requests = scoring_requests(bare, named.__getitem__, seed=0)
        scores |= {request.digest: MODEL.score(request) for request in requests}
    turns = turns_of(evidence, Answers(scores))
    judged = judge_greedy(turns, FACTS.policy, 0)
    survey = Survey.of(turns, judged.turns)
    plans = (plan_far_swap(survey, judged), plan_frequent_swaps(survey, judged, 0))
    planted = [request for plan in plans for request in plan.to_score]
    return Answers(scores | {r.digest: MODEL.score(r) for r in planted}), plans


@pytest.fixture(scope="module")
def whole(evidence: Evidence, asked: tuple[Answers, tuple[SwapPlan, ...]]) -> RunJudgement:
    answers, plans = asked
    facts = replace(FACTS, swaps=plans)
    return judge_all(HeldSessions(sessions_of(evidence, answers, facts), facts), facts).judgement


def plain(value: Any) -> Any:
    """The value as JSON holds it, every number in full; nothing is sorted or left out."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, ProfileSums):
        return [[list(key), plain(sums)] for key, sums in value.by_session().items()]
    if isinstance(value, Mapping):
        return [[plain(key), plain(inner)] for key, inner in value.items()]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, frozenset):
        return sorted(map(repr, value))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(inner) for inner in value]
    return value if isinstance(value, str | int | float | bool | None) else repr(value)


def as_bytes(judged: RunJudgement) -> bytes:
    return json.dumps(plain(judged)).encode()


def test_the_made_up_run_holds_what_crosses_sessions(whole: RunJudgement) -> None:
    """Else the property below would be about nothing."""
    codes = {finding.code for finding in whole.findings}
    assert {"GREEDY_DIVERGENCE", "NEAR_TIE_FORK", "CHUNK_STALL"} <= codes
    (diverged,) = [f for f in whole.findings if f.message.count("re-runs show it") and f.token]
    assert diverged.detail["recurs"] == "deterministic"
    assert whole.parts.acceptance.drafts == SESSIONS * TURNS * ((LENGTH - 1) // 3)
    assert [arm.arm.name for arm in whole.parts.further] == ["c8"]
    assert whole.slices.judged
    states = {control.kind: control.state for control in whole.verdict.controls}
    assert states["run of a neighbor's tokens"] == "caught"
    assert states["unchanged copy"] == "caught"


@settings(
    max_examples=8,
    phases=[Phase.generate],  # what is drawn is an order: a smaller one explains nothing
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_any_partition_in_any_order_gives_the_same_bytes(
    data: st.DataObject,
    evidence: Evidence,
    asked: tuple[Answers, tuple[SwapPlan, ...]],
    whole: RunJudgement,
) -> None:
    answers, plans = asked
    facts = replace(FACTS, swaps=plans)
    # Turns end in another order, and journals are read in another order.
    keys = data.draw(st.permutations(list(evidence.arms)))
    shuffled = Evidence(
        {k: dict(data.draw(st.permutations(list(evidence.arms[k].items())))) for k in keys}
    )
    sessions = data.draw(st.permutations(sessions_of(shuffled, answers, facts)))
    read = [read_session(one, facts) for one in sessions]
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=len(read), max_size=len(read)))
    measures = [RunMeasures({one.session: measure_session(one, facts)}) for one in read]
    floor = run_floor(reduce(add, parts_of(measures, sizes)), facts)
    sums = [RunSums({one.session: judge_session(one, floor, facts)}) for one in read]
    judged = judge_run(reduce(add, parts_of(sums[::-1], sizes)), floor, facts)
    same = as_bytes(judged) == as_bytes(whole)
    assert same, "the order of the sessions shows in the judgement"


def parts_of(items: Sequence[Any], sizes: Sequence[int]) -> list[Any]:
    """Neighbors added up first, so many at a time; then the parts, by the caller."""
    parts, start = [], 0
    for size in sizes:
        if items[start : start + size]:
            parts.append(reduce(add, items[start : start + size]))
        start += size
    return parts


def test_a_session_counts_once(
    evidence: Evidence, asked: tuple[Answers, tuple[SwapPlan, ...]]
) -> None:
    (first, *_) = sessions_of(evidence, asked[0], FACTS)
    one = RunMeasures({first.session: measure_session(read_session(first, FACTS), FACTS)})
    with pytest.raises(ValueError, match="measured twice: session s0"):
        one + one


def test_a_run_without_captures_is_judged_too() -> None:
    judged = judge_all(HeldSessions((), FACTS), FACTS).judgement
    assert judged.verdict.verdict == "invalid"
    assert "the candidate answered no turn" in judged.verdict.reasons


def of_fidelity(facts: RunFacts, *fidelity: str) -> RunFacts:
    """The same run of recordings whose first, second … turn has the given fidelity."""
    return replace(
        facts,
        sessions=tuple(
            replace(
                session,
                turns=tuple(replace(turn, fidelity=fidelity[turn.index]) for turn in session.turns),
            )
            for session in facts.sessions
        ),
    )


@pytest.mark.parametrize(
    ("fidelity", "alone", "note"),
    [
        (("exact", "lossy"), "inconclusive", "8 lossy): the bounds of the others stand beside"),
        (("after_compaction", "rebuilt"), "fail", "8 after_compaction): the bounds of the others"),
        (("exact", "rebuilt"), None, None),
        (("lossy", "after_compaction"), None, "8 after_compaction, 8 lossy): no bound is about"),
        (("unknown", "lossy"), None, "no bound is about"),
    ],
)
def test_the_bounds_of_faithful_prompts_stand_beside_those_of_all(
    evidence: Evidence,
    asked: tuple[Answers, tuple[SwapPlan, ...]],
    fidelity: tuple[str, str],
    alone: str | None,
    note: str | None,
) -> None:
    """The one wild turn is the second of its session; on a dense target it fails the run."""
    answers, plans = asked
    dense = replace(
        FACTS, swaps=plans, policy=FACTS.policy.model_copy(update={"noise_tails": "light"})
    )
    facts = of_fidelity(dense, *fidelity)
    judged = judge_all(HeldSessions(sessions_of(evidence, answers, facts), facts), facts).judgement
    whole = judge_all(HeldSessions(sessions_of(evidence, answers, dense), dense), dense).judgement
    assert judged.verdict == whole.verdict, "they decide nothing"
    faithful = {bound.name: bound for bound in judged.faithful}
    said = [text for text in judged.notes if "neither exact nor rebuilt" in text]
    assert [note is not None and note in text for text in said] == [True] * (note is not None)
    if alone is None:
        assert judged.faithful == ()
        return
    of_all = {bound.name: bound for bound in judged.verdict.bounds}
    assert of_all[LADDER].state == "fail"
    assert faithful[LADDER].state == alone
    # 16 turns of the main arm, as many of c8, 8 as users send them: half of each
    assert (of_all["answered_turns"].n, faithful["answered_turns"].n) == (40, 20)
    sampled = fidelity[0] in FAITHFUL  # s6/t0 is
    assert faithful[LADDER].n == (SESSIONS - sampled) * LENGTH
