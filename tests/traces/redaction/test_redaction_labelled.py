"""Secrets go and look-alikes stay, measured on labeled texts of coding traffic."""

import json

import pytest

from tests.support.sessions.faults import FAULTS
from tests.support.sessions.labelled_secrets import labelled, measured
from traces.importing.importer import import_files
from traces.redaction.redaction import Redactor
from traces.redaction.session import redacted_session
from traces.session.file import session_lines

LEAST = 0.98


@pytest.mark.parametrize("half", ["fixed", "open"])
def test_recall_and_precision(half: str) -> None:
    found = measured(half)
    print(f"{half}: recall {found.recall:.3f}, precision {found.precision:.3f}")
    assert found.secrets >= 100
    assert found.look_alikes >= 190
    assert found.recall >= LEAST, found.missed
    assert found.precision >= LEAST, found.harmed


def test_there_are_enough_labelled_texts() -> None:
    texts = [*labelled("fixed"), *labelled("open")]
    assert sum(bool(text.secrets) for text in texts) >= 200
    assert sum(not text.secrets for text in texts) >= 400
    assert all(secret in text.text for text in texts for secret in text.secrets)


@pytest.mark.parametrize("half", ["fixed", "open"])
def test_redacting_labelled_texts_twice_changes_nothing(half: str) -> None:
    for text in labelled(half):
        once = Redactor()(text.text)
        assert Redactor()(once) == once


GONE = ("0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", "janedoe", "Zebra!Fox42")
STAY = ("+@app.route", "+@pytest.mark.slow", "A@np.eye", "git@github.com:", "^0.4.13", "Bearer",
        '\\"password\\": \\"string\\"')  # fmt: skip


def test_the_recording_with_secrets_and_look_alikes() -> None:
    (file,) = import_files([FAULTS / "redaction.jsonl"])
    clean = [redacted_session(session, Redactor()) for session in file.sessions]
    written = b"".join(line for session in clean for line in session_lines(session)).decode()
    assert [secret for secret in GONE if secret in written] == []
    assert [words for words in STAY if words not in written] == []


def test_a_name_is_known_in_what_was_said_before_it_was_learned() -> None:
    rows = [
        {"role": "user", "content": "ask janedoe"},
        {"role": "assistant", "content": "see /home/janedoe/notes and jane.doe@corp.example.org"},
        {"role": "user", "content": "jane.doe said yes"},
        {"role": "assistant", "content": "ok"},
    ]
    redact = Redactor()
    for row in rows:
        redact.learn(row["content"])
    assert redact(rows[0]["content"]) == "ask user1"
    assert redact(rows[2]["content"]) == "user2 said yes"


@pytest.mark.parametrize(
    "text",
    [
        "in /home/max/x, max(1, 2) and mark(x)",
        "in /home/mark/x, pytest.mark.slow",
        "drwxr-xr-x 2 test test 64 May  4 15:33 shop and a test",
    ],
)
def test_names_that_are_words_are_replaced_in_their_places_alone(text: str) -> None:
    shown = Redactor()(text)
    assert "max(1, 2)" in shown or "pytest.mark.slow" in shown or shown == text


def test_arguments_without_a_secret_keep_their_bytes() -> None:
    plain = '{"path":  "a.py", "n": 1.50, "text": "+@app.route(\\u0022/a\\u0022)"}'
    assert Redactor().json_text(plain) == plain
    secret = json.dumps({"command": "curl 'https://h/?api-key=0f1e2d3c4b5a69788796'"})
    assert "0f1e2d3c" not in Redactor().json_text(secret)
