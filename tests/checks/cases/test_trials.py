"""Faults in several disguises and their sound twins: judged as each says, or known not to be."""

import json
from pathlib import Path

import pytest

from checks.cases.judge import judge_scenario
from tests.support.cases import TRIALS
from traces.cases.case import parse_case

NOT_YET: dict[tuple[str, str], str] = {}
"""Scenarios the rules of docs/case-rules.md decide and the code does not follow yet, and why. A
scenario that comes right must leave this table: the marks are strict."""


def scenarios() -> list[object]:
    found = []
    for file in TRIALS:
        for scenario in json.loads(file.read_text(encoding="utf-8"))["scenarios"]:
            key = (file.stem, scenario["name"])
            marks = [pytest.mark.xfail(reason=NOT_YET[key], strict=True)] if key in NOT_YET else []
            found.append(pytest.param(file, scenario, marks=marks, id=": ".join(key)))
    return found


@pytest.mark.parametrize(("file", "scenario"), scenarios())
def test_it_is_judged_as_it_says(file: Path, scenario: dict[str, object]) -> None:
    text = json.dumps({"case": 1, "kind": "trial", "scenarios": [scenario]})
    (parsed,) = parse_case(text, file.name).scenarios
    assert parsed.expected is not None
    judged = judge_scenario(parsed)
    assert judged.codes == sorted(parsed.expected.codes), parsed.expected.note
    assert judged.verdict == parsed.expected.verdict


def test_the_table_names_scenarios_that_exist() -> None:
    known = {
        (file.stem, scenario["name"])
        for file in TRIALS
        for scenario in json.loads(file.read_text(encoding="utf-8"))["scenarios"]
    }
    assert NOT_YET.keys() <= known
