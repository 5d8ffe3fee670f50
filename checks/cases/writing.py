"""A case file for one finding: minimized, redacted, and judged again to the same codes."""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from checks.cases.judge import SplitJudge, judge_scenario
from checks.cases.minimize import minimized
from checks.cases.parts import Scenario, scenario_of_pair, without_shared_flaws
from checks.cases.redaction import Redact, redacted
from checks.findings import CODES, ERROR, Finding
from checks.formats.schema import schema_problem
from checks.pair import Pair
from traces.cases.case import CASE_FORMAT, Case, CaseScenario


def case_of_pair(
    pair: Pair, finding: Finding, findings: Sequence[Finding], redact: Redact
) -> Case | None:
    """The smallest case that shows `finding`, one of `findings`, all those of this pair.

    `check` on it gives exactly the error codes of `findings` that an offline judgement can give;
    where it cannot give the finding's own code, there is no such case and the answer is `None`.
    """
    wanted = {other.code for other in findings if other.severity == ERROR} | {finding.code}
    shared = {other.code for other in findings if other.baseline_too}
    full = without_shared_flaws(_usable_schemas(scenario_of_pair(pair)), shared)
    full = redacted(full, redact)
    shown = set(codes_of(full))
    if finding.code not in shown:
        return None
    exact = shown <= wanted

    def shows(scenario: Scenario) -> bool:
        codes = set(codes_of(scenario))
        return codes == shown if exact else finding.code in codes and codes <= shown

    small = minimized(full, shows)
    return _case(finding, small, codes_of(small), redact(finding.message))


def case_of_cut(
    finding: Finding, scenario: Scenario, split_judge: SplitJudge, redact: Redact
) -> Case | None:
    """A case for a parser's cut fault; `scenario` names parsers, tokenizer, cuts and `raw_text`."""
    clean = redacted({"name": "seen", **scenario}, redact)
    codes = codes_of(clean, split_judge)
    return _case(finding, clean, codes, redact(finding.message)) if finding.code in codes else None


def codes_of(scenario: Scenario, split_judge: SplitJudge | None = None) -> list[str]:
    """The error codes of a scenario given as plain data; none where it is no valid scenario."""
    try:
        parsed = CaseScenario.model_validate(scenario)
    except ValidationError:
        return []
    return judge_scenario(parsed, split_judge).codes


def _case(finding: Finding, scenario: Scenario, codes: Sequence[str], message: str) -> Case:
    verdict = "fail" if codes else "pass"
    expected = {"verdict": verdict, "codes": list(codes), "note": message}
    return Case.model_validate(
        {
            "case": CASE_FORMAT,
            "kind": finding.code.lower(),
            "description": f"{CODES[finding.code].meaning}: {message}",
            "scenarios": [{**scenario, "expected": expected}],
        }
    )


def case_json(case: Case) -> dict[str, Any]:
    """The case as it is written to a file: absent parts are left out."""
    return case.model_dump(mode="python", exclude_unset=True, exclude_none=True)


def _usable_schemas(scenario: Scenario) -> Scenario:
    """Without tool schemas that are themselves invalid: `check` would refuse the whole file."""
    request = scenario.get("request")
    if not request or not request.get("tools"):
        return scenario
    tools = [_usable(tool) for tool in request["tools"]]
    return {**scenario, "request": {**request, "tools": tools}}


def _usable(tool: Scenario) -> Scenario:
    function = tool.get("function") or {}
    rule = function.get("parameters")
    if rule is None or schema_problem(rule) is None:
        return tool
    return {**tool, "function": {k: v for k, v in function.items() if k != "parameters"}}
