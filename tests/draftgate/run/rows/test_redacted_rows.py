"""Token texts in the store: no secret survives, and nothing else is changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.rows.redacted import redacted_texts

SECRET = "sk-live-0123456789"


def redact(text: str) -> str:
    return text.replace(SECRET, "REDACTED_1").replace("jane@corp.example", "redacted1@example.com")


@given(
    st.lists(st.sampled_from(["a ", SECRET, "jane@corp.example", "é", "\n", "key="]), max_size=8),
    st.lists(st.integers(1, 7), min_size=1, max_size=40),
)
def test_any_cut_of_a_text_is_redacted_whole(parts: list[str], sizes: list[int]) -> None:
    raw = "".join(parts)
    texts, at = [], 0
    for size in sizes:
        texts.append(raw[at : at + size])
        at += size
    texts.append(raw[at:])
    clean = redacted_texts(texts, redact)
    assert len(clean) == len(texts)
    assert "".join(clean) == redact(raw)


@pytest.mark.parametrize("texts", [[], ["plain", " text"]])
def test_a_text_without_secrets_stays(texts: list[str]) -> None:
    assert redacted_texts(texts, redact) == texts
