"""A path judged by its own tokens, where the baseline's answer is no reference for it.

In sampled turns and behind a near tie the two texts may differ. What no sound path hands on is a
fault all the same: arguments that are no JSON or break the schema though the model wrote them
right, calls and text that its tokens do not spell, reasoning shown as content. What the model
itself wrote wrongly is shown as information, and what both paths show as a warning.
"""

from collections import Counter
from collections.abc import Iterator

from checks import findings as f
from checks.calls.arguments import violates_schema
from checks.findings import INFO, Finding, NotJudged
from checks.formats import json_values, schema, written
from checks.formats.json_values import NotJson
from checks.formats.spelling import readable, unspelled
from checks.pair import PART, Message, Pair
from checks.request import named_tool, stop_strings, stop_token_ids, tool_schemas
from checks.tokens.fork import first_fork
from traces.wire.response import ToolCall

ARGUMENT_CODES = (f.ARGS_NOT_JSON, f.ARGS_SCHEMA, f.ARGS_DUPLICATED)
BY_THE_MODEL = ": the model wrote it so"


def check_alone(pair: Pair) -> Iterator[Finding | NotJudged]:
    """ARGS_*, TOOL_CALL_LOST and _EXTRA, CONTENT_DIFF, REASONING_DIFF by the path's own tokens."""
    message = pair.candidate.message
    if message is None or pair.text_comparable or pair.ends_inside:
        return
    own, fork = pair.candidate.own_text, first_fork(pair)
    if delivery_is_checked(pair):
        yield from _spelling(pair, message, pair.candidate.spelled or "")
    unseen = pair.compare_text and pair.sampled and pair.candidate.tokens is None
    if (fork is not None and not fork.explains) or (own is None and not unseen):
        for code in ARGUMENT_CODES:
            yield NotJudged(code, "neither the baseline's text nor the path's own tokens decide it")
        return
    for call in message.usable_calls:
        yield from _arguments(pair, message, call, own)
    if own is not None:
        yield from _number_of_calls(pair, message, own)


def delivery_is_checked(pair: Pair) -> bool:
    """Whether the delivered text, which the baseline's does not decide, is compared with the joined
    texts of the path's own tokens. It is in every turn, without a budget; what the server's
    parser makes of these tokens is compared besides (`checks.vllm.cutter`)."""
    message, own, fork = pair.candidate.message, pair.candidate.spelled, first_fork(pair)
    if message is None or own is None or not pair.candidate.tokens or not readable(own):
        return False
    if pair.text_comparable or pair.ends_inside or (fork is not None and not fork.explains):
        return False
    shown = (pair.request or {}).get("include_reasoning") is not False
    return shown and PART not in message.content + message.reasoning


def _arguments(
    pair: Pair, message: Message, call: ToolCall, own: str | None
) -> Iterator[Finding | NotJudged]:
    """The arguments of one call. Without tokens nothing tells the model's faults from the path's:
    then they are the path's, as in greedy turns."""
    place = f"call {call.index} ({call.name})"
    try:
        value = json_values.parse_plain(call.arguments)
    except NotJson as error:
        behind = json_values.behind(call.arguments)
        if pair.candidate.finish_reason == "length" and not behind:
            yield NotJudged(f.ARGS_NOT_JSON, f"call {call.index} ends at max_tokens")
            return
        by_model = own is not None and written.wrote_broken(own, call.arguments)
        too = any(not json_values.is_json(other.arguments) for other in _baseline_calls(pair))
        yield _fault(f.ARGS_NOT_JSON, f"{place}: {error}", call, by_model, too)
        how = json_values.repeats(call.arguments)
        if how is not None:
            yield _fault(f.ARGS_DUPLICATED, f"{place}: {how}", call, by_model, too)
        return
    rule = tool_schemas(pair.request or {}).get(call.name or "")
    try:
        wrong = [] if rule is None else schema.violations(rule, value)
        too = any(violates_schema(pair, other) for other in _baseline_calls(pair))
    except schema.UnusableSchema as error:
        yield NotJudged(f.ARGS_SCHEMA, f"the schema of {call.name!r}: {error}")
        return
    if wrong:
        by_model = own is not None and written.breaks_schema(
            own, call.arguments, rule, _calls_with_key(message)
        )
        yield _fault(f.ARGS_SCHEMA, f"{place}: {wrong[0]}", call, by_model, too)


