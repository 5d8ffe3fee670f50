"""The verdict, from everything that was judged."""

import pytest

from checks.bounds import Bound, ControlResult, not_applicable
from checks.findings import Finding
from checks.power import detectable_acceptance_shift, detectable_rate, power_statement
from checks.verdict import decide

PASS, OPEN = Bound("a", "pass", "fine"), Bound("b", "inconclusive", "open", needed="10 more tokens")
BROKEN, ABSENT = Bound("c", "fail", "broken"), not_applicable("d", "no tools")
CAUGHT = ControlResult("swap", "GREEDY_DIVERGENCE", "caught", ("GREEDY_DIVERGENCE",), "")
MISSED = ControlResult("swap", "GREEDY_DIVERGENCE", "missed", (), "planted in one turn")
EMPTY = ControlResult("swap", "GREEDY_DIVERGENCE", "no_data", (), "too few tokens")
ERROR, INVALID = Finding("STREAM_NO_DONE", "no end"), Finding("NO_DRAFTS", "none")


@pytest.mark.parametrize(
    ("bounds", "findings", "controls", "word", "code"),
    [
        ([PASS, ABSENT], [], [CAUGHT], "pass", 0),
        ([PASS, OPEN], [], [CAUGHT], "inconclusive", 3),
        ([PASS], [], [EMPTY, CAUGHT], "inconclusive", 3),
        ([PASS], [], [], "inconclusive", 3),
        ([PASS, OPEN, BROKEN], [], [CAUGHT], "fail", 1),
        ([PASS], [ERROR], [CAUGHT], "fail", 1),
        ([PASS], [Finding("STREAM_NO_DONE", "x", severity="warning")], [CAUGHT], "pass", 0),
        ([PASS], [Finding("STREAM_NO_DONE", "x", baseline_too=True)], [CAUGHT], "pass", 0),
        ([BROKEN], [ERROR], [MISSED], "invalid", 2),
        ([PASS], [ERROR, INVALID], [CAUGHT], "invalid", 2),
        ([ABSENT], [], [CAUGHT], "invalid", 2),
        ([], [], [CAUGHT], "invalid", 2),
    ],
)
def test_words_and_exit_codes(bounds, findings, controls, word, code) -> None:
    verdict = decide(bounds, findings, controls)
    assert (verdict.verdict, verdict.exit_code) == (word, code)
    assert verdict.reasons


def test_a_setup_that_means_nothing_is_invalid() -> None:
    assert decide([PASS], [], [CAUGHT], setup=["no answer"]).reasons == ("no answer",)


def test_reasons_count_and_place_findings() -> None:
    twice = [
        Finding("ARGS_DIFFER", "other value", session="s", turn="t"),
        Finding("ARGS_DIFFER", "x"),
    ]
    assert decide([PASS], twice, [CAUGHT]).reasons == (
        "ARGS_DIFFER x 2: other value (session s, turn t)",
    )


def test_what_is_needed_is_said() -> None:
    assert decide([OPEN], [], [CAUGHT]).needed == ("b: 10 more tokens",)


def test_power_agrees_with_the_published_sizes() -> None:
    for tokens, rate in ((2_996, 1e-3), (29_958, 1e-4), (299_574, 1e-5)):
        assert detectable_rate(tokens) == pytest.approx(rate, rel=1e-3)
    for drafts, shift in ((1_250, 0.05), (7_812, 0.02), (31_247, 0.01)):
        assert detectable_acceptance_shift(0.7, drafts) == pytest.approx(shift, rel=1e-3)
    assert detectable_rate(0) is None
    assert "not measured" in power_statement(100, 1.0, None, None)


@pytest.mark.parametrize("acceptance", [0.0, 1.0])
def test_a_drafter_that_is_always_right_does_not_let_a_run_see_every_shift(
    acceptance: float,
) -> None:
    # Half a count of 100: 3.86 · sqrt(0.005 · 0.995 / 100) = 0.027
    few, many = (detectable_acceptance_shift(acceptance, drafts) for drafts in (100, 10_000))
    assert few == pytest.approx(0.027, rel=0.02)
    assert many is not None
    assert 0 < many < few / 10
