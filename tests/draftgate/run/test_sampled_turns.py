"""Sampled turns of a run: what was drafted in place of each token is known where it can be."""

from dataclasses import replace

from checks.acceptance.drafting import Drafting
from checks.acceptance.drafts.recomputed import recompute
from checks.acceptance.drafts.reported import place
from checks.acceptance.steps import StepFacts, Unaligned
from checks.sessions.evidence import Answers
from checks.sessions.reading import Reading
from checks.sessions.turns import sampled_turns
from evidence.simulated.pool import EMPTY
from traces.journal.exchange import Evidence, Exchange
from traces.wire.capture import CaptureKey

TURN = ("s", "t")
EAGLE = Drafting("eagle3", 2)


def exchange(path: str) -> Exchange:
    key = CaptureKey("r", path, "main", *TURN)
    return Exchange(key, {"temperature": 0.7}, EMPTY, 0.0, "done", 1.0, 0, None)


def reading(steps: object) -> Reading:
    return Reading(exchange("candidate"), None, None, steps, None)  # type: ignore[arg-type]


def drafts_of(found: Reading | None, drafting: Drafting = EAGLE) -> tuple[int, ...] | None:
    arms = {(path, "main"): {TURN: exchange(path)} for path in ("baseline", "candidate")}
    readings = {} if found is None else {TURN: found}
    (turn,) = sampled_turns(Evidence(arms), Answers(), readings, drafting)
    return turn.drafts


def test_drafts_that_were_computed_again_reach_the_sampled_tests() -> None:
    """1 from the prefill, then 2 accepted of the draft 2 3, and 9 in place of the 3."""
    said = StepFacts((1,), (2,), 3, (1, 2))
    lookup = Drafting("ngram", 2, 1, 1)
    steps = recompute(said, lookup, [1, 2, 3], [1, 2, 9], lambda ids: ids[1:3])
    assert drafts_of(reading(steps), lookup) == (-1, 2, 3)


def test_drafts_that_the_server_reports_reach_them_where_they_are_one_hot() -> None:
    """A drafter that draws its drafts has them emitted more often than the target alone would."""
    steps = place(StepFacts((1,), (2,), 3, (1, 2)), [(2, 3)], [1], [1, 2, 9])
    assert drafts_of(reading(steps)) == (-1, 2, 3)
    assert drafts_of(reading(steps), replace(EAGLE, draft_sampling="probabilistic")) is None
    assert drafts_of(reading(steps), replace(EAGLE, rejection="block")) is None


def test_drafts_that_nobody_reports_are_not_known() -> None:
    assert drafts_of(reading(Unaligned("counts", "no"))) is None
    assert drafts_of(reading(None)) is None
    assert drafts_of(None) is None
