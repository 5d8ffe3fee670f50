"""How much may go unjudged."""

from checks.judged_share import Unjudged, judged_share_bound


def test_all_judged_is_a_pass() -> None:
    bound = judged_share_bound(1000, [])
    assert (bound.state, bound.value, bound.needed) == ("pass", 0.0, None)


def test_more_than_a_tenth_unjudged_leaves_the_run_open_and_says_why() -> None:
    """286 of 364 turns under a grammar: every other bound passes on the rest."""
    bound = judged_share_bound(7800, [Unjudged("a grammar masks tokens", 100)] * 286)
    assert bound.state == "inconclusive"
    assert bound.value == 28_600 / 36_400
    assert "28,600 tokens in 286 turns: a grammar masks tokens" in bound.message
    assert bound.needed == "turns that can be judged: a grammar masks tokens"


def test_a_tenth_is_inside() -> None:
    assert judged_share_bound(900, [Unjudged("a", 60), Unjudged("b", 40)]).state == "pass"
    assert judged_share_bound(899, [Unjudged("a", 60), Unjudged("b", 40)]).state == "inconclusive"


def test_no_reason_is_dropped_silently() -> None:
    bound = judged_share_bound(10_000, [Unjudged(name, 5) for name in "abcde"])
    assert "25 of 10,025 candidate tokens" in bound.message
    assert "10 tokens for other reasons" in bound.message


def test_nothing_sent_is_nothing_to_judge() -> None:
    assert judged_share_bound(0, []).state == "not_applicable"
