"""The likely cause of a finding is one the run shows."""

import pytest

from checks import findings as codes
from checks.causes import (
    BASELINE_TOO,
    BEHIND_THE_MODEL,
    FLAG_LOST,
    NOT_ROUNDING,
    ROUNDING,
    with_causes,
)
from checks.findings import Finding

EQUAL = {("main", "s", "t"), ("c16", "s", "t")}


def cause(finding: Finding, *others: Finding) -> str | None:
    return next(iter(with_causes([finding, *others], "main", EQUAL))).cause


def at(code: str, turn: str = "t", **more: object) -> Finding:
    return Finding(code, "seen", session="s", turn=turn, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("finding", "expected"),
    [
        (at(codes.GREEDY_DIVERGENCE), None),
        (
            at(codes.GREEDY_DIVERGENCE, detail={"recurs": "deterministic"}),
            NOT_ROUNDING["deterministic"],
        ),
        (
            at(codes.GREEDY_DIVERGENCE, detail={"recurs": "intermittent"}),
            NOT_ROUNDING["intermittent"],
        ),
        (at(codes.NEAR_TIE_FORK, detail={"kind": "near_tie"}), ROUNDING),
        (at(codes.NEAR_TIE_FORK, detail={"kind": "unscored"}), None),
        (at(codes.ARGS_NOT_JSON), BEHIND_THE_MODEL),
        (at(codes.CONTENT_DIFF, detail={"arm": "c16"}), BEHIND_THE_MODEL),
        (at(codes.CONTENT_DIFF, detail={"arm": "plain"}), None),
        (at(codes.ARGS_NOT_JSON, turn="forked"), None),
        (at(codes.ARGS_NOT_JSON, baseline_too=True), BASELINE_TOO),
        (at(codes.CHUNK_STALL), None),
        (at(codes.ACCEPTANCE_COLLAPSE), None),
    ],
)
def test_each_cause(finding: Finding, expected: str | None) -> None:
    assert cause(finding) == expected


def test_a_lost_flag_explains_lost_acceptance() -> None:
    lost = Finding(codes.DRAFTER_CONFIG_LOST, "fc_norm")
    assert cause(Finding(codes.ACCEPTANCE_COLLAPSE, "seen"), lost) == FLAG_LOST
    assert cause(lost) is None
