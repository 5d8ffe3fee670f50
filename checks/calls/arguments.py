"""Are the arguments of each call JSON, valid, and those of the reference?

Compared with the reference's message only: not judged where both sides carry tokens that differ.
"""

from collections.abc import Iterator

from checks import findings as f
from checks.calls.calls import CallPair, paired_calls, same_arguments
from checks.excerpt import around_difference
from checks.findings import Finding, NotJudged
from checks.formats import json_values, schema
from checks.formats.json_values import NotJson
from checks.pair import Pair, not_comparable
from checks.request import tool_schemas
from traces.wire.response import ToolCall

CODES = (f.ARGS_NOT_JSON, f.ARGS_SCHEMA, f.ARGS_DIFFER, f.ARGS_DUPLICATED)


def check_arguments(pair: Pair) -> Iterator[Finding | NotJudged]:
    """ARGS_NOT_JSON excludes ARGS_DIFFER and ARGS_SCHEMA; ARGS_DUPLICATED stands beside it."""
    if not pair.text_comparable:
        for code in CODES:
            yield NotJudged(code, not_comparable(pair))
        return
    for calls in paired_calls(pair):
        ours = calls[0]
        yield from _duplicated(pair, calls)
        problem = _problem(ours.arguments)
        if problem is None:
            yield from _schema(pair, calls)
            yield from _differ(pair, calls)
        elif pair.candidate.finish_reason == "length":
            yield NotJudged(f.ARGS_NOT_JSON, f"call {ours.index} ends at max_tokens")
        else:
            yield Finding(
                f.ARGS_NOT_JSON,
                f"call {ours.index} ({ours.name}): {problem}",
                baseline=_text(calls[1]),
                candidate=ours.arguments[-200:],
                baseline_too=_excused(pair, calls),
                detail={"call": ours.index},
            )


def _problem(arguments: str) -> str | None:
    try:
        json_values.parse(arguments)
    except NotJson as error:
        return str(error)
    return None


def _text(call: ToolCall | None) -> str | None:
    return None if call is None else call.arguments[-200:]


def _excused(pair: Pair, calls: CallPair) -> bool:
    """The baseline has the same flaw, and ended for the same reason.

    The same text is the same flaw. So is another text that is no JSON either, where both sides
    carry equal tokens: the model wrote what cannot be parsed, and how much of it a streaming parser
    hands on before it gives up depends on the cuts.
    """
    ours, theirs = calls
    if theirs is None or pair.baseline.finish_reason != pair.candidate.finish_reason:
        return False
    if theirs.arguments == ours.arguments:
        return True
    equal_tokens = pair.both_have_tokens and not pair.tokens_differ
    return equal_tokens and _problem(theirs.arguments) is not None


def _duplicated(pair: Pair, calls: CallPair) -> Iterator[Finding]:
    ours, theirs = calls
    how = json_values.repeats(ours.arguments)
    if how is not None:
        yield Finding(
            f.ARGS_DUPLICATED,
            f"call {ours.index} ({ours.name}): {how}",
            baseline=_text(theirs),
            candidate=ours.arguments[-200:],
            baseline_too=_excused(pair, calls),
            detail={"call": ours.index},
        )


def _schema(pair: Pair, calls: CallPair) -> Iterator[Finding | NotJudged]:
    """The tool's schema is violated where the reference's own arguments satisfy it."""
    ours, theirs = calls
    rule = tool_schemas(pair.request or {}).get(ours.name or "")
    if rule is None:
        return
    try:
        found = schema.violations(rule, json_values.parse_plain(ours.arguments))
        excused = theirs is None or _violates(pair, theirs)
    except schema.UnusableSchema as error:
        yield NotJudged(f.ARGS_SCHEMA, f"the schema of {ours.name!r}: {error}")
        return
    if found:
        yield Finding(
            f.ARGS_SCHEMA,
            f"call {ours.index} ({ours.name}): {found[0]}",
            baseline=_text(theirs),
            candidate=ours.arguments[:200],
            baseline_too=excused,
            detail={"call": ours.index, "violations": found},
        )


def _violates(pair: Pair, call: ToolCall) -> bool:
    """Whether the reference's call violates its own tool's schema, or is no JSON at all."""
    rule = tool_schemas(pair.request or {}).get(call.name or "")
    if rule is None:
        return False
    try:
        return bool(schema.violations(rule, json_values.parse_plain(call.arguments)))
    except NotJson:
        return True


def _differ(pair: Pair, calls: CallPair) -> Iterator[Finding]:
    """Another value or type, or the same arguments for another tool."""
    ours, theirs = calls
    if theirs is None or (pair.baseline.finish_reason == "length" and _problem(theirs.arguments)):
        return
    if not same_arguments(ours.arguments, theirs.arguments):
        yield Finding(
            f.ARGS_DIFFER,
            f"call {ours.index} ({ours.name}): {_where(ours.arguments, theirs.arguments)}",
            baseline=_text(theirs),
            candidate=ours.arguments[-200:],
            detail={"call": ours.index},
        )
    elif ours.name != theirs.name and ours.name in tool_schemas(pair.request or {}):
        yield Finding(
            f.ARGS_DIFFER,
            f"call {ours.index} gives {theirs.name}'s arguments to {ours.name}",
            baseline=theirs.name,
            candidate=ours.name,
            detail={"call": ours.index},
        )


def _where(ours: str, theirs: str) -> str:
    try:
        first = next(json_values.differences(json_values.parse(theirs), json_values.parse(ours)))
    except NotJson:
        left, right = around_difference(theirs, ours)
        return f"{right} where the baseline has {left}"
    return f"{first.pointer or '/'} is {first.right} where the baseline has {first.left}"
