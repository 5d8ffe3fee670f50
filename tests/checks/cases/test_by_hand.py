"""Scenarios whose codes were derived from the definitions by hand, each with its reason."""

import pytest

from checks.cases.judge import judge_scenario
from tests.support.cases import BY_HAND, ROUTES
from traces.cases.case import read_case

SCENARIOS = [*read_case(BY_HAND).scenarios, *read_case(ROUTES).scenarios]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
def test_codes(scenario) -> None:
    assert scenario.expected is not None
    judged = judge_scenario(scenario)
    assert judged.codes == sorted(scenario.expected.codes), scenario.expected.note
    assert judged.verdict == scenario.expected.verdict
