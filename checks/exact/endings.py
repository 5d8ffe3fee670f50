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
    candidate, baseline = pair.candidate, pair.baseline
    if candidate.message is None or not candidate.finish_reason:
        yield NotJudged(f.FINISH_REASON_WRONG, "the candidate's output or reason is unknown")
        return
    why = _why_wrong(pair)
    if why is not None:
        same = baseline.finish_reason == candidate.finish_reason
        yield Finding(
            f.FINISH_REASON_WRONG,
            f"finish_reason is {candidate.finish_reason} {why}; "
            f"the baseline has {baseline.finish_reason}",
            baseline=baseline.finish_reason,
            candidate=candidate.finish_reason,
            baseline_too=same and _contradicts(pair, baseline),
        )


def _why_wrong(pair: Pair) -> str | None:
    candidate, baseline = pair.candidate, pair.baseline
    if _contradicts(pair, candidate):
        return "with a usable call"
    if baseline.finish_reason == candidate.finish_reason:
        return None
    if baseline.finish_reason and same_output(pair):
        return "for the output of the baseline"
    if candidate.finish_reason not in PROTOCOL:
        return None if _loss_is_said(pair) else "and the protocol does not know it"
    unlimited = pair.request is None or token_limit(pair.request) is None
    looked_at = {"stop", "tool_calls"} | (set() if unlimited else {"length"})
    if pair.ends_inside and baseline.finish_reason and candidate.finish_reason not in looked_at:
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
    candidate, baseline = pair.candidate.stream, pair.baseline.stream
    flaw = None if candidate is None else _ends_twice(candidate)
    if candidate is not None and flaw is not None:
        yield Finding(
            f.FINISH_REASON_WRONG,
            flaw,
            candidate=", ".join(candidate.finish_reasons),
            baseline=None if baseline is None else ", ".join(baseline.finish_reasons),
            baseline_too=baseline is not None and _ends_twice(baseline) is not None,
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
    if side.stream is not None and side.stream.route == "messages" and side.stream.stop_reason:
        # A stop sequence inside a call: `stop_sequence` says that it must not run.
        allowed.add("stop")
    usable = side.message is not None and bool(side.message.usable_calls)
    return usable and side.finish_reason not in allowed


def same_output(pair: Pair) -> bool:
    """Whether both sides gave the same output: message and tokens, as far as both are known."""
    candidate, baseline = pair.candidate.message, pair.baseline.message
    if pair.tokens_differ or candidate is None or not pair.compare_text:
        return False
    if baseline is None:
        reasons = {pair.candidate.finish_reason, pair.baseline.finish_reason}
        return pair.both_have_tokens and "tool_calls" not in reasons
    wanted = None if pair.request is None else output_format(pair.request)
    return (
        same_content(candidate.content, baseline.content, wanted)
        and candidate.reasoning.rstrip() == baseline.reasoning.rstrip()
        and len(candidate.calls) == len(baseline.calls)
        and all(same_call(a, b) for a, b in zip(candidate.calls, baseline.calls, strict=True))
    )


def check_premature(pair: Pair) -> Iterator[Finding | NotJudged]:
    """PREMATURE_EOS: finish stop, every counted token delivered, output inside the reference's.

    A stop behind calls is called tool_calls: then equal tokens up to there must show that the model
    went on. A fork that rounding explains may end one output early, and `raw_text` that still
    carries what is missing shows a parser's loss, not an early end.
    """
    candidate, baseline = pair.candidate, pair.baseline
    stopped = candidate.finish_reason == "stop"
    stopped |= candidate.finish_reason == "tool_calls" and pair.ends_inside
    if not stopped or candidate.message is None:
        return
    if baseline.message is None or not pair.compare_text or candidate.delivered is None:
        yield NotJudged(f.PREMATURE_EOS, "the baseline's message, or the token ids, are unknown")
        return
    fork = first_fork(pair)
    if fork is not None and fork.explains:
        yield NotJudged(f.PREMATURE_EOS, "the outputs part at a fork inside the noise")
        return
    if pair.both_have_tokens and not pair.tokens_differ:
        return
    inside = _is_inside(candidate.message, baseline.message)
    if inside and candidate.delivered == candidate.completion_tokens and not _still_carried(pair):
        yield Finding(
            f.PREMATURE_EOS,
            f"the output ends after {candidate.delivered} tokens, inside the baseline's",
            baseline=_tail(baseline.message),
            candidate=_tail(candidate.message),
        )


def _is_inside(candidate: Message, baseline: Message) -> bool:
    """Reasoning, content, calls: a proper prefix of the reference's, trailing white space aside."""
    if candidate.reasoning.rstrip() != baseline.reasoning.rstrip():
        rest = candidate.content.strip() or candidate.calls
        return not rest and baseline.reasoning.startswith(candidate.reasoning.rstrip())
    if candidate.content.rstrip() != baseline.content.rstrip():
        return not candidate.calls and baseline.content.startswith(candidate.content.rstrip())
    equal = 0
    for mine, other in zip(candidate.calls, baseline.calls, strict=False):
        if not same_call(mine, other):
            break
        equal += 1
    if equal == len(candidate.calls):
        return equal < len(baseline.calls)
    if equal < len(candidate.calls) - 1 or equal == len(baseline.calls):
        return False
    return _begins(candidate.calls[equal], baseline.calls[equal])


def _begins(candidate: ToolCall, baseline: ToolCall) -> bool:
    whole = len(candidate.arguments) == len(baseline.arguments)
    return (
        candidate.name == baseline.name
        and not whole
        and baseline.arguments.startswith(candidate.arguments)
    )


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
