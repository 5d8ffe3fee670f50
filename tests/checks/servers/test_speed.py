"""Speed, paired by turn."""

from dataclasses import replace

import pytest

from checks.servers.speed import (
    SpeedPair,
    break_even,
    chunk_counts,
    compare_speed,
    compare_speed_by_context,
    merged_share,
    saturation,
    speed_pair,
)
from checks.tokens.recurrence import recurrence
from tests.support.synthetic_model import SyntheticModel, response_of
from traces.wire.response import Chunk, Response, Token, Usage


def _stream(first_ms: float, step_ms: float, tokens: int, per_chunk: int = 1) -> Response:
    """A stream whose first token comes after `first_ms`, then a chunk per step."""
    sizes = [1] + [per_chunk] * ((tokens - 1) // per_chunk)
    chunks = tuple(Chunk(first_ms + i * step_ms, size, size, True) for i, size in enumerate(sizes))
    plain = response_of((1,), ())
    return replace(plain, chunks=chunks, usage=Usage(1, sum(sizes)))


def _pairs(step_ms: float, per_chunk: int) -> list[SpeedPair]:
    return [
        speed_pair(f"s{i % 25}", f"t{i}", _stream(50, 10, 31), _stream(50, step_ms, 31, per_chunk))
        for i in range(100)
    ]


def test_three_tokens_per_step_at_one_and_a_half_times_the_cost_is_twice_as_fast() -> None:
    ttft, tpot, user, token = compare_speed(_pairs(15.0, 3), seed=0)
    assert (token.baseline, token.candidate) == pytest.approx((10.0, 5.0))
    assert (token.speedup, token.low, token.high) == pytest.approx((2.0, 2.0, 2.0))
    assert ttft.speedup == pytest.approx(1.0)
    assert (tpot.baseline, tpot.candidate) == pytest.approx((10.0, 5.0))
    assert (tpot.speedup, tpot.low, tpot.high) == pytest.approx((2.0, 2.0, 2.0))
    assert user.baseline == pytest.approx(31 / 0.350)
    assert user.speedup == pytest.approx(350 / 200)
    assert (user.turns, user.sessions) == (100, 25)


def test_the_interval_comes_from_sessions_not_turns() -> None:
    mixed = [
        speed_pair(f"s{s}", f"t{t}", _stream(50, 10, 31), _stream(50, 5 if s % 2 else 10, 31))
        for s in range(30)
        for t in range(40)
    ]
    tpot = compare_speed(mixed, seed=0)[1]
    assert tpot.speedup == pytest.approx(2**0.5)
    # standard error of a mean of 30 values of 0 or log 2: log(2) / 2 / sqrt(30)
    assert tpot.high / tpot.low == pytest.approx(2 ** (2 * 1.96 / 2 / 30**0.5), rel=0.06)


def test_speed_goes_by_the_length_of_the_prompt() -> None:
    """Prompts of 8,191 tokens are in the first band, of 8,192 in the second, twice as fast."""
    long = [
        speed_pair(f"s{s}", f"t{prompt}", _stream(50, 10, 31), _prompted(prompt, step_ms))
        for s in range(3)
        for prompt, step_ms in ((8191, 10), (8192, 5))
    ]
    found = compare_speed_by_context(long, seed=0)
    assert list(found) == ["0-8k", "8k-16k"]
    assert [band[1].speedup for band in found.values()] == pytest.approx([1.0, 2.0])
    assert [band[1].turns for band in found.values()] == [3, 3]


def _prompted(prompt: int, step_ms: float) -> Response:
    return replace(_stream(50, step_ms, 31), usage=Usage(prompt, 31))


def test_long_turns_weigh_more_per_token_than_per_turn() -> None:
    """Turns of 11 tokens at half the time, of 101 at twice the time: alike per turn; per token
    (100 + 1000) ms against (50 + 2000) ms for the same 110 tokens.
    """
    mixed = [
        speed_pair(f"s{s}", f"t{n}", _stream(50, 10, n), _stream(50, step_ms, n))
        for s in range(30)
        for n, step_ms in ((11, 5), (101, 20))
    ]
    _, per_turn, _, per_token = compare_speed(mixed, seed=0)
    assert per_turn.speedup == pytest.approx(1.0)
    assert per_token.speedup == pytest.approx(1100 / 2050)
    assert (per_token.baseline, per_token.candidate) == pytest.approx((10.0, 2050 / 110))
    assert (per_token.turns, per_token.sessions) == (60, 30)


def test_a_turn_in_one_burst_counts_neither_way() -> None:
    burst = replace(_stream(50, 10, 31), chunks=(Chunk(50, 31, 31, True),))
    pairs = [speed_pair("s", "t", _stream(50, 10, 31), burst), *_pairs(5.0, 1)]
    _, per_turn, _, per_token = compare_speed(pairs, seed=0)
    assert (per_turn.turns, per_token.turns) == (100, 100)
    assert per_token.speedup == pytest.approx(2.0)


def test_turns_that_one_path_refused_are_left_out() -> None:
    refused = replace(_stream(50, 10, 31), status=400)
    ttft, *_ = compare_speed([speed_pair("s", "t", _stream(50, 10, 31), refused)], seed=0)
    assert (ttft.turns, ttft.speedup) == (0, None)


def test_a_saturated_client_is_reported() -> None:
    assert merged_share([chunk_counts(_stream(50, 10, 31))]) == 0
    assert saturation([chunk_counts(_stream(50, 10, 31))]) is None
    assert "merged" in saturation([chunk_counts(_stream(50, 10, 31, per_chunk=2))])
    assert merged_share([]) is None


def test_break_even() -> None:
    # log2(1) = 0 and log2(16) = 4; from 2.0 to 0.5 the logarithm crosses 0 half way: 4
    assert break_even({1: 2.0, 16: 0.5}) == pytest.approx(4.0)
    assert break_even({1: 2.03, 4: 1.71, 16: 1.66}) is None
    assert break_even({4: 0.9, 16: 0.8}) == 4.0
    assert break_even({}) is None


def test_recurrence() -> None:
    first = SyntheticModel().stream((1,), 6, "candidate")
    other = replace(first, tokens=(*first.tokens[:3], Token(199), *first.tokens[4:]))
    assert recurrence(first, 3, [first, first]).label == "deterministic"
    assert recurrence(first, 3, [first, other]).label == "intermittent"
    assert recurrence(first, 2, [first, other]).label == "deterministic"
    assert recurrence(first, 3, []).label is None
    assert recurrence(first, 3, [other]).label == "intermittent"
