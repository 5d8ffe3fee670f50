"""Does a streaming parser give the same result wherever its input was cut?"""

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeAlias

from draftgate.testing.answer import Answer
from draftgate.testing.inconclusive import Inconclusive
from draftgate.testing.pieces import pieces_of

if TYPE_CHECKING:
    from checks.splits.cuts import Cut
    from checks.splits.parse_result import ParseResult
    from traces.cases.case import CaseScenario

Parser: TypeAlias = Callable[[Sequence[str]], Any]
"""Feeds the given deltas to a fresh parser and gives the result: an assistant message
(``{"content": …, "tool_calls": […]}``) or anything that compares by ``==``."""

Output: TypeAlias = "str | Sequence[str] | Answer | CaseScenario"
"""A text; its tokens' texts; an answer that carries them; or a scenario of a case file."""


class SplitWarning(UserWarning):
    """A cut changes the result by white space alone, or only the whole output in one delta, which
    no stream would send, changes it. The gate does not fail on either."""


def assert_split_invariant(
    parser: Parser,
    output: Output,
    *,
    draft_tokens: int = 3,
    cuts: int = 60,
    seed: int = 0,
) -> None:
    """A step that commits several tokens at once must not change what a parser makes of them.

        def parse(deltas):
            parser = MyParser()
            for delta in deltas:
                parser.feed(delta)
            return {"content": parser.content, "tool_calls": parser.calls}

        def test_no_cut_changes_the_parse():
            assert_split_invariant(parse, '<tool_call>{"name": "ls"}</tool_call>')

    One token per delta is the reference: what a server without a drafter sends. Compared with
    it are every cut in two, `cuts` random cuts into deltas of 1 … `draft_tokens` + 1 tokens, drawn
    by `seed`, and the cuts a scenario names. A plain text is cut into pieces that are about tokens.
    Equal means: text but for trailing white space, calls by name and typed JSON arguments. An
    exception of the parser is a result too. As in the gate, a difference that is white space of the
    text alone, or that one single delta alone shows, is a `SplitWarning`.

    For vLLM's own parsers use ``draftgate parsers``, or `draftgate.check` on a case file.

    Raises AssertionError with the smallest cut and both results; `Inconclusive` for an output of
    fewer than two tokens, or one whose token texts are not known.
    """
    __tracebackhide__ = True
    from checks.splits.judge import judge_given, judge_splits
    from draftgate.testing.split_failure import split_failure, split_warning

    pieces, recorded = _pieces(output)
    if len(pieces) < 2:
        raise Inconclusive(f"an output of {len(pieces)} tokens has no place to be cut at")

    def stream(cut: "Cut") -> "ParseResult":
        return _result(parser, _deltas(pieces, cut))

    every = judge_splits(pieces, stream, None, largest=draft_tokens + 1, count=cuts, seed=seed)
    for judged in (judge_given(pieces, stream, recorded), every):
        if judged.failure is not None and not judged.minor:
            raise split_failure(judged)
    if every.failure is not None:
        warnings.warn(split_warning(every), SplitWarning, stacklevel=2)


def _pieces(output: Output) -> "tuple[tuple[str, ...], list[Cut]]":
    """The tokens' texts, and the cuts that were recorded with them."""
    if isinstance(output, str):
        return pieces_of(output), []
    if isinstance(output, Answer):
        if output.token_texts is None:
            raise Inconclusive(f"{output!r} carries no token texts")
        return _without_end(output.token_texts), []
    if isinstance(output, Sequence):
        return tuple(output), []
    return _of_scenario(output)


def _without_end(texts: tuple[str, ...]) -> tuple[str, ...]:
    """No server hands the end token to its parser."""
    from checks.formats.markers import EOS

    return texts[:-1] if texts and texts[-1] in EOS else texts


def _of_scenario(scenario: "CaseScenario") -> "tuple[tuple[str, ...], list[Cut]]":
    """Recorded cuts are offsets of tokens, so they are used where the tokens' texts are known."""
    candidate = scenario.candidate
    texts = [token.text for token in (candidate and candidate.tokens) or ()]
    pieces = tuple(text for text in texts if text is not None)
    if candidate is not None and pieces and len(pieces) == len(texts):
        ends = tuple(accumulate(candidate.step_tokens or ()))
        cuts = [*scenario.context.partitions, tuple(end for end in ends if end < len(pieces))]
        return pieces, [cut for cut in cuts if cut and cut[-1] < len(pieces)]
    if candidate is None or candidate.raw_text is None:
        raise Inconclusive(f"scenario {scenario.name!r} holds no output (tokens or raw_text)")
    return pieces_of(candidate.raw_text), []


def _deltas(pieces: Sequence[str], cut: "Cut") -> list[str]:
    from checks.splits.cuts import deltas

    return ["".join(pieces[start:end]) for start, end in deltas(len(pieces), cut)]


def _result(parser: Parser, deltas: Sequence[str]) -> "ParseResult":
    from checks.cases.judge import message_of
    from checks.splits.parse_result import ParseResult

    try:
        value = parser(deltas)
    except Exception as error:
        return ParseResult(error=f"{type(error).__name__}: {error}"[:200])
    if isinstance(value, ParseResult):
        return value
    if isinstance(value, Mapping) and {"content", "tool_calls", "reasoning"} & set(value):
        whole = [_call(call) for call in value.get("tool_calls") or ()]
        message = message_of({**value, "tool_calls": whole})
        calls = tuple((call.name or "", call.arguments) for call in message.calls)
        return ParseResult(message.content, message.reasoning, calls)
    if isinstance(value, str):
        return ParseResult(value)
    return ParseResult(repr(value), spaced=True)


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    """A call as the API has it; name and arguments may stand outside `function`, as JSON or not."""
    inner = call.get("function", call)
    arguments = inner.get("arguments", "")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": "", "function": {"name": inner.get("name"), "arguments": text}}
