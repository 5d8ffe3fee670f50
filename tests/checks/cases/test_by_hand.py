"""Scenarios whose codes were derived from the definitions by hand, each with its reason."""

from pathlib import Path

import pytest

from checks.cases.judge import judge_scenario
from traces.cases.case import read_case

FILE = Path(__file__).with_name("by_hand.case.json")


@pytest.mark.parametrize("scenario", read_case(FILE).scenarios, ids=lambda s: s.name)
def test_codes(scenario) -> None:
    assert scenario.expected is not None
    judged = judge_scenario(scenario)
    assert judged.codes == sorted(scenario.expected.codes), scenario.expected.note
    assert judged.verdict == scenario.expected.verdict
