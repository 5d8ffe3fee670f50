"""ACCEPTANCE_*, METRIC_*, DRAFTER_CONFIG_LOST and PREFIX_CACHE_LOST, each with its near miss."""

import json
from typing import Any

import pytest

from checks.acceptance.reference import judge_profile
from checks.exact.counts import judge_prefix_cache
from checks.findings import Finding, NotJudged
from tests.support.cases import FOLDER


def row(drafts: int, *accepted: int, **more: Any) -> dict[str, Any]:
    base = {
        "boundary": "all",
        "context_bucket": "0-8k",
        "num_drafts": drafts,
        "num_draft_tokens": drafts * len(accepted),
        "accepted_per_pos": list(accepted),
        "num_accepted_tokens": sum(accepted),
    }
    return {**base, **more}


def fired(judged: list[Finding | NotJudged]) -> tuple[str, ...]:
    return tuple(sorted({one.code for one in judged if isinstance(one, Finding)}))


def codes(profile: Any, reference: Any, **more: Any) -> tuple[str, ...]:
    return fired(judge_profile({"profile": profile, "reference": reference, **more}))


REFERENCE = row(1000, 800, 600, 400)


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        ((800, 600, 400), ()),
        ((179, 0, 0), ("ACCEPTANCE_DEAD",)),  # 0.179 a draft, reference 1.8: just below a tenth
        ((181, 0, 0), ("ACCEPTANCE_COLLAPSE",)),  # just above it, and c_0 0.181 of 0.8
        ((399, 300, 200), ("ACCEPTANCE_COLLAPSE",)),  # 0.399 < 0.5 x 0.8
        ((400, 300, 200), ()),  # exactly half is healthy
        ((720, 323, 215), ("ACCEPTANCE_DEPTH_DECAY",)),  # c_0 90%, c_1 0.449 < 0.6 x 0.75
        ((720, 324, 216), ()),  # c_1 0.45 = 0.6 x 0.75
        ((719, 300, 200), ()),  # c_0 below 90%: not depth decay
        ((800, 600, 239), ("ACCEPTANCE_DEPTH_DECAY",)),  # c_2 0.398 < 0.6 x 0.667
    ],
)
def test_one_row_against_its_reference(accepted: tuple[int, ...], expected: tuple[str]) -> None:
    assert codes([row(1000, *accepted)], [REFERENCE]) == expected


def test_drafts_of_several_lengths_are_compared_only_where_they_were_drafted() -> None:
    """Half of the drafts are one token long; what is drafted is accepted as in the reference."""
    varying = row(4000, 3000, 1150, 900, num_draft_tokens=8000)
    reference = row(4000, 3000, 2300, 1800)
    judged = judge_profile({"profile": [varying], "reference": [reference]})
    assert fired(judged) == ()
    (unknown,) = [one for one in judged if isinstance(one, NotJudged)]
    assert "reached_per_pos" in unknown.reason
    known = {**varying, "reached_per_pos": [4000, 1500, 1150]}
    assert judge_profile({"profile": [known], "reference": [reference]}) == []
    lost = {**known, "accepted_per_pos": [3000, 600, 470], "num_accepted_tokens": 4070}
    lost |= {"reached_per_pos": [4000, 1500, 600]}  # c_1 0.4 < 0.6 x 0.767
    assert codes([lost], [reference]) == ("ACCEPTANCE_DEPTH_DECAY",)


def test_fewer_than_a_hundred_drafts_on_either_side_are_not_judged() -> None:
    assert codes([row(99, 0, 0, 0)], [REFERENCE]) == ()
    assert codes([row(1000, 0, 0, 0)], [row(99, 80, 60, 40)]) == ()
    assert codes([row(100, 0, 0, 0)], [row(100, 80, 60, 40)]) == ("ACCEPTANCE_DEAD",)
    judged = judge_profile({"profile": [row(99, 0)], "reference": [REFERENCE]})
    assert {one.reason for one in judged if isinstance(one, NotJudged)} == {
        "all, 0-8k: 99 drafts are too few (at least 100)"
    }


def test_without_a_reference_only_a_dead_drafter_is_reported() -> None:
    assert codes([row(5000, 0, 0, 0)], None) == ("ACCEPTANCE_DEAD",)
    assert codes([row(5000, 500, 5, 0)], None) == ()


def test_a_row_is_paired_by_boundary_and_band() -> None:
    profile = [row(1000, 100, 50, 20, boundary="code"), row(1000, 800, 600, 400)]
    assert codes(profile, [REFERENCE]) == ()
    reference = [REFERENCE, row(1000, 800, 600, 400, boundary="code")]
    assert codes(profile, reference) == ("ACCEPTANCE_COLLAPSE",)


def test_dead_counts_all_rows_together() -> None:
    dead, fine = row(1000, 10, 0, 0, boundary="code"), row(1000, 800, 600, 400)
    reference = [REFERENCE, row(1000, 800, 600, 400, boundary="code")]
    assert codes([dead, fine], reference) == ("ACCEPTANCE_COLLAPSE",)
    assert codes([dead, row(1000, 5, 0, 0)], reference) == ("ACCEPTANCE_DEAD",)


