"""The cut-sensitive toy parser, and the control that rests on it."""

from checks.controls.rechunk import judge_rechunk_control, pieces_of, toy_parse
from checks.splits.cuts import one_by_one
from tests.support.synthetic_model import SyntheticModel, response_of

PIECES = ("a ", "<tool_call>", "{", "}", "</tool_call>")


def test_one_token_per_delta_parses_right() -> None:
    parsed = toy_parse(PIECES, one_by_one(len(PIECES)))
    assert (parsed.content, parsed.calls) == ("a ", (("toy", "{}"),))


def test_what_follows_the_marker_in_one_delta_is_lost() -> None:
    assert toy_parse(PIECES, (1, 3, 4)).calls == (("toy", "}"),)


def test_the_control_is_caught() -> None:
    output = SyntheticModel().stream((1,), 12, "candidate")
    result = judge_rechunk_control(pieces_of(output), draft_tokens=3, seed=0)
    assert (result.state, result.fired) == ("caught", ("SPLIT_VARIANT",))


def test_without_output_there_is_no_data() -> None:
    assert judge_rechunk_control(pieces_of(response_of((1,), ())), 3, 0).state == "no_data"
