"""Rules g, h, i, j and m of docs/case-rules.md for tokens, each with its near misses."""

import json
import math

import pytest

from tests.support.case_builder import (
    call,
    chunk,
    codes,
    judge,
    message,
    request,
    streamed,
    token,
    token_id,
    token_stream,
    tokens,
    usage,
)

EOS = "<|im_end|>"


def spread(*texts: str) -> list[dict]:
    """Tokens with different scores, so that nothing looks constant."""
    return [token(text, -0.01 - 0.001 * i) for i, text in enumerate(texts)]


# g: premature ends


def stopped(content: str, **more: object) -> dict:
    return streamed(content, **more)


WHOLE = {"message": message("Edit done. Tests pass.", "plan"), "finish_reason": "stop"}


@pytest.mark.parametrize(
    ("candidate", "expected"),
    [
        (stopped("Edit done.", reasoning="plan"), ["CONTENT_DIFF", "PREMATURE_EOS"]),
        (stopped("", reasoning="pl"), ["CONTENT_DIFF", "PREMATURE_EOS", "REASONING_DIFF"]),
        (stopped("", reasoning=""), ["CONTENT_DIFF", "PREMATURE_EOS", "REASONING_DIFF"]),
        (stopped("Edit done. ", reasoning="pl"), ["CONTENT_DIFF", "REASONING_DIFF"]),
        (stopped("Edit undone.", reasoning="plan"), ["CONTENT_DIFF"]),
        (stopped("Edit done. Tests pass.\n", reasoning="plan"), []),
        (
            stopped("Edit done.", reasoning="plan", completion=9),
            ["CONTENT_DIFF", "TOKEN_IDS_GAP"],
        ),
        (
            stopped("Edit done.", reasoning="plan", finish="length", ids=512),
            ["CONTENT_DIFF"],
        ),
        (
            stopped(
                "Edit done.",
                reasoning="plan",
                raw_text=f"<think>plan</think>Edit done. Tests pass.{EOS}",
            ),
            ["CONTENT_DIFF"],
        ),
        (
            stopped("Edit done.", reasoning="plan", raw_text=f"<think>plan</think>Edit done.{EOS}"),
            ["CONTENT_DIFF", "PREMATURE_EOS"],
        ),
    ],
)
def test_premature_end_of_text(candidate: dict, expected: list[str]) -> None:
    assert codes(baseline=WHOLE, candidate=candidate) == expected


def test_premature_end_before_a_call() -> None:
    baseline = {"message": message("Now.", None, [call()]), "finish_reason": "tool_calls"}
    assert codes(baseline=baseline, candidate=stopped("Now.")) == [
        "PREMATURE_EOS",
        "TOOL_CALL_LOST",
    ]
    raw = (
        f'Now.<tool_call>{{"name": "read_file", "arguments": {{"path": "a.py"}}}}</tool_call>{EOS}'
    )
    carried = stopped("Now.", raw_text=raw)
    assert codes(baseline=baseline, candidate=carried) == ["TOOL_CALL_LOST"]


def test_a_near_tie_may_end_an_output_early() -> None:
    baseline = WHOLE | {"tokens": [token("Edit"), token(" more", -0.7, **{EOS: -0.71}), token(EOS)]}
    candidate = token_stream([token("Edit"), token(EOS, -0.7)], content="Edit done.")
    assert codes(baseline=baseline, candidate=candidate) == []


def test_a_hard_fork_to_eos_is_a_premature_end() -> None:
    baseline = {
        "message": message("Edit more"),
        "finish_reason": "stop",
        "tokens": [token("Edit"), token(" more", -0.02, **{EOS: -9.0}), token(EOS)],
    }
    candidate = token_stream([token("Edit"), token(EOS, -0.03)])
    assert codes(baseline=baseline, candidate=candidate) == ["GREEDY_DIVERGENCE", "PREMATURE_EOS"]


# h: tokens lost or sent twice


