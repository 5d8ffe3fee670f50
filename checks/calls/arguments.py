"""Are the arguments of each call JSON, valid, and those of the reference?

Compared with the reference's message only. Where that is no reference, the path's own tokens say
what they should be (`checks.exact.alone`). Where the candidate just ends inside the baseline's
tokens, half a call is no call all the same.
"""

from collections.abc import Iterator

from checks import findings as f
from checks.calls.calls import CallPair, paired_calls, same_arguments
from checks.excerpt import around_difference
from checks.findings import WARNING, Finding, NotJudged
from checks.formats import json_values, schema
from checks.formats.json_values import NotJson
from checks.pair import Pair, not_comparable
from checks.request import tool_schemas
from traces.wire.response import ToolCall

CUT_UNKNOWN = "arguments are JSON on neither side, and no tokens show where the stream was cut"
"""Parsers end what is no JSON in one way or another, depending on the cut."""

UNPARSED = "unparsed"
"""In the detail of an ARGS_DIFFER between texts that are JSON on neither side."""


def check_arguments(pair: Pair) -> Iterator[Finding | NotJudged]:
    """ARGS_NOT_JSON excludes ARGS_DIFFER and ARGS_SCHEMA; ARGS_DUPLICATED stands beside it."""
    comparable = pair.text_comparable
    if not comparable:
        for code in (f.ARGS_SCHEMA, f.ARGS_DIFFER) if pair.ends_inside else (f.ARGS_DIFFER,):
            yield NotJudged(code, not_comparable(pair))
        if not pair.ends_inside:
            return
    for calls in paired_calls(pair):
        candidate = calls[0]
        yield from _duplicated(pair, calls)
        problem = _problem(candidate.arguments)
        if problem is None and comparable:
            yield from _schema(pair, calls)
        broken = problem is not None and _broken_on_both(pair, calls)
        if comparable and (problem is None or (broken and pair.equal_tokens)):
            yield from _differ(pair, calls)
        elif comparable and broken:
            yield NotJudged(f.ARGS_DIFFER, CUT_UNKNOWN)
        if problem is not None:
            yield from _not_json(pair, calls, problem)


def _not_json(pair: Pair, calls: CallPair, problem: str) -> Iterator[Finding | NotJudged]:
    """`max_tokens` excuses arguments that are cut, and not what stands behind a whole value."""
    candidate = calls[0]
    if pair.candidate.finish_reason == "length" and not json_values.behind(candidate.arguments):
        yield NotJudged(f.ARGS_NOT_JSON, f"call {candidate.index} ends at max_tokens")
    else:
        yield Finding(
            f.ARGS_NOT_JSON,
            f"call {candidate.index} ({candidate.name}): {problem}",
            baseline=_text(calls[1]),
            candidate=candidate.arguments[-200:],
            baseline_too=_excused(pair, calls),
            detail={"call": candidate.index},
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
    carry equal tokens, or are known to: the model wrote what cannot be parsed. That the two texts
    differ is ARGS_DIFFER then.
    """
    candidate, baseline = calls
    if baseline is None or pair.baseline.finish_reason != pair.candidate.finish_reason:
        return False
    return baseline.arguments == candidate.arguments or _broken_on_both(pair, calls)


def _broken_on_both(pair: Pair, calls: CallPair) -> bool:
    """Equal tokens, one end, and arguments that are no JSON on either side: a model's fault, which
    both paths must hand on alike."""
    candidate, baseline = calls
    if baseline is None or pair.baseline.finish_reason != pair.candidate.finish_reason:
        return False
    broken = _problem(candidate.arguments) is not None and _problem(baseline.arguments) is not None
    return (pair.equal_tokens or pair.known_equal) and broken


def _duplicated(pair: Pair, calls: CallPair) -> Iterator[Finding]:
    candidate, baseline = calls
    how = json_values.repeats(candidate.arguments)
    if how is not None:
        yield Finding(
            f.ARGS_DUPLICATED,
            f"call {candidate.index} ({candidate.name}): {how}",
            baseline=_text(baseline),
            candidate=candidate.arguments[-200:],
            baseline_too=_excused(pair, calls),
            detail={"call": candidate.index},
        )


def _schema(pair: Pair, calls: CallPair) -> Iterator[Finding | NotJudged]:
    """The tool's schema is violated where the reference's own arguments satisfy it."""
    candidate, baseline = calls
    rule = tool_schemas(pair.request or {}).get(candidate.name or "")
    if rule is None:
        return
    try:
        found = schema.violations(rule, json_values.parse_plain(candidate.arguments))
        excused = baseline is None or violates_schema(pair, baseline)
    except schema.UnusableSchema as error:
        yield NotJudged(f.ARGS_SCHEMA, f"the schema of {candidate.name!r}: {error}")
        return
    if found:
        yield Finding(
            f.ARGS_SCHEMA,
            f"call {candidate.index} ({candidate.name}): {found[0]}",
            baseline=_text(baseline),
            candidate=candidate.arguments[:200],
            baseline_too=excused,
            detail={"call": candidate.index, "violations": found},
        )


def violates_schema(pair: Pair, call: ToolCall) -> bool:
    """Whether the reference's call violates its own tool's schema, or is no JSON at all."""
    rule = tool_schemas(pair.request or {}).get(call.name or "")
    if rule is None:
        return False
    try:
        return bool(schema.violations(rule, json_values.parse_plain(call.arguments)))
    except NotJson:
        return True


def _differ(pair: Pair, calls: CallPair) -> Iterator[Finding]:
    """Another value or type, or the same arguments for another tool; text where neither is JSON."""
    candidate, baseline = calls
    cut = pair.baseline.finish_reason == "length" and not _broken_on_both(pair, calls)
    if baseline is None or (cut and _problem(baseline.arguments)):
        return
    if not same_arguments(candidate.arguments, baseline.arguments):
        yield Finding(
            f.ARGS_DIFFER,
            f"call {candidate.index} ({candidate.name}): "
            f"{_where(candidate.arguments, baseline.arguments)}",
            severity=WARNING if candidate.arguments.strip() == baseline.arguments.strip() else "",
            baseline=_text(baseline),
            candidate=candidate.arguments[-200:],
            detail={
                "call": candidate.index,
                **({UNPARSED: True} if _broken_on_both(pair, calls) else {}),
            },
        )
    elif candidate.name != baseline.name and candidate.name in tool_schemas(pair.request or {}):
        yield Finding(
            f.ARGS_DIFFER,
            f"call {candidate.index} gives {baseline.name}'s arguments to {candidate.name}",
            baseline=baseline.name,
            candidate=candidate.name,
            detail={"call": candidate.index},
        )


def _where(candidate: str, baseline: str) -> str:
    try:
        first = next(
            json_values.differences(json_values.parse(baseline), json_values.parse(candidate))
        )
    except NotJson:
        left, right = around_difference(baseline, candidate)
        return f"{right} where the baseline has {left}"
    return f"{first.pointer or '/'} is {first.right} where the baseline has {first.left}"
