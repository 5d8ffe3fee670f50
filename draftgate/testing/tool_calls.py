"""Can a client run the tool calls of an answer?"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from draftgate.testing.answer import Answer
from draftgate.testing.both_paths import BothPaths

if TYPE_CHECKING:
    from checks.findings import Finding


def assert_tool_calls_valid(evidence: Answer | BothPaths, *, at_least: int = 0) -> None:
    """Each call has its header, names a tool of the request, and has valid JSON arguments.

        def test_calls(recorded_turn, both_paths):
            assert_tool_calls_valid(both_paths.candidate, at_least=1)

    Given both paths, calls are also compared with the baseline's (none lost, same arguments), and
    what the baseline gets wrong too is the model's fault. Where sampling or a near tie parts the
    two, the candidate's own tokens say what it should have delivered. A call that ends at
    max_tokens may be cut. `at_least` is the number of calls without which the answer is not
    accepted.

    Raises AssertionError with the calls of both sides (docs/findings.md, Tool calls).
    """
    __tracebackhide__ = True
    from checks.exact.judge import judge_pair
    from checks.findings import TOOL_CALLS
    from draftgate.testing.failure import errors_of, failure

    answer = evidence if isinstance(evidence, Answer) else evidence.candidate
    pair = evidence.alone() if isinstance(evidence, Answer) else evidence.pair()
    found = errors_of(judge_pair(pair).findings, frozenset({TOOL_CALLS}))
    if isinstance(evidence, Answer):
        reported = {(finding.code, finding.detail.get("call")) for finding in found}
        wrong = _wrong_arguments(answer)
        found += [one for one in wrong if (one.code, one.detail.get("call")) not in reported]
    if found:
        raise failure(evidence, pair, found)
    calls = len(answer.tool_calls)
    if calls < at_least:
        raise AssertionError(f"{answer!r}: {calls} tool calls, expected at least {at_least}")


def _wrong_arguments(answer: Answer) -> "Iterator[Finding]":
    """Arguments that are no JSON, or violate the tool's schema, without a baseline to excuse it."""
    from checks.findings import ARGS_NOT_JSON, ARGS_SCHEMA, Finding
    from checks.formats import json_values, schema
    from checks.request import tool_schemas

    if answer.finish_reason == "length":
        return
    declared = tool_schemas(dict(answer.request))
    for call in answer.tool_calls:
        place = f"call {call.index} ({call.name})"
        try:
            value = json_values.parse_plain(call.arguments)
        except json_values.NotJson as error:
            text = f"{place}: {error}: {call.arguments[-200:]}"
            yield Finding(ARGS_NOT_JSON, text, detail={"call": call.index})
            continue
        rule = declared.get(call.name or "")
        try:
            wrong = [] if rule is None else schema.violations(rule, value)
        except schema.UnusableSchema:
            continue
        if wrong:
            text = f"{place}: {'; '.join(wrong)}"
            yield Finding(ARGS_SCHEMA, text, detail={"call": call.index})
