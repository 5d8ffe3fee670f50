"""What the baseline reads again: tails of forked turns, the candidate's and its own."""

from checks.greedy.shift import LEAST_TOKENS
from checks.greedy.turn import GreedyTurn
from checks.sessions.evidence import Answers
from checks.sessions.turns import (
    LEAST_EQUAL_TOKENS,
    LEAST_NOISE_TOKENS,
    _own_scored,
    own_tail,
    scoring_requests,
)
from tests.support.synthetic_model import SyntheticModel, response_of
from traces.journal.score import ScoreRequest
from traces.wire.response import Response, Token

PROMPT = (9,)


def answer(*ids: int) -> Response:
    return response_of(PROMPT, [Token(one, f"w{one} ", -0.1) for one in ids])


def turn(name: str, candidate: Response, baseline: Response) -> GreedyTurn:
    return GreedyTurn("s0", name, candidate, baseline)


FORKED = turn("t0", answer(1, 2, 5, 6), answer(1, 2, 3, 4, 7))
EQUAL = turn("t1", answer(1, 2), answer(1, 2))


def requests_of(*turns: GreedyTurn) -> list[ScoreRequest]:
    named = {(turn.session, turn.turn): turn for turn in turns}
    return scoring_requests(turns, named.__getitem__, seed=0)


def test_a_forked_turn_is_read_again_behind_its_fork_on_both_paths() -> None:
    requests = requests_of(FORKED, EQUAL)
    asked = [(request.prompt[len(PROMPT) :], request.continuation) for request in requests]
    assert asked == [
        ((1, 2), (5, 6)),  # the candidate's, from the fork on
        ((1, 2, 3), (4, 7)),  # the baseline's own, behind it
        ((), (1, 2)),  # another turn, whole
    ]


def test_turns_at_random_fill_up_what_is_left() -> None:
    many = [turn(f"t{n}", answer(*range(50)), answer(*range(50))) for n in range(100)]
    read = sum(len(r.continuation) for r in requests_of(FORKED, *many))
    assert LEAST_NOISE_TOKENS <= read - 2 < LEAST_NOISE_TOKENS + 50


def test_turns_that_fork_leave_room_for_those_that_do_not() -> None:
    """Scores of equal tokens have their noise from these; a faulty candidate forks often."""
    equal = [turn(f"e{n}", answer(*range(50)), answer(*range(50))) for n in range(60)]
    long = [*range(1, 80)]
    forked = [turn(f"f{n}", answer(7, 98, *long), answer(7, 99, *long)) for n in range(60)]
    requests = requests_of(*forked, *equal)
    whole = [r for r in requests if r.prompt == PROMPT and r.continuation[0] == 0]
    read = sum(len(request.continuation) for request in whole)
    assert LEAST_TOKENS < LEAST_EQUAL_TOKENS <= read < LEAST_EQUAL_TOKENS + 50


def test_a_baseline_that_ends_at_the_fork_has_no_tail() -> None:
    assert own_tail(answer(1, 2, 5), answer(1, 2)) is None
    assert own_tail(answer(1, 2, 5), answer(1, 2, 3)) is None
    assert own_tail(answer(1, 2), answer(1, 2)) is None


def test_the_tail_is_found_again_among_the_scores_and_so_is_the_whole_output() -> None:
    model = SyntheticModel()
    (_, tail, _), whole = (
        requests_of(FORKED, EQUAL),
        requests_of(turn("t0", FORKED.baseline, FORKED.baseline)),
    )
    for requests, start in (([tail], 3), (whole, 0)):
        answers = Answers({request.digest: model.score(request) for request in requests})
        found = _own_scored(FORKED.candidate, FORKED.baseline, answers)
        assert found is not None
        assert (found.start, found.ids) == (start, (1, 2, 3, 4, 7)[start:])
