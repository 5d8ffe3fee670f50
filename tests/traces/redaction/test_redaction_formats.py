"""Secrets in any text of a recording, or in a name or an id, survive redaction in no format."""

import json
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.spellings import SPELLINGS, Asked, Conversation, Exchange
from traces.importing.importer import import_files
from traces.redaction.redaction import Redactor
from traces.redaction.session import redacted_session
from traces.session.file import session_lines

AWS = "AKIA" + "IOSFODNN7EXAMPLQ"
GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
OPENAI = "sk-proj-" + "abcdefghijklmnopqrstuvwxyz0123456789"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6y"
BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7"

HEADERS = f"> GET / HTTP/1.1\n> Authorization: Bearer {JWT}\n> X-Api-Key: {OPENAI}\n< HTTP/1.1 200"
ENVIRONMENT = f"PATH=/bin\nAWS_ACCESS_KEY_ID={AWS}\nDB_PASSWORD=hunter2hunter\nLANG=C"
KEY_FILE = f"-----BEGIN PRIVATE KEY-----\n{BODY}\n-----END PRIVATE KEY-----"
COMMAND = f"curl -u jane.doe@corp.example.org https://app:s3cr3tpw@host/ -H 'token: {GITHUB}'"

SECRETS = (AWS, GITHUB, OPENAI, JWT, BODY, "hunter2hunter", "s3cr3tpw", "jane.doe", "/home/janedoe")
IN_RESULTS = (AWS, OPENAI, JWT, BODY, "hunter2hunter")
NO_RESULTS = {"prompts", "aider", "cursor"}
"""Formats that keep no results of tools, or count them as output of the tool itself."""

TALK = Conversation(
    "s-1",
    "You work in /home/janedoe/src.",
    [
        Exchange(
            f"Log in as jane.doe@corp.example.org with {AWS}, {GITHUB}, {OPENAI}, {JWT}, "
            f"DB_PASSWORD=hunter2hunter, https://app:s3cr3tpw@host/ in /home/janedoe.\n{KEY_FILE}",
            "I will.",
            f"They gave me {GITHUB}.",
            [
                Asked("call_1", "bash", {"command": COMMAND}, HEADERS),
                Asked("call_2", "bash", {"command": "env"}, ENVIRONMENT),
                Asked("call_3", "read_file", {"path": "/home/janedoe/.ssh/id"}, KEY_FILE),
            ],
        ),
        Exchange(None, f"The token is {GITHUB}.", "", []),
    ],
)


def written(data: bytes, redact: Redactor | None) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recording"
        path.write_bytes(data)
        (file,) = import_files([path])
        sessions = [s if redact is None else redacted_session(s, redact) for s in file.sessions]
    return b"".join(line for session in sessions for line in session_lines(session)).decode()


@pytest.mark.parametrize("name", SPELLINGS)
def test_no_secret_survives_in_any_format(name: str) -> None:
    data = SPELLINGS[name].write([TALK])
    plain, redact = written(data, None), Redactor()
    there = [secret for secret in SECRETS if secret in plain]
    assert len(there) == len(SECRETS)
    clean = written(data, redact)
    assert [secret for secret in SECRETS if secret in clean] == []
    kinds = {"aws-key", "github-token", "openai-key", "jwt", "private-key", "url-password", "email"}
    assert redact.report.keys() >= kinds


@pytest.mark.parametrize("name", sorted(SPELLINGS.keys() - NO_RESULTS))
def test_results_of_tools_are_redacted(name: str) -> None:
    quiet = Exchange("Go on.", "I will.", "", TALK.exchanges[0].calls)
    data = SPELLINGS[name].write([Conversation("s-1", "", [quiet, TALK.exchanges[1]])])
    plain, clean = written(data, None), written(data, Redactor())
    assert [secret for secret in IN_RESULTS if secret not in plain] == []
    assert [secret for secret in IN_RESULTS if secret in clean] == []


def leaves(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else ()
    for key, inner in enumerate(value) if isinstance(value, list) else inside:
        yield from leaves(inner, (*before, key))
    if isinstance(value, str):
        yield before


def put(value: Any, place: tuple[Any, ...], new: str) -> Any:
    if not place:
        return new
    changed = value.copy()
    changed[place[0]] = put(value[place[0]], place[1:], new)
    return changed


@cache
def rows(name: str) -> list[Any]:
    return [json.loads(row) for row in SPELLINGS[name].write([TALK]).split(b"\n") if row]


BINARY_OR_TEXT = {
    "chat-parquet",
    "crush-db",
    "goose-db",
    "inspect-eval",
    "opencode-db",
    "aider",
    "aider-llm",
    "vllm-log",
}


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_secret_in_place_of_any_string(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(SPELLINGS.keys() - BINARY_OR_TEXT)))
    row = data.draw(st.integers(0, len(rows(name)) - 1))
    place = data.draw(st.sampled_from([(row, *path) for path in leaves(rows(name)[row])] or [()]))
    changed = put(rows(name), place, "glpat-" + "a1B2c3D4e5F6g7H8i9J0") if place else rows(name)
    content = b"\n".join(json.dumps(value).encode() for value in changed)
    assert "a1B2c3D4e5F6g7H8i9J0" not in written(content, Redactor()).replace(GITHUB, "")


def test_a_secret_in_any_place_of_an_own_file_is_replaced() -> None:
    """Ids of turns too: there they are whatever the file says."""
    known = rows("draftgate")
    for number, row in enumerate(known):
        for path in leaves(row):
            changed = put(known, (number, *path), "glpat-" + "a1B2c3D4e5F6g7H8i9J0")
            content = b"\n".join(json.dumps(value).encode() for value in changed)
            assert "a1B2c3D4e5F6g7H8i9J0" not in written(content, Redactor()), (number, path)


def test_turns_still_name_each_other_when_an_id_is_replaced() -> None:
    secret = "glpat-" + "a1B2c3D4e5F6g7H8i9J0"
    text = SPELLINGS["draftgate"].write([TALK]).decode().replace('"t0000"', f'"{secret}"')
    again = [json.loads(line) for line in written(text.encode(), Redactor()).splitlines()]
    turns = [row for row in again if row["record"] == "turn"]
    assert len(turns) > 1
    assert secret not in json.dumps(again)
    assert {turn["base"] for turn in turns[1:]} & {turns[0]["turn_id"]}
