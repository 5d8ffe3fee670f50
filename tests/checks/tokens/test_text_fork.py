"""A plain stream forks at a near tie that the judged stream's tokens show; lost text does not."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from checks.pair import Message
from checks.tokens.text_fork import TextFork, near_tie_in_text
from traces.wire.response import Response, Token, ToolCall, TopLogprob

BOUND = 1.0


def token(text: str, ident: int, **others: tuple[int, float]) -> Token:
    """A token of log probability −1 with alternatives `name=(id, logprob)`."""
    top = (TopLogprob(ident, None, -1.0), *(TopLogprob(i, None, p) for i, p in others.values()))
    return Token(ident, text, -1.0, top)


def response(tokens: list[Token], message: Message) -> Response:
    return Response(
        status=200,
        content=message.content,
        reasoning=message.reasoning,
        tool_calls=message.calls,
        finish_reason="stop",
        tokens=tuple(tokens),
        prompt_token_ids=None,
        usage=None,
        speculation=None,
        chunks=(),
        done=True,
    )


def said(content: str, reasoning: str = "", *arguments: str) -> Message:
    calls = tuple(ToolCall(i, "c", "ls", text) for i, text in enumerate(arguments))
    return Message(content, reasoning, calls)


TEXTS = {
    1: "<think>", 2: "logger", 3: " twice", 4: " early", 5: " when", 6: "</think>", 7: "ok",
    8: "<|im_end|>", 9: "<tool_call>", 10: '{"name": "ls", "arguments": ', 11: '{"path": "',
    12: "a.py", 13: "b.py", 14: '"}', 15: "}", 16: "</tool_call>",
}  # fmt: skip


def plan() -> list[Token]:
    return [
        token("<think>", 1),
        token("logger", 2),
        token(" twice", 3, near=(4, -1.06), far=(5, -3.0)),
        token(" when", 5),
        token("</think>", 6),
        token("ok", 7, near=(9, -1.5)),
        token("<|im_end|>", 8, near=(9, -1.2)),
    ]


JUDGED = said("ok", "logger twice when")


@pytest.mark.parametrize(
    ("other", "fork"),
    [
        (said("ok", "logger twice when"), None),
        (said("never mind", "logger early on"), TextFork(2, pytest.approx(0.06))),
        (said("ok", "logger when"), None),  # " when" is listed, 2 nat below: a lost token
        (said("ok", "logger"), None),  # nothing there ends the reasoning
        (said("o", "logger twice when"), None),
        (said("ok", "logger twice when", "{}"), TextFork(6, pytest.approx(0.2))),  # a call opens
        (said("", "logger twice when", "{}"), TextFork(5, pytest.approx(0.5))),
    ],
)
def test_a_listed_near_alternative_explains(other: Message, fork: TextFork | None) -> None:
    assert near_tie_in_text(response(plan(), JUDGED), other, BOUND, TEXTS) == fork


def test_an_unknown_alternative_explains_only_where_the_texts_part() -> None:
    known = {ident: text for ident, text in TEXTS.items() if ident != 4}
    judged = response(plan(), JUDGED)
    fork = near_tie_in_text(judged, said("ok", "logger always"), BOUND, known)
    assert fork == TextFork(2, pytest.approx(0.06))
    assert near_tie_in_text(judged, said("ok", "logger twice never"), BOUND, known) is None


def test_the_bound_is_a_bound() -> None:
    judged, other = response(plan(), JUDGED), said("ok", "logger early when")
    assert near_tie_in_text(judged, other, 0.05, TEXTS) is None
    assert near_tie_in_text(judged, other, 0.07, TEXTS) is not None


CALL = [
    token("<tool_call>", 9, near=(8, -1.3)),
    token('{"name": "ls", "arguments": ', 10),
    token('{"path": "', 11),
    token("a.py", 12, near=(13, -1.1)),
    token('"}', 14),
    token("}", 15),
    token("</tool_call>", 16),
]
CALLED = said("", "", '{"path": "a.py"}')


@pytest.mark.parametrize(
    ("other", "index"),
    [
        (said("", "", '{"path": "b.py"}'), 3),
        (said(""), 0),  # the answer ends in place of the call
        (said("", "", '{"path": "a"}'), None),
        (said("", "", '{"path": ""}'), None),
    ],
)
def test_calls(other: Message, index: int | None) -> None:
    fork = near_tie_in_text(response(CALL, CALLED), other, BOUND, TEXTS)
    assert (fork and fork.token) == index


def test_arguments_that_markup_spells_one_by_one() -> None:
    tokens = [
        token("<function=ls><parameter=path>", 1),
        token("a\nb", 2, near=(3, -1.1)),
        token("</parameter></function>", 4),
    ]
    judged = response(tokens, said("", "", '{"path": "a\\nb"}'))
    texts = {1: "<function=ls><parameter=path>", 2: "a\nb", 3: "c", 4: "</parameter></function>"}
    assert near_tie_in_text(judged, said("", "", '{"path": "cd"}'), BOUND, texts) is not None
    assert near_tie_in_text(judged, said("", "", '{"path": "x"}'), BOUND, texts) is None


WORDS = (" the", " a", "\n", "\n\n", " ", "    ", "```", "<", "<d", "[", "{", "é", "the")
"""What may stand in a text: words, white space, and what a marker begins with, too."""


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.sampled_from(WORDS), min_size=2, max_size=12),
    st.integers(0, 10**6),
    st.sampled_from(WORDS),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=6),
)
def test_whatever_near_alternative_a_text_goes_on_with_explains_it(
    words: list[str], drawn: int, taken: str, after: list[str]
) -> None:
    place = drawn % len(words)
    tokens = [
        token(word, 100 + i, **({"near": (1, -1.1)} if i == place else {}))
        for i, word in enumerate(words)
    ]
    judged, other = "".join(words), "".join([*words[:place], taken, *after])
    start = len("".join(words[:place]))
    parted = next((i for i, (a, b) in enumerate(zip(judged, other, strict=False)) if a != b), None)
    assume(parted is not None and parted - start <= len(taken))
    assume(judged.strip() and other[start:].strip())
    texts = {1: taken, **{100 + i: word for i, word in enumerate(words)}}
    found = near_tie_in_text(response(tokens, said(judged)), said(other), BOUND, texts)
    assert found is not None
    assert found.token == place


@pytest.mark.parametrize("near", ["\n", " ", "<", "```"])
def test_a_near_alternative_before_a_lost_piece_does_not_excuse_it(near: str) -> None:
    """One newline is near two almost anywhere; the word behind them was lost all the same."""
    tokens = [
        token("It is", 2),
        token("\n\n", 3, near=(1, -1.1)),
        token("lost", 4),
        token(" here", 5),
    ]
    texts = {1: near, 2: "It is", 3: "\n\n", 4: "lost", 5: " here"}
    judged = response(tokens, said("It is\n\nlost here"))
    assert near_tie_in_text(judged, said("It is\n\n here"), BOUND, texts) is None


def test_the_place_where_a_real_baseline_left_its_own_answer() -> None:
    """A fence 0.25 nat above a newline: one stream closes the block, the other goes on in it."""
    tokens = [
        token("x.d", 2),
        token("\n", 198),
        token("```", 3, near=(198, -1.25)),
        token("\n", 198),
        token("The", 4),
    ]
    texts = {2: "x.d", 198: "\n", 3: "```", 4: "The"}
    judged = response(tokens, said("x.d\n```\nThe"))
    fork = near_tie_in_text(judged, said("x.d\n\n# lib"), BOUND, texts)
    assert fork == TextFork(2, pytest.approx(0.25))


def test_a_part_of_a_character_may_be_what_was_taken() -> None:
    tokens = [token("so", 2), token(" much", 3, near=(9, -1.2)), token(" so", 4)]
    texts = {2: "so", 3: " much", 4: " so", 9: "\ufffd"}
    judged = response(tokens, said("so much so"))
    assert near_tie_in_text(judged, said("so🎉"), BOUND, texts) is not None
    assert near_tie_in_text(judged, said("so much 🎉"), BOUND, texts) is None