def _fault(code: str, text: str, call: ToolCall, by_model: bool, too: bool) -> Finding:
    return Finding(
        code,
        text + (BY_THE_MODEL if by_model else ""),
        severity=INFO if by_model else "",
        candidate=call.arguments[-200:],
        baseline_too=too,
        detail={"call": call.index},
    )


def _baseline_calls(pair: Pair) -> tuple[ToolCall, ...]:
    return pair.baseline.message.calls if pair.baseline.message else ()


def _calls_with_key(message: Message) -> Counter[str]:
    counts: Counter[str] = Counter()
    for call in message.calls:
        if json_values.is_json(call.arguments):
            value = json_values.parse_plain(call.arguments)
            counts.update(value if isinstance(value, dict) else ())
    return counts


def _number_of_calls(pair: Pair, message: Message, own: str) -> Iterator[Finding]:
    """A name delivered more often than the tokens spell it is a call that was doubled; a whole call
    that is neither delivered nor shown was lost."""
    request = pair.request or {}
    tools = tool_schemas(request)
    if not tools or named_tool(request) or request.get("tool_choice") == "none":
        return
    for name, count in Counter(c.name or "" for c in message.usable_calls).items():
        spelled = written.times_spelled(own, name)
        if name in tools and count > spelled:
            yield Finding(
                f.TOOL_CALL_EXTRA,
                f"{count} calls of {name}, which the path's own tokens name {spelled} times",
                candidate=", ".join(str(call.name) for call in message.calls),
            )
    shown = message.calls or written.holds_whole_call(message.content + message.reasoning, tools)
    if not shown and written.holds_whole_call(_answer(own), tools):
        yield Finding(
            f.TOOL_CALL_LOST,
            "the path's own tokens hold a whole call, and none is delivered",
            candidate="no call",
        )


def _answer(own: str) -> str:
    """What the model wrote behind its reasoning, inside of which calls are no calls."""
    ends = [own.rfind(end) + len(end) for end in written.REASONING_ENDS if end in own]
    return own[max(ends) :] if ends else own


def _spelling(pair: Pair, message: Message, own: str) -> Iterator[Finding]:
    """Content and reasoning must be made of what the tokens spell, and reasoning stay reasoning.

    A replacement character in the delivered text has a code of its own; in the tokens' texts it
    stands for a part of a character.
    """
    request, reference = pair.request or {}, pair.baseline.message
    if not message.reasoning and reference is not None and reference.reasoning:
        thought = _thought(own)
        if thought and "".join(message.content.split()).startswith(thought):
            yield Finding(
                f.REASONING_DIFF,
                "the reasoning is shown as content; the path's own tokens end it before the answer",
                candidate=message.content[:80],
            )
    stopped = bool(stop_strings(request) or stop_token_ids(request))
    channel = unspelled(own, message, stopped=stopped, eos=pair.eos)
    if channel is None:
        return
    baseline = pair.baseline
    too = False
    if baseline.spelled is not None and baseline.message is not None:
        flaw = unspelled(baseline.spelled, baseline.message, stopped=stopped, eos=pair.eos)
        too = flaw is not None
    yield Finding(
        f.CONTENT_DIFF if channel == "content" else f.REASONING_DIFF,
        f"the {channel} is not what the path's own tokens spell",
        baseline=own[-200:],
        candidate=(message.content if channel == "content" else message.reasoning)[-200:],
        baseline_too=too,
    )


def _thought(own: str) -> str:
    """What the tokens say before the reasoning ends, without white space; empty without an end."""
    for end in written.REASONING_ENDS:
        if own.count(end) == 1:
            head = own.partition(end)[0]
            for begin in (end.replace("/", "", 1), end.replace("END_", "START_")):
                head = head.removeprefix(begin) if begin != end else head
            return "".join(head.split())
    return ""
