"""Planted faults are self-consistent, and each is caught by the code it names."""

from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pytest

from checks.acceptance.profile_row import ProfileRow, SessionCounts
from checks.bounds import ControlResult, fired
from checks.controls.acceptance import halved, judge_acceptance_control
from checks.controls.duplicate import plant_duplicate
from checks.controls.edit import place_of, swap_token, vocabulary
from checks.controls.leak import plant_leak
from checks.controls.pair_control import Judge
from checks.controls.pairs import donors_of, plant_pair_controls
from checks.controls.temperature import judge_temperature_control, redraw_turn
from checks.controls.unchanged import copy, copy_turns, judge_unchanged
from checks.exact.judge import judge_pair
from checks.greedy.judge import floor_of, judge_greedy, judge_one
from checks.greedy.turn import measure_turn
from checks.pair import Neighbour, Pair, pair_of_responses
from checks.policy import Policy
from checks.sampled.turn import SampledTurn
from evidence.simulated.sampled_faults import contexts, draw, listed
from tests.support.synthetic_model import SyntheticModel, greedy_pool, response_of
from traces.wire.response import Response, Token, ToolCall, TopLogprob

POLICY = Policy(rate_margin=1e-3)
REQUEST = {
    "messages": [{"role": "user", "content": "go"}],
    "temperature": 0,
    "max_tokens": 500,
    "stream": True,
    "stream_options": {"include_usage": True},
    "tools": [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}],
}


@pytest.fixture(scope="module")
def pool():
    return greedy_pool(SyntheticModel(), sessions=4, turns=2, length=40)


def _pairs(pool) -> list[tuple[str, Pair]]:
    beside = (Neighbour("other", pool[-1].candidate.content),)
    return [
        (
            f"{turn.session}/{turn.turn}",
            pair_of_responses(REQUEST, turn.baseline, turn.candidate, neighbours=beside),
        )
        for turn in pool
    ]


def _call_response() -> Response:
    """A tool call in Hermes markup; every token lists one far rival."""
    pieces = [
        "<tool_call>",
        '{"name": "read", "arguments": ',
        '{"path"',
        ': "a/b',
        '.py"}',
        "}",
        "</tool_call>",
    ]
    tokens = [
        Token(500 + i, text, -0.01, (TopLogprob(500 + i, None, -0.01), TopLogprob(900, None, -5.0)))
        for i, text in enumerate(pieces)
    ]
    call = ToolCall(0, "call_1", "read", '{"path": "a/b.py"}', ids=("call_1",))
    plain = response_of((1, 2), tokens)
    return replace(plain, content="", tool_calls=(call,), finish_reason="tool_calls")


def _judge(pair: Pair):
    return judge_pair(pair).findings


def _controls(pairs: list[tuple[str, Pair]], judge: Judge) -> list[ControlResult]:
    """The controls of a whole run, and of its parts in another order, added up."""
    named = [(name, pair, fired(judge(pair))) for name, pair in pairs]
    streams = [(name, pair.candidate.stream) for name, pair in pairs if pair.candidate.stream]
    donors = tuple(donors_of(streams, seed=0).values())
    whole = plant_pair_controls(named, donors, judge, seed=0)
    parts = [plant_pair_controls([one], donors, judge, seed=0) for one in reversed(named)]
    added = [reduce(add, several) for several in zip(*parts, strict=True)]
    assert [one.result for one in added] == [one.result for one in whole][: len(added)]
    return [one.result for one in whole]


def test_every_pair_control_is_caught(pool) -> None:
    call = pair_of_responses(REQUEST, _call_response(), _call_response())
    results = _controls([*_pairs(pool), ("call", call)], _judge)
    assert {(r.expected, r.state) for r in results} == {
        ("CONTENT_DIFF", "caught"),
        ("ARGS_NOT_JSON", "caught"),
        ("FINISH_REASON_WRONG", "caught"),
        ("DUPLICATED_TOKEN", "caught"),
        ("CROSS_REQUEST_LEAK", "caught"),
    }


def test_blind_checks_miss_them_all(pool) -> None:
    results = _controls(_pairs(pool), lambda pair: ())
    assert {r.state for r in results if r.expected != "ARGS_NOT_JSON"} == {"missed"}


def test_controls_that_have_nothing_to_stand_on_do_not_apply(pool) -> None:
    alone = [(name, replace(pair, neighbours=())) for name, pair in _pairs(pool)]
    states = {r.expected: r.state for r in _controls(alone, _judge)}
    assert states["CROSS_REQUEST_LEAK"] == "not_applicable"
    assert states["ARGS_NOT_JSON"] == "not_applicable"
    assert {r.state for r in _controls([], _judge)} == {"not_applicable"}


def test_sampled_turns_are_asked_for_no_fault_that_only_equal_tokens_can_show(pool) -> None:
    """Else every run of sampled turns would be invalid."""
    drawn = [
        (name, replace(pair, request={**REQUEST, "temperature": 0.7}))
        for name, pair in _pairs(pool)
    ]
    states = {r.expected: r.state for r in _controls(drawn, _judge)}
    assert states == {
        "CONTENT_DIFF": "caught",
        "ARGS_NOT_JSON": "not_applicable",
        "FINISH_REASON_WRONG": "caught",
        "DUPLICATED_TOKEN": "not_applicable",
        "CROSS_REQUEST_LEAK": "not_applicable",
    }


