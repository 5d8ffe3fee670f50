"""Did the output end where and as it should? finish_reason, stop strings, EOS, premature ends."""

import json
from collections.abc import Iterator

from checks import findings as f
from checks.calls.calls import same_call
from checks.exact.channels import strings_of
from checks.exact.content import same_content
from checks.findings import Finding, NotJudged
from checks.formats.output_format import output_format
from checks.formats.patterns import NotCheckable
from checks.pair import Message, Pair, Side
from checks.request import named_tool, token_limit
from checks.tokens.fork import first_fork
from traces.wire.response import Response, ToolCall

PROTOCOL = frozenset({"stop", "length", "tool_calls", "content_filter", "function_call"})
"""The finish reasons of the chat completions protocol; vLLM has further ones (``abort``,
``repetition``, ``error``), which no client knows."""


def check_finish(pair: Pair) -> Iterator[Finding | NotJudged]:
    """A reason that contradicts the output, the reference or the protocol.

    A usable call that ends neither with tool_calls nor length (a named tool_choice may say stop, as
    OpenAI and vLLM do); the same output as the reference with another reason; a reason outside the
    protocol, where no code of the text or its format says already that something is missing; and
    an end inside the reference's tokens for a reason that no other check looks at.
    """
    ours, theirs = pair.candidate, pair.baseline
    if ours.message is None or not ours.finish_reason:
        yield NotJudged(f.FINISH_REASON_WRONG, "the candidate's output or reason is unknown")
        return
    why = _why_wrong(pair)
    if why is not None:
        same = theirs.finish_reason == ours.finish_reason
        yield Finding(
            f.FINISH_REASON_WRONG,
            f"finish_reason is {ours.finish_reason} {why}; the baseline has {theirs.finish_reason}",
            baseline=theirs.finish_reason,
            candidate=ours.finish_reason,
            baseline_too=same and _contradicts(pair, theirs),
        )


def _why_wrong(pair: Pair) -> str | None:
    ours, theirs = pair.candidate, pair.baseline
    if _contradicts(pair, ours):
        return "with a usable call"
    if theirs.finish_reason == ours.finish_reason:
        return None
    if theirs.finish_reason and same_output(pair):
        return "for the output of the baseline"
    if ours.finish_reason not in PROTOCOL:
        return None if _loss_is_said(pair) else "and the protocol does not know it"
    unlimited = pair.request is None or token_limit(pair.request) is None
    looked_at = {"stop", "tool_calls"} | (set() if unlimited else {"length"})
    if pair.ends_inside and theirs.finish_reason and ours.finish_reason not in looked_at:
        return "inside the baseline's tokens"
    return None


def _loss_is_said(pair: Pair) -> bool:
    """Whether a code of the text, of the calls or of the format tells that something is missing."""
    message = pair.candidate.message
    if message is None or (pair.text_comparable and not same_output(pair)):
        return True
    wanted = None if pair.request is None else output_format(pair.request)
    if wanted is None or message.calls:
        return False
    try:
        return wanted.violation(message.content) is not None
    except NotCheckable:
        return False


def check_one_finish(pair: Pair) -> Iterator[Finding]:
    """A stream ends once: two reasons in it, or output behind the first, mislead its client.

    One client stops reading at the first reason and loses the rest, another acts on the last.
    """
    ours, theirs = pair.candidate.stream, pair.baseline.stream
    flaw = None if ours is None else _ends_twice(ours)
    if ours is not None and flaw is not None:
        yield Finding(
            f.FINISH_REASON_WRONG,
            flaw,
            candidate=", ".join(ours.finish_reasons),
            baseline=None if theirs is None else ", ".join(theirs.finish_reasons),
            baseline_too=theirs is not None and _ends_twice(theirs) is not None,
        )


def _ends_twice(stream: Response) -> str | None:
    reasons = stream.finish_reasons
    if len(set(reasons)) > 1:
        return f"one stream carries the finish reasons {', then '.join(reasons[:4])}"
    if stream.after_finish:
        chunks = "one chunk" if stream.after_finish == 1 else f"{stream.after_finish} chunks"
        return f"{chunks} of output behind finish_reason {reasons[0]}"
    return None


