"""The labeler against texts labeled by hand."""

import pytest

from tests.support.sessions.labelled_texts import TEXTS, Labelled
from traces.boundaries import Span, known_family, label, opens_in_reasoning
from traces.boundaries.families import FAMILIES
from traces.boundaries.label import LABELS

by_name = pytest.mark.parametrize("case", TEXTS, ids=[case.name for case in TEXTS])


def characters(spans: list[Span]) -> list[tuple[str, str | None]]:
    return [(span.label, span.language) for span in spans for _ in range(span.start, span.end)]


def pieces(text: str, kinds: list[tuple[str, str | None]]) -> list[tuple[str, str, str | None]]:
    """Runs of one kind, for a readable difference."""
    runs: list[tuple[str, str, str | None]] = []
    for character, kind in zip(text, kinds, strict=True):
        if runs and runs[-1][1:] == kind:
            runs[-1] = (runs[-1][0] + character, *kind)
        else:
            runs.append((character, *kind))
    return runs


@by_name
def test_labels_are_those_given_by_hand(case: Labelled) -> None:
    spans = label(case.text, case.family, case.tools, thinking=case.thinking)
    assert pieces(case.text, characters(spans)) == pieces(case.text, case.characters)


def test_the_texts_cover_every_label_and_every_family() -> None:
    assert len(TEXTS) >= 60
    used = {piece[1] for case in TEXTS for piece in case.pieces}
    assert used == set(LABELS)
    covered = {FAMILIES[case.family].name for case in TEXTS}
    assert covered == {family.name for family in FAMILIES.values()}


def test_a_reasoning_block_opened_by_the_prompt_is_known_by_the_servers_own_reading() -> None:
    assert opens_in_reasoning("\nHm, yes.</think>No", "Hm, yes.")
    assert not opens_in_reasoning("<think>Hm</think>No", "Hm")
    assert not opens_in_reasoning("No", "")


def test_a_parser_without_rules_is_read_as_plain_text() -> None:
    assert known_family("hermes") == "hermes"
    assert known_family("my_plugin") == "plain"
    assert known_family(None) == "plain"
