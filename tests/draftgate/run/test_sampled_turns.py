"""Sampled turns of a run: what was drafted in place of each token is known where it can be."""

from checks.acceptance.drafting import Drafting
from checks.acceptance.ngram_steps import recompute
from checks.acceptance.steps import StepFacts, Unaligned
from checks.sessions.evidence import Answers
from checks.sessions.reading import Reading
from checks.sessions.turns import sampled_turns
from evidence.simulated.pool import EMPTY
from traces.journal.exchange import Evidence, Exchange
from traces.wire.capture import CaptureKey

TURN = ("s", "t")


def exchange(path: str) -> Exchange:
    key = CaptureKey("r", path, "main", *TURN)
    return Exchange(key, {"temperature": 0.7}, EMPTY, 0.0, "done", 1.0, 0, None)


def reading(steps: object) -> Reading:
    return Reading(exchange("candidate"), None, None, steps, None)  # type: ignore[arg-type]


def drafts_of(found: Reading | None) -> tuple[int, ...] | None:
    arms = {(path, "main"): {TURN: exchange(path)} for path in ("baseline", "candidate")}
    readings = {} if found is None else {TURN: found}
    (turn,) = sampled_turns(Evidence(arms), Answers(), readings)
    return turn.drafts


def test_drafts_that_were_computed_again_reach_the_sampled_tests() -> None:
    """1 from the prefill, then 2 accepted of the draft 2 3, and 9 in place of the 3."""
    said = StepFacts((1,), (2,), 3, (1, 2))
    steps = recompute(said, Drafting("ngram", 2, 1, 1), [1, 2, 3], [1, 2, 9], lambda ids: ids[1:3])
    assert drafts_of(reading(steps)) == (-1, 2, 3)


def test_drafts_of_other_drafters_are_not_known() -> None:
    assert drafts_of(reading(Unaligned("counts", "no"))) is None
    assert drafts_of(reading(None)) is None
    assert drafts_of(None) is None