def _contradicts(pair: Pair, side: Side) -> bool:
    allowed = {"tool_calls", "length"}
    if pair.request is not None and named_tool(pair.request):
        allowed.add("stop")
    usable = side.message is not None and bool(side.message.usable_calls)
    return usable and side.finish_reason not in allowed


def same_output(pair: Pair) -> bool:
    """Whether both sides gave the same output: message and tokens, as far as both are known."""
    ours, theirs = pair.candidate.message, pair.baseline.message
    if pair.tokens_differ or ours is None or not pair.compare_text:
        return False
    if theirs is None:
        reasons = {pair.candidate.finish_reason, pair.baseline.finish_reason}
        return pair.both_have_tokens and "tool_calls" not in reasons
    wanted = None if pair.request is None else output_format(pair.request)
    return (
        same_content(ours.content, theirs.content, wanted)
        and ours.reasoning.rstrip() == theirs.reasoning.rstrip()
        and len(ours.calls) == len(theirs.calls)
        and all(same_call(a, b) for a, b in zip(ours.calls, theirs.calls, strict=True))
    )


def check_premature(pair: Pair) -> Iterator[Finding | NotJudged]:
    """PREMATURE_EOS: finish stop, every counted token delivered, output inside the reference's.

    A stop behind calls is called tool_calls: then equal tokens up to there must show that the model
    went on. A fork that rounding explains may end one output early, and `raw_text` that still
    carries what is missing shows a parser's loss, not an early end.
    """
    ours, theirs = pair.candidate, pair.baseline
    stopped = ours.finish_reason == "stop"
    stopped |= ours.finish_reason == "tool_calls" and pair.ends_inside
    if not stopped or ours.message is None:
        return
    if theirs.message is None or not pair.compare_text or ours.delivered is None:
        yield NotJudged(f.PREMATURE_EOS, "the baseline's message, or the token ids, are unknown")
        return
    fork = first_fork(pair)
    if fork is not None and fork.explains:
        yield NotJudged(f.PREMATURE_EOS, "the outputs part at a fork inside the noise")
        return
    if pair.both_have_tokens and not pair.tokens_differ:
        return
    inside = _is_inside(ours.message, theirs.message)
    if inside and ours.delivered == ours.completion_tokens and not _still_carried(pair):
        yield Finding(
            f.PREMATURE_EOS,
            f"the output ends after {ours.delivered} tokens, inside the baseline's",
            baseline=_tail(theirs.message),
            candidate=_tail(ours.message),
        )


def _is_inside(ours: Message, theirs: Message) -> bool:
    """Reasoning, content, calls: a proper prefix of the reference's, trailing white space aside."""
    if ours.reasoning.rstrip() != theirs.reasoning.rstrip():
        rest = ours.content.strip() or ours.calls
        return not rest and theirs.reasoning.startswith(ours.reasoning.rstrip())
    if ours.content.rstrip() != theirs.content.rstrip():
        return not ours.calls and theirs.content.startswith(ours.content.rstrip())
    equal = 0
    for mine, other in zip(ours.calls, theirs.calls, strict=False):
        if not same_call(mine, other):
            break
        equal += 1
    if equal == len(ours.calls):
        return equal < len(theirs.calls)
    if equal < len(ours.calls) - 1 or equal == len(theirs.calls):
        return False
    return _begins(ours.calls[equal], theirs.calls[equal])


def _begins(ours: ToolCall, theirs: ToolCall) -> bool:
    whole = len(ours.arguments) == len(theirs.arguments)
    return ours.name == theirs.name and not whole and theirs.arguments.startswith(ours.arguments)


def _still_carried(pair: Pair) -> bool:
    """Whether `raw_text` holds all of the reference: nothing is missing there."""
    raw, reference = pair.candidate.raw_text, pair.baseline.message
    if raw is None or reference is None:
        return False
    texts = [reference.reasoning.strip(), reference.content.strip()]
    names = [call.name or "" for call in reference.calls]
    values = [value for call in reference.calls for value in strings_of(call.arguments)]
    return (
        all(text in raw for text in texts)
        and all(raw.count(name) >= names.count(name) for name in names)
        and all(value in raw or json.dumps(value)[1:-1] in raw for value in values)
    )


def _tail(message: Message) -> str:
    calls = ", ".join(f"{call.name}({call.arguments[-40:]})" for call in message.calls)
    return f"{message.reasoning[-40:]}|{message.content[-40:]}|{calls}"
