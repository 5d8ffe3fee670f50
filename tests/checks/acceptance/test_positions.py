"""Drafted positions: which token, which label, how far from the last boundary."""

import numpy as np

from checks.acceptance.drafting import Drafting
from checks.acceptance.positions import DISTANCES, Boundaries, DraftPositions, band_indices, join
from checks.acceptance.profile_sums import DIMENSIONS
from checks.acceptance.steps import StepFacts, Steps, reconcile
from reports.schema import ENUMS, TABLE
from traces.bands import BANDS, band_of
from traces.boundaries.label import INDEX, LABELS
from traces.boundaries.span import TokenLabels


def labels(*names: str, tool: str | None = None) -> TokenLabels:
    codes = np.array([INDEX[name] for name in names], np.int8)
    return TokenLabels(codes, (None,) * len(names), (tool,) * len(names))


def steps(accepted: tuple[int, ...], completion: int, chunks: tuple[int, ...]) -> Steps:
    facts = StepFacts(accepted, (3,) * len(accepted), completion, chunks, prompt=64, cached=0)
    found = reconcile(facts, Drafting("eagle3", 3))
    assert isinstance(found, Steps)
    return found


def positions() -> DraftPositions:
    """Tokens: p | p c c | d | d d — a prefill, 2 of 3 accepted, 0 of 3, 3 of 3 cut by EOS."""
    names = ("prose", "prose", "code", "code", "diff.add", "diff.add", "special")
    return join(steps((2, 0, 3), 7, (1, 3, 1, 2)), labels(*names), 100, template="t", cached=True)


def test_a_row_per_drafted_position() -> None:
    rows = positions().columns()
    assert rows["step"].tolist() == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert rows["position"].tolist() == [0, 1, 2] * 3


def test_reached_up_to_and_including_the_first_rejection_and_not_past_the_end() -> None:
    rows = positions().columns()
    assert rows["reached"].tolist() == [True, True, True, True, False, False, True, True, False]
    assert rows["accepted"].tolist() == [True, True, False, False, False, False, True, True, False]
    assert rows["token_index"].tolist() == [1, 2, 3, 4, None, None, 5, 6, None]


def test_labels_are_those_of_the_token_committed_there() -> None:
    rows = positions().columns()
    assert list(rows["label"]) == [
        "prose",
        "code",
        "code",
        "diff.add",
        None,
        None,
        "diff.add",
        "special",
        None,
    ]
    first = list(rows["crossing"][:4])
    assert first == ["start>prose", "prose>code", "prose>code", "code>diff.add"]
    assert rows["crossing"][7] == "diff.add>special"
    assert list(rows["distance"]) == ["1", "0", "1", "0", None, None, "1", "0", None]
    assert (positions().template, positions().cached) == ("t", True)


def test_distance_classes() -> None:
    found = Boundaries.of(labels(*["prose"] * 12, "code", "code"))
    named = [0, 1, 2, 3, 3, 3, 3, 3, 4, 4, 4, 4, 0, 1]
    assert found.distance.tolist() == named


def test_tools_and_draft_ids() -> None:
    found = join(steps((1,), 3, (1, 2)), labels("tool.key", "tool.key", "tool.punct", tool="ls"), 9)
    assert list(found.columns()["tool"]) == ["ls", "ls", None]
    assert found.columns()["draft_id"].tolist() == [None, None, None]


def test_context_bands() -> None:
    assert band_of(8191) == "0-8k"
    assert band_of(8192) == "8k-16k"
    assert band_of(131072) == "128k+"
    lengths = [0, 8191, 8192, 65535, 65536, 131072, 10**6]
    assert [BANDS[i] for i in band_indices(lengths)] == [band_of(n) for n in lengths]
    assert [BANDS[i] for i in band_indices([0, 16384, 40000, 100000])] == [
        "0-8k",
        "16k-32k",
        "32k-64k",
        "64k-128k",
    ]


def test_context_length_counts_prompt_and_output_before_the_token() -> None:
    """Prompt 8190: output token 1 has a context of 8191, token 2 of 8192."""
    found = join(steps((1,), 3, (1, 2)), labels("prose", "prose", "prose"), 8190)
    assert list(found.columns()["context_band"]) == ["0-8k", "8k-16k", "8k-16k"]


def test_the_store_knows_the_same_names_in_the_same_order() -> None:
    assert ENUMS["label_name"] == LABELS
    assert ENUMS["distance_name"] == DISTANCES
    assert ENUMS["context_name"] == BANDS
    assert set(DIMENSIONS) <= set(ENUMS["dimension_name"])
    columns = set(positions().columns())
    assert columns <= set(TABLE["draft_positions"].names)