@pytest.mark.parametrize(
    ("pieces", "completion", "expected"),
    [
        (("a", "b", "e", "f"), 6, ["DROPPED_TOKEN", "TOKEN_IDS_GAP"]),
        (("a", "b", "c", "d"), 6, ["DROPPED_TOKEN", "TOKEN_IDS_GAP"]),  # the tail
        (("c", "d", "e", "f"), 6, ["DROPPED_TOKEN", "TOKEN_IDS_GAP"]),  # the head
        (("a", "c", "e", "f"), 6, ["GREEDY_DIVERGENCE", "TOKEN_IDS_GAP"]),  # two runs
        (("a", "b", "e", "f"), 4, ["GREEDY_DIVERGENCE"]),  # usage agrees: never committed
        (("a", "b", "x", "f"), 6, ["GREEDY_DIVERGENCE", "TOKEN_IDS_GAP"]),
        (("a", "b", "c", "d", "e", "f"), 6, []),
    ],
)
def test_dropped(pieces: tuple[str, ...], completion: int, expected: list[str]) -> None:
    candidate = token_stream(spread(*pieces), completion=completion)
    baseline = {"tokens": spread("a", "b", "c", "d", "e", "f")}
    assert codes(baseline=baseline, candidate=candidate) == expected


@pytest.mark.parametrize(
    ("pieces", "steps", "expected"),
    [
        ("a b b c d", [2, 3], ["DUPLICATED_TOKEN", "GREEDY_DIVERGENCE"]),
        ("a b a b c d", [2, 4], ["DUPLICATED_TOKEN", "GREEDY_DIVERGENCE"]),
        ("a b b c d", [1, 4], ["GREEDY_DIVERGENCE"]),  # not at a step edge
        ("a b x c d", [2, 3], ["GREEDY_DIVERGENCE"]),
        ("a b c d", [2, 2], []),
    ],
)
def test_duplicated(pieces: str, steps: list[int], expected: list[str]) -> None:
    candidate = token_stream(spread(*pieces.split()), steps=steps)
    assert codes(baseline={"tokens": spread(*"abcd")}, candidate=candidate) == expected


def test_a_repeat_that_begins_as_the_baseline_goes_on() -> None:
    baseline = {"tokens": spread("a", "b", "a", "c", "d")}
    candidate = token_stream(spread("a", "b", "a", "b", "c"), steps=[2, 3])
    assert codes(baseline=baseline, candidate=candidate) == [
        "DUPLICATED_TOKEN",
        "GREEDY_DIVERGENCE",
    ]


def test_a_repeat_the_baseline_shows_is_none() -> None:
    baseline = {"tokens": spread("a", "b", "b", "c")}
    candidate = token_stream(spread("a", "b", "b", "c"), steps=[2, 2])
    assert codes(baseline=baseline, candidate=candidate) == []


def test_a_near_tie_that_looks_like_a_repeat() -> None:
    baseline = {"tokens": [token("a"), token("b", -0.02), token("c", -0.69, b=-0.70)]}
    candidate = token_stream([token("a"), token("b", -0.02), token("b", -0.69)], steps=[2, 1])
    assert codes(baseline=baseline, candidate=candidate) == []


def test_chunk_edges_serve_where_steps_are_unknown() -> None:
    candidate = token_stream(spread(*"abbcd"), steps=[2, 3])
    del candidate["step_tokens"]
    found = codes(baseline={"tokens": spread(*"abcd")}, candidate=candidate)
    assert found == ["DUPLICATED_TOKEN", "GREEDY_DIVERGENCE"]


# i: divergence and argmax


@pytest.mark.parametrize(
    ("baseline", "expected", "seen"),
    [
        (token("b", -0.1, x=-1.09), [], ["NEAR_TIE_FORK"]),
        (token("b", -0.1, x=-1.1), [], ["NEAR_TIE_FORK"]),  # exactly one nat
        (token("b", -0.1, x=-1.2), ["GREEDY_DIVERGENCE"], ["GREEDY_DIVERGENCE"]),
        (token("b", -0.01), ["GREEDY_DIVERGENCE"], ["GREEDY_DIVERGENCE"]),  # one entry is enough
        (token("b", -0.9), [], []),  # the missing token may have up to 0.59: not judged
        (token("b", -0.7, c=-0.71), ["GREEDY_DIVERGENCE"], ["GREEDY_DIVERGENCE"]),
        (token("b", -2.0, x=-0.2), [], ["NEAR_TIE_FORK"]),  # better than the baseline's own
        ({"id": token_id("b"), "text": "b"}, [], []),
    ],
)
def test_regret(baseline: dict, expected: list[str], seen: list[str]) -> None:
    judgement = judge(
        request=request(),
        baseline={"tokens": [token("a", -0.3), baseline]},
        candidate=token_stream([token("a", -0.3), token("x", -0.1)]),
    )
    assert judgement.codes == expected
    assert [finding.code for finding in judgement.findings] == seen


