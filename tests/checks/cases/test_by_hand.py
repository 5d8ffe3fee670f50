"""Scenarios whose codes were derived from the definitions by hand, each with its reason."""

import pytest

from checks.cases.judge import judge_scenario
from tests.support.cases import BY_HAND
from traces.cases.case import read_case


@pytest.mark.parametrize("scenario", read_case(BY_HAND).scenarios, ids=lambda s: s.name)
def test_codes(scenario) -> None:
    assert scenario.expected is not None
    judged = judge_scenario(scenario)
    assert judged.codes == sorted(scenario.expected.codes), scenario.expected.note
    assert judged.verdict == scenario.expected.verdict
