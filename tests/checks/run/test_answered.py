"""What nobody answered is no pass; what both refuse alike is counted apart."""

from dataclasses import replace

import pytest

from checks.run.answered import AnsweredTurn, answer_of, answered_bound
from traces.wire.response import Response

WHOLE = Response(
    status=200,
    content="ok",
    reasoning="",
    tool_calls=(),
    finish_reason="stop",
    tokens=None,
    prompt_token_ids=None,
    usage=None,
    speculation=None,
    chunks=(),
    done=True,
)
REFUSED = replace(WHOLE, status=400, finish_reason=None)
BROKEN = replace(WHOLE, status=500, finish_reason=None)
CUT = replace(WHOLE, finish_reason=None)
SILENT = replace(WHOLE, status=None, finish_reason=None)


@pytest.mark.parametrize(
    ("baseline", "candidate", "answer"),
    [
        (WHOLE, WHOLE, "answered"),
        (REFUSED, REFUSED, "refused"),
        (BROKEN, BROKEN, "missing"),
        (SILENT, SILENT, "missing"),
        (BROKEN, SILENT, "missing"),
        (REFUSED, replace(REFUSED, status=404), "missing"),
        (CUT, CUT, "missing"),
        (WHOLE, None, "missing"),
        (None, WHOLE, "missing"),
        (None, None, "missing"),
        (WHOLE, REFUSED, "missing"),
    ],
)
def test_a_turn(baseline: Response | None, candidate: Response | None, answer: str) -> None:
    assert answer_of(baseline, candidate) == answer


def turns(missing: int, of: int, refused: int = 0) -> list[AnsweredTurn]:
    return [
        *(AnsweredTurn("main", "s", f"m{i}", "missing") for i in range(missing)),
        *(AnsweredTurn("main", "s", f"t{i}", "answered") for i in range(of - missing)),
        *(AnsweredTurn("main", "s", f"r{i}", "refused") for i in range(refused)),
    ]


@pytest.mark.parametrize(
    ("found", "state", "value"),
    [
        (turns(0, 100), "pass", 0.0),
        (turns(1, 100), "pass", 0.01),
        (turns(2, 100), "inconclusive", 0.02),
        (turns(1, 100, refused=900), "pass", 0.01),
        (turns(0, 0, refused=10), "inconclusive", None),
        ([], "inconclusive", None),
    ],
)
def test_the_bound(found: list[AnsweredTurn], state: str, value: float | None) -> None:
    bound = answered_bound(found)
    assert (bound.state, bound.value) == (state, value)


def test_the_first_missing_turn_is_named() -> None:
    assert "session s, turn m0 (arm main)" in answered_bound(turns(3, 9)).message