def test_a_missing_token_is_bounded_by_what_is_left() -> None:
    baseline = [token("a", -0.3), token("b", -0.7, c=-0.71)]
    judgement = judge(
        request=request(),
        baseline={"tokens": baseline},
        candidate=token_stream([token("a", -0.3), token("x", -0.1)]),
    )
    rest = 1 - math.exp(-0.7) - math.exp(-0.71)
    assert judgement.findings[0].detail["regret"] == pytest.approx(-0.7 - math.log(rest))
    assert judgement.findings[0].detail["at_least"] is True


def test_only_the_first_fork_counts() -> None:
    baseline = [token("a", -0.7, x=-0.71), token("b"), token("c")]
    candidate = token_stream([token("x", -0.7), token("q"), token("r")])
    assert codes(baseline={"tokens": baseline}, candidate=candidate) == []


@pytest.mark.parametrize("more", [{"temperature": 0.8}, {"temperature": None}])
def test_what_is_not_greedy_does_not_diverge(more: dict) -> None:
    candidate = token_stream(spread("a", "x"))
    assert (
        codes(baseline={"tokens": spread("a", "b")}, candidate=candidate, request=request(**more))
        == []
    )


def argmax(gap: float) -> dict:
    return token_stream([token("a", -0.2), token("b", -0.5 - gap, c=-0.5)])


@pytest.mark.parametrize(
    ("gap", "more", "expected"),
    [
        (0.0, {}, []),  # a tie
        (5e-6, {}, []),
        (1e-3, {}, ["SAMPLER_NOT_ARGMAX"]),
        (1.0, {"temperature": 1.0}, []),
        (1.0, {"logit_bias": {"5": 3}}, []),
        (1.0, {"bad_words": ["q"]}, []),
        (1.0, {"min_tokens": 1}, []),
        (1.0, {"repetition_penalty": 1.1}, []),
        (1.0, {"presence_penalty": 0.5}, []),
        (1.0, {"structured_outputs": {"regex": ".*"}}, []),
        (1.0, {"tool_choice": "required"}, []),
        (
            1.0,
            {"repetition_penalty": 1.0, "presence_penalty": 0, "min_tokens": 0, "bad_words": []},
            ["SAMPLER_NOT_ARGMAX"],
        ),
        (1.0, {"response_format": {"type": "text"}}, ["SAMPLER_NOT_ARGMAX"]),
    ],
)
def test_argmax(gap: float, more: dict, expected: list[str]) -> None:
    assert codes(candidate=argmax(gap), request=request(**more)) == expected


def test_a_list_of_one_shows_no_argmax() -> None:
    assert codes(candidate=token_stream([token("a", -5.0), token("b", -0.1)])) == []


def test_a_baseline_that_is_no_argmax_either() -> None:
    candidate = argmax(1.0)
    assert codes(baseline={"tokens": candidate["tokens"]}, candidate=candidate) == []


# j: banned tokens


def test_banned_ids() -> None:
    candidate = token_stream(spread("a", "b"))
    for bias, expected in ((-100, ["LOGIT_BIAS_IGNORED"]), (-99, []), (100, [])):
        asked = request(logit_bias={str(token_id("b")): bias})
        assert codes(candidate=candidate, request=asked) == expected
    asked = request(logit_bias={str(token_id("b")): -100})
    assert codes(baseline={"tokens": spread("a", "b")}, candidate=candidate, request=asked) == []


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("a", " class"), ["LOGIT_BIAS_IGNORED"]),
        (("a", "class"), ["LOGIT_BIAS_IGNORED"]),
        (("a", "cl", "ass"), ["LOGIT_BIAS_IGNORED"]),
        (("a", "classes"), []),
        (("a", "sub", "classes"), []),
        (("a", "cl", "a"), []),
    ],
)
def test_bad_words(texts: tuple[str, ...], expected: list[str]) -> None:
    asked = request(bad_words=["class"])
    assert codes(candidate=token_stream(spread(*texts)), request=asked) == expected
    same = {"tokens": spread(*texts)}
    assert codes(baseline=same, candidate=token_stream(spread(*texts)), request=asked) == []