def test_sticky_needs_the_band_to_have_been_healthy_before() -> None:
    short, long = {"context_bucket": "0-8k"}, {"context_bucket": "64k-128k"}
    reference = [row(1000, 800, 600, 400, **short), row(1000, 600, 300, 100, **long)]
    visits = [
        row(1000, 780, 590, 390, visit=0, **short),
        row(1000, 100, 10, 0, visit=1, **long),
        row(1000, 200, 50, 10, visit=2, **short),
    ]
    order = ["0-8k", "64k-128k", "0-8k"]
    assert codes(visits, reference, order=order) == ("ACCEPTANCE_COLLAPSE", "ACCEPTANCE_STICKY")
    recovered = [*visits[:2], row(1000, 780, 590, 390, visit=2, **short)]
    assert codes(recovered, reference, order=order) == ("ACCEPTANCE_COLLAPSE",)
    never_healthy = [row(1000, 200, 50, 10, visit=0, **short), *visits[1:]]
    assert codes(never_healthy, reference, order=order) == ("ACCEPTANCE_COLLAPSE",)


def test_visit_pairs_only_where_the_reference_has_it() -> None:
    visits = [row(1000, 800, 600, 400, visit=0), row(1000, 300, 200, 100, visit=1)]
    expected_drop = [row(1000, 800, 600, 400, visit=0), row(1000, 310, 200, 100, visit=1)]
    assert codes(visits, expected_drop) == ()
    assert codes(visits, [REFERENCE]) == ("ACCEPTANCE_COLLAPSE", "ACCEPTANCE_STICKY")


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        (row(100, 60, 72, 20, num_accepted_tokens=152), ("METRIC_NOT_MONOTONE",)),
        (row(100, 60, 40, 20, num_accepted_tokens=121), ("METRIC_SUM",)),
        (row(100, 101, 40, 20), ("METRIC_SUM",)),
        (row(100, 60, 40, 20, num_draft_tokens=119), ("METRIC_SUM",)),
        (row(100, 60, 40, 20, num_draft_tokens=120), ()),
        (row(100, 60, 60, 60), ()),
    ],
)
def test_counters_of_a_row(profile: dict[str, Any], expected: tuple[str]) -> None:
    assert codes([profile], None) == expected


def test_a_row_with_a_metric_code_is_judged_no_further() -> None:
    broken = row(1000, 1, 0, 0, num_accepted_tokens=2)
    assert codes([broken], [REFERENCE]) == ("METRIC_SUM",)


def step(drafted: int, accepted: int, committed: int, **more: Any) -> dict[str, Any]:
    return {"drafted": drafted, "accepted": accepted, "committed": committed, **more}


@pytest.mark.parametrize(
    ("steps", "tokens", "expected"),
    [
        ([step(3, 2, 3), step(3, 3, 2, terminal=True)], 5, ()),
        ([step(3, 2, 3), step(3, 3, 2)], 5, ("METRIC_SUM",)),
        ([step(3, 2, 2, terminal=False), step(3, 0, 1)], 3, ("METRIC_SUM",)),
        ([step(3, 2, 3), step(3, 0, 1)], 5, ("METRIC_SUM",)),
        ([step(3, 4, 5)], 5, ("METRIC_SUM",)),
        ([step(3, 1, 3, terminal=True)], 3, ("METRIC_SUM",)),
        ([step(3, 2, 3)], None, ()),
        ([], 5, ()),
    ],
)
def test_counters_of_steps(steps: Any, tokens: int | None, expected: tuple[str]) -> None:
    assert fired(judge_profile({"steps": steps, "completion_tokens": tokens})) == expected


@pytest.mark.parametrize(
    ("draft", "effective", "expected"),
    [
        ({"fc_norm": True}, {}, ("DRAFTER_CONFIG_LOST",)),
        ({"fc_norm": True}, {"fc_norm": False}, ("DRAFTER_CONFIG_LOST",)),
        ({"fc_norm": True}, {"fc_norm": True}, ()),
        ({"fc_norm": False, "layers": 1}, {}, ()),
        ({"eagle_config": {"norm_output": True}}, {"norm_output": True}, ()),
        ({"eagle_config": {"norm_output": True}}, {"eagle_config": {}}, ("DRAFTER_CONFIG_LOST",)),
        ({"fc_norm": True}, None, ()),
    ],
)
def test_drafter_flags(draft: Any, effective: Any, expected: tuple[str]) -> None:
    parts = {"draft_config": draft, "effective_config": effective}
    assert fired(judge_profile(parts)) == expected


@pytest.mark.parametrize(
    ("baseline", "candidate", "block", "fires"),
    [
        (8192, 0, 16, True),
        (8192, 8176, 16, False),
        (600, 536, 16, False),  # exactly four blocks
        (600, 535, 16, True),
        (8192, 7373, 16, False),  # 819 of 819.2
        (8192, 7372, 16, True),
        (600, 536, 32, False),
        (6432, 0, 2144, True),  # three blocks of a hybrid model
        (4288, 0, 2144, True),
        (2144, 0, 2144, False),  # one block is lost by design
        (6432, 2144, 2144, False),
        (1024, 0, 512, True),
        (1023, 0, 256, False),
        (None, 0, 16, False),
    ],
)
def test_prefix_cache(baseline: Any, candidate: int, block: int, fires: bool) -> None:
    judged = judge_prefix_cache(baseline, candidate, block)
    assert fired(judged) == (("PREFIX_CACHE_LOST",) if fires else ())


@pytest.mark.parametrize(
    "kind", ["acceptance_dead_drafter", "acceptance_depth_decay", "acceptance_metric_inconsistent"]
)
def test_known_cases(kind: str) -> None:
    case = json.loads((FOLDER / "kinds" / f"{kind}.json").read_text())
    for scenario in case["scenarios"]:
        seen = fired(judge_profile(scenario["acceptance"]))
        assert list(seen) == sorted(scenario["expected"]["codes"]), scenario["name"]