def _adds_up(response: Response) -> bool:
    """Text, ids, usage and chunks say the same."""
    ids = response.token_ids or ()
    joined = "".join(token.text or "" for token in response.tokens or ())
    return (
        response.content == joined
        and response.usage.completion == len(ids)
        and sum(chunk.token_ids or 0 for chunk in response.chunks) == len(ids)
    )


def test_planted_responses_add_up(pool) -> None:
    (_, pair), donor = _pairs(pool)[0], pool[-1].candidate
    duplicated, leaked = plant_duplicate(pair), plant_leak(pair, donor.tokens)
    assert _adds_up(pair.candidate.stream)
    assert _adds_up(duplicated.candidate.stream)
    assert _adds_up(leaked.candidate.stream)
    swapped = swap_token(pair.candidate.stream, 5, vocabulary(t.candidate for t in pool))
    assert _adds_up(swapped)
    assert swapped.token_ids != pair.candidate.ids
    token = swapped.tokens[5]
    assert token.logprob == max(entry.logprob for entry in token.top)


def test_a_swap_inside_arguments_rewrites_the_arguments() -> None:
    response = _call_response()
    swapped = swap_token(response, 3, {900: ': "z'})
    assert swapped.tool_calls[0].arguments == '{"path": "z.py"}'
    assert place_of(response, 0) is None
    assert swap_token(response, 0, {900: "x"}) is None


def _unchanged(pool, judgement, pairs, judge: Judge) -> ControlResult:
    measured = [measure_turn(turn) for turn in pool]
    floor = floor_of(measured, POLICY, seed=0)
    results = [judge_one(t, m, floor.noise) for t, m in zip(pool, measured, strict=True)]
    named = [(pair, fired(judge(pair))) for _, pair in pairs]
    copies = copy_turns(zip(pool, results, strict=True), named, judge, floor.noise)
    return judge_unchanged(copies, judgement, results, floor, POLICY, seed=0)


def test_the_unchanged_copy_fires_nothing(pool) -> None:
    judgement = judge_greedy(pool, POLICY, seed=0)
    result = _unchanged(pool, judgement, _pairs(pool), _judge)
    assert result.state == "caught"
    assert copy(pool[0].candidate) == pool[0].candidate


def test_a_copy_that_fires_more_than_its_run_is_missed(pool) -> None:
    seen = set()

    def forgetful(pair: Pair):
        """Finds a fault in whatever it has not seen before."""
        first = id(pair) not in seen
        seen.update(id(known) for _, known in pairs)
        return judge_pair(_wrong_end(pair)).findings if first else ()

    pairs = _pairs(pool)
    seen.update(id(pair) for _, pair in pairs)
    judgement = judge_greedy(pool, POLICY, seed=0)
    result = _unchanged(pool, judgement, pairs, forgetful)
    assert result.state == "missed"
    assert "FINISH_REASON_WRONG" in result.fired


def _wrong_end(pair: Pair) -> Pair:
    return replace(pair, candidate=replace(pair.candidate, finish_reason="length"))


def _row(boundary: str, drafts: int, *accepted: int) -> ProfileRow:
    """Ten sessions alike."""
    reached = (drafts, *accepted[:-1])
    each = SessionCounts(drafts // 10, *(tuple(n // 10 for n in c) for c in (accepted, reached)))
    sessions = tuple((f"s{i}", each) for i in range(10))
    return ProfileRow(
        boundary, "0-8k", drafts, 3 * drafts, accepted, sum(accepted), sessions=sessions
    )


ROWS = [_row("code", 1000, 700, 500, 300), _row("prose", 500, 300, 200, 100)]


def test_halved_acceptance_is_caught_against_the_run_s_reference() -> None:
    result = judge_acceptance_control(ROWS, ROWS, POLICY)
    assert (result.state, result.fired) == ("caught", ("ACCEPTANCE_LOSS",))
    assert "code" in result.detail
    assert halved(ROWS[0]).conditional(0) == ROWS[0].conditional(0) / 2


def test_without_a_reference_no_control_says_that_a_loss_would_be_seen() -> None:
    result = judge_acceptance_control(ROWS, [], POLICY)
    assert result.state == "not_applicable"
    assert "no reference run" in result.detail
    few = [replace(row, sessions=row.sessions[:1]) for row in ROWS]
    assert judge_acceptance_control(few, few, POLICY).state == "not_applicable"


def _sampled(length: int) -> list[SampledTurn]:
    turns = []
    for s in range(20):
        rng = np.random.default_rng(s)
        c = contexts(rng, length)
        candidate, baseline = draw(rng, c.probs), draw(rng, c.probs)
        turns.append(
            SampledTurn(
                f"s{s}", "t", {"temperature": 1.0}, listed(c, candidate), listed(c, baseline)
            )
        )
    return turns


def _redrawn(length: int, policy: Policy) -> ControlResult:
    turns = [redraw_turn(turn, seed=0) for turn in _sampled(length)]
    return judge_temperature_control(turns, policy, seed=0)


def test_redrawn_tokens_are_caught_where_there_are_enough() -> None:
    policy = Policy()
    assert _redrawn(600, policy).state == "caught"
    assert _redrawn(20, policy).state == "no_data"
    assert judge_temperature_control([], policy, seed=0).state == "not_applicable"


def test_fired_lists_errors_only(pool) -> None:
    assert fired(judge_pair(_pairs(pool)[0][1]).findings) == ()