@pytest.mark.parametrize(
    ("word", "text", "expected"),
    [
        ("禁止", "这是禁止的。", ["LOGIT_BIAS_IGNORED"]),
        ("テスト", "単体テストを", ["LOGIT_BIAS_IGNORED"]),
        ("ห้าม", "นี่ห้ามนะ", ["LOGIT_BIAS_IGNORED"]),
        ("кот", "вот кот.", ["LOGIT_BIAS_IGNORED"]),
        ("кот", "котик", []),
        ("class", "subclass", []),
        ("#x", "a#x", ["LOGIT_BIAS_IGNORED"]),
    ],
)
@pytest.mark.parametrize("channel", ["content", "reasoning", "arguments"])
def test_bad_words_where_only_the_text_is_known(
    word: str, text: str, expected: list[str], channel: str
) -> None:
    calls = [call("list_todos", json.dumps({"a": text}))] if channel == "arguments" else None
    channels = {channel: text} if calls is None else {}
    finish = "tool_calls" if calls else "stop"
    candidate = streamed(calls=calls, finish=finish, **channels)
    assert codes(candidate=candidate, request=request(bad_words=[word])) == expected


@pytest.mark.parametrize(
    ("floor", "finish", "expected"),
    [
        (4, "stop", ["MIN_TOKENS_IGNORED"]),
        (3, "stop", []),
        (0, "stop", []),
        (4, "length", ["MAX_TOKENS_ACCOUNTING"]),
    ],
)
def test_min_tokens(floor: int, finish: str, expected: list[str]) -> None:
    candidate = streamed("abc", ids=3, finish=finish)
    assert codes(candidate=candidate, request=request(min_tokens=floor)) == expected


@pytest.mark.parametrize(
    ("finish", "ids", "completion", "limit", "expected"),
    [
        ("length", 10, 10, {"max_tokens": 10}, []),
        ("length", 9, 9, {"max_tokens": 10}, ["MAX_TOKENS_ACCOUNTING"]),
        ("length", 9, 10, {"max_tokens": 10}, ["MAX_TOKENS_ACCOUNTING", "TOKEN_IDS_GAP"]),
        ("length", 11, 11, {"max_tokens": 10}, ["MAX_TOKENS_ACCOUNTING"]),
        ("stop", 11, 11, {"max_tokens": 10}, ["MAX_TOKENS_ACCOUNTING"]),
        ("stop", 9, 9, {"max_tokens": 10}, []),
        ("length", 9, 9, {"max_tokens": 50, "max_completion_tokens": 9}, []),
        ("length", 9, 9, {"max_tokens": None}, []),
    ],
)
def test_max_tokens(
    finish: str, ids: int, completion: int, limit: dict, expected: list[str]
) -> None:
    candidate = streamed("x", finish=finish, ids=ids, completion=completion)
    assert codes(candidate=candidate, request=request(**limit)) == expected


# m: repetition, leak, cache


@pytest.mark.parametrize(
    ("period", "times", "expected"),
    [
        (4, 5, ["DEGENERATE_REPETITION"]),
        (4, 4, []),
        (3, 5, []),  # fifteen tokens
        (3, 6, ["DEGENERATE_REPETITION"]),
        (1, 16, ["DEGENERATE_REPETITION"]),
        (1, 15, []),
        (32, 5, ["DEGENERATE_REPETITION"]),
        (33, 6, []),
    ],
)
def test_cycles(period: int, times: int, expected: list[str]) -> None:
    looped = [f"w{i}" for i in range(period)] * times
    candidate = token_stream(tokens("Go", *looped))
    baseline = {"tokens": [token("Go"), token("stop", -0.01), token(EOS)]}
    found = [c for c in codes(baseline=baseline, candidate=candidate) if c != "GREEDY_DIVERGENCE"]
    assert found == expected


