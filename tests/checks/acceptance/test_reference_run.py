"""A run against a reference run: real losses are seen, chance is not."""

import numpy as np

from checks.acceptance.profile_row import ProfileRow
from checks.acceptance.reference import compare_profiles, compare_with_reference
from checks.findings import Finding, NotJudged
from traces.boundaries.label import LABELS


def row(boundary: str, drafts: int, *accepted: int) -> ProfileRow:
    tokens = drafts * len(accepted)
    return ProfileRow(boundary, "0-8k", drafts, tokens, accepted, sum(accepted))


def fired(judged: list[Finding | NotJudged]) -> list[str]:
    return sorted({one.code for one in judged if isinstance(one, Finding)})


def test_a_plain_loss_is_seen() -> None:
    reference = [row("code", 2000, 1500, 1100, 700), row("prose", 2000, 1200, 700, 300)]
    collapsed = [row("code", 1000, 300, 150, 80), row("prose", 1000, 600, 350, 150)]
    assert fired(compare_with_reference(collapsed, reference)) == ["ACCEPTANCE_COLLAPSE"]
    decayed = [row("code", 1000, 740, 200, 60), row("prose", 1000, 600, 350, 150)]
    assert fired(compare_with_reference(decayed, reference)) == ["ACCEPTANCE_DEPTH_DECAY"]


def test_a_deep_position_reached_a_few_times_is_no_evidence() -> None:
    """c_2 is 1 of 8 against 4 of 8: a case file says lost, a run says chance."""
    reference, seen = [row("code", 120, 60, 8, 4)], [row("code", 120, 60, 8, 1)]
    assert fired(compare_profiles(seen, reference)) == ["ACCEPTANCE_DEPTH_DECAY"]
    assert fired(compare_with_reference(seen, reference)) == []


def test_a_drafter_against_itself_stays_quiet() -> None:
    """200 pairs of runs of one drafter, 16 labels, 100 to 400 drafts each, k = 4."""
    rng = np.random.default_rng(5)

    def run() -> list[ProfileRow]:
        rows = []
        for i, label in enumerate(LABELS):
            drafts = int(rng.integers(100, 400))
            accepted, left = [], drafts
            for _ in range(4):
                left = int(rng.binomial(left, 0.15 + 0.05 * i))
                accepted.append(left)
            rows.append(row(label, drafts, *accepted))
        return rows

    runs = [(run(), run()) for _ in range(200)]
    by_rule = sum(bool(fired(compare_profiles(*pair))) for pair in runs)
    with_certainty = sum(bool(fired(compare_with_reference(*pair))) for pair in runs)
    assert by_rule > 100  # why certainty is asked for
    assert with_certainty <= 2
