"""NO_DRAFTS is said where the server's own numbers say so, and a missing flag is no drafter."""

import pytest

from checks.acceptance.no_drafts import DraftCounts, counted, judge_drafts
from traces.journal.server_sample import ServerSample


def codes(answers: tuple[int, int], silent: int, counters: DraftCounts) -> tuple[str, ...]:
    judged = judge_drafts(DraftCounts(*answers), silent, counters)
    return tuple(finding.code for finding in judged.findings) + tuple(b.name for b in judged.bounds)


UNREAD = DraftCounts()


@pytest.mark.parametrize(
    ("answers", "silent", "counters", "said"),
    [
        ((90, 40), 0, UNREAD, ()),
        ((0, 0), 0, UNREAD, ("NO_DRAFTS",)),  # every answer shows that it drafted nothing
        ((0, 0), 0, DraftCounts(50, 20), ("NO_DRAFTS",)),  # those were others' drafts
        ((100, 0), 0, UNREAD, ("NO_DRAFTS",)),
        ((99, 0), 0, UNREAD, ()),
        ((0, 0), 8, DraftCounts(72, 42), ()),  # a flag is missing, not the drafter
        ((0, 0), 8, DraftCounts(0, 0), ("NO_DRAFTS",)),
        ((0, 0), 8, DraftCounts(100, 0), ("NO_DRAFTS",)),
        ((0, 0), 8, UNREAD, ("drafted",)),  # nobody knows, and that is no pass
        ((5, 2), 8, UNREAD, ()),
        ((100, 0), 8, UNREAD, ()),  # the silent answers may have accepted some
    ],
)
def test_what_a_run_says_of_its_drafts(
    answers: tuple[int, int], silent: int, counters: DraftCounts, said: tuple[str, ...]
) -> None:
    assert codes(answers, silent, counters) == said


def test_what_is_not_known_leaves_the_verdict_open_and_says_what_would_decide() -> None:
    (bound,) = judge_drafts(DraftCounts(0, 0), 8, UNREAD).bounds
    assert bound.state == "inconclusive"
    assert "--per-request-spec-decode-metrics=detailed" in str(bound.needed)


def test_a_missing_flag_is_named_with_what_the_counters_show() -> None:
    (note,) = judge_drafts(DraftCounts(0, 0), 8, DraftCounts(72, 42)).notes
    assert note.startswith("8 answers of the candidate do not show their drafts step by step")
    assert "its counters show 72 drafts, 42 tokens accepted" in note
    assert "start it with --per-request-spec-decode-metrics=detailed" in note
    assert judge_drafts(DraftCounts(90, 40), 0, DraftCounts(90, 40)).notes == ()


def sample(at: float, generated: float | None, drafts: float | None) -> ServerSample:
    return ServerSample(
        "candidate", "main", "http://c", at, generation_tokens=generated, drafts=drafts,
        accepted_tokens=drafts,
    )  # fmt: skip


def test_a_server_that_counts_and_has_no_counters_of_drafts_drafted_nothing() -> None:
    assert counted([sample(0, 5, None), sample(1, 90, None)]) == DraftCounts(0.0, 0.0)
    assert counted([sample(0, 5, 7), sample(1, 90, 9)]) == DraftCounts(2, 2)
    assert counted([sample(0, None, None)]) == DraftCounts()
    assert counted([]) == DraftCounts()