def test_a_cycle_the_baseline_runs_through_too() -> None:
    looped = ["-", " ", "0", "\n"]
    baseline = {"tokens": tokens(*looped * 9, EOS)}
    candidate = token_stream(tokens(*looped[1:], *looped * 6, EOS))
    assert "DEGENERATE_REPETITION" not in codes(baseline=baseline, candidate=candidate)
    other = token_stream(tokens(*["-", " ", "1", "\n"] * 6))
    assert "DEGENERATE_REPETITION" in codes(baseline=baseline, candidate=other)


def test_a_loop_after_a_near_tie_is_shown_and_does_not_fail() -> None:
    baseline = {"tokens": [token("a", -0.7, x=-0.71), token(EOS)]}
    judgement = judge(
        request=request(), baseline=baseline, candidate=token_stream(spread(*["x", "y"] * 9))
    )
    assert judgement.codes == []
    assert "DEGENERATE_REPETITION" in {finding.code for finding in judgement.findings}


def test_a_cycle_against_a_text_that_repeats() -> None:
    ids = [1, 2, 3, 4] * 6
    baseline = {"message": message("- 0,\n" * 6), "finish_reason": "stop"}
    assert codes(baseline=baseline, candidate=streamed("- 0,\n" * 6, ids=ids)) == []
    once = {"message": message("done"), "finish_reason": "stop"}
    assert codes(baseline=once, candidate=streamed("- 0,\n" * 6, ids=ids)) == [
        "CONTENT_DIFF",
        "DEGENERATE_REPETITION",
    ]


OTHER = "SELECT invoice_no FROM ledger WHERE paid = 0"
RUN = ("SELECT", " ", "invoice_no", " ", "FROM", " ", "ledger")


def leak(
    run: tuple[str, ...] = RUN, baseline: dict | None = None, prompt: str = "Fix it."
) -> list[str]:
    hard = [token("return"), token(" total", -0.02), token(EOS)]
    return codes(
        request=request(messages=[{"role": "user", "content": prompt}]),
        baseline={"tokens": hard if baseline is None else baseline["tokens"]},
        candidate=token_stream(spread("return", *run), neighbours=[{"id": "n1", "text": OTHER}]),
    )


def test_leaks() -> None:
    assert leak() == ["CROSS_REQUEST_LEAK", "GREEDY_DIVERGENCE"]
    assert leak(run=("SELECT invoice_no", " FROM", " ledger")) == ["GREEDY_DIVERGENCE"]  # 3 tokens
    assert leak(run=("FROM", " ", "led", "ger")) == ["GREEDY_DIVERGENCE"]  # 11 characters
    assert leak(prompt="the file: SELECT invoice_no FROM ledger;") == ["GREEDY_DIVERGENCE"]
    assert leak(baseline={"tokens": spread("return", *RUN)}) == []
    near = [token("return"), token(" total", -0.7, SELECT=-0.72), token(EOS)]
    assert leak(baseline={"tokens": near}) == []


@pytest.mark.parametrize(
    ("candidate", "baseline", "block", "expected"),
    [
        (8192 - 64, 8192, 16, []),
        (8192 - 819, 8192, 16, []),
        (8192 - 820, 8192, 16, ["PREFIX_CACHE_LOST"]),
        (0, 64, 16, []),
        (0, 65, 16, ["PREFIX_CACHE_LOST"]),
        (0, 512, 128, []),
        (9000, 8192, 16, []),
        (None, 8192, 16, []),
    ],
)
def test_prefix_cache(
    candidate: int | None, baseline: int, block: int, expected: list[str]
) -> None:
    chunks = [chunk({"content": "ok"}, "stop", [1]), usage(1, 9000, candidate)]
    found = codes(
        baseline={"message": message("ok"), "finish_reason": "stop", "cached_tokens": baseline},
        candidate={"chunks": chunks, "done": True},
        context={"block_size": block},
    )
    assert found == expected


def test_steps_that_do_not_add_up_are_only_listed() -> None:
    judgement = judge(
        request=request(),
        candidate=token_stream(spread("a", "b"), steps=[1, 1]) | {"step_tokens": [3]},
    )
    assert judgement.codes == []
    assert [finding.code for finding in judgement.findings] == ["UNALIGNED"]
