"""The verdict, from everything that was judged."""

import pytest

from checks.bounds import Bound, ControlResult, not_applicable
from checks.findings import Finding
from checks.power import detectable_rate, token_statement
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
    assert detectable_rate(0) is None


def test_power_tells_faults_spread_over_sessions_from_those_confined_to_some() -> None:
    # 29,958 / -ln 0.05 = 10,000.3, and half a token; of 24 sessions 1 - 0.05^(1/24) = 11.7%.
    said = token_statement(29_958, 24, None, [])
    assert "one wrong token in 10,001" in said
    assert "at least 12% of them" in said


def test_power_claims_nothing_where_no_single_token_condemns() -> None:
    said = token_statement(29_958, 24, "tails are heavy", [])
    assert said.endswith("since tails are heavy; and no number of them")
    said = token_statement(29_958, 24, "tails are heavy", [(0.3, 2e-3), (3.0, 5e-4)])
    assert said.endswith("one in 2,000 above 3 nat, in three sessions or more, would have")
    assert token_statement(0, 0, None, []) == "no greedy token was judged"
