"""No known secret survives; equal ones stay equal; redacting twice changes nothing."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traces.redaction.redaction import Redactor
from traces.redaction.session import redacted_session
from traces.session.blobs import BlobStore
from traces.session.file import session_lines
from traces.session.message import ToolCall, make_message
from traces.session.render import chat_request
from traces.session.session import Session, Source, System
from traces.session.turn import Turn

KEY_BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7"

SECRETS = {
    "aws": "AKIA" + "IOSFODNN7EXAMPLQ",
    "github": "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "github_pat": "github_pat_" + "11ABCDEFG0123456789_abcdefghij",
    "gitlab": "glpat-" + "a1B2c3D4e5F6g7H8i9J0",
    "slack": "xoxb-" + "123456789012-1234567890123-abcdefghijklmnop",
    "stripe": "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "anthropic": "sk-ant-" + "api03-abcdefghijklmnopqrstuvwxyz0123456789",
    "openai": "sk-proj-" + "abcdefghijklmnopqrstuvwxyz0123456789",
    "huggingface": "hf_" + "abcdefghijklmnopqrstuvwxyzABCDEF",
    "google": "AIza" + "SyA1234567890abcdefghijklmnopqrstuv",
    "npm": "npm_" + "abcdefghijklmnopqrstuvwxyz0123456789",
    "sendgrid": "SG." + "a" * 22 + "." + "b" * 43,
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6y",
    "pypi": "pypi-AgEIcHlwaS5vcmc" + "A" * 75,
    "twilio": "AC" + "0123456789abcdef" * 2,
    "telegram": "123456789:" + "AAabcdefghijklmnopqrstuvwxyz0123456",
}

CONTEXTS = (
    "{}",
    "the key is {} and no other",
    "export SOMETHING={}\nPATH=/bin",
    '{{"a": ["{}"]}}',
    "curl -H 'X-Key: {}' https://host/",
    "`{}`",
    'key="{}",',
)


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("name", SECRETS)
def test_tokens_do_not_survive(name: str, context: str) -> None:
    redact = Redactor()
    shown = redact(context.format(SECRETS[name]))
    assert SECRETS[name] not in shown
    assert SECRETS[name][-12:] not in shown
    assert sum(redact.counts.values()) >= 1


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("postgres://app:s3cr3tpw@db:5432/x", "s3cr3tpw"),
        ("https://:tok3nvalue@host/", "tok3nvalue"),
        ("DB_PASSWORD=hunter2hunter\nHOME=/root", "hunter2hunter"),
        ("docker run -e API_KEY=abc123def456 image", "abc123def456"),
        ('{"client_secret": "qwertyuiop"}', "qwertyuiop"),
        ('{\\"password\\": \\"qwertyuiop\\"}', "qwertyuiop"),
        ("password: 'correcthorse'", "correcthorse"),
        ("mysql --password=correcthorse", "correcthorse"),
        ("Authorization: Bearer abcdefghijklmnop1234", "abcdefghijklmnop1234"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA"),
        (f"-----BEGIN PRIVATE KEY-----\n{KEY_BODY}\n-----END PRIVATE KEY-----", KEY_BODY),
        (f"-----BEGIN RSA PRIVATE KEY-----\\n{KEY_BODY}\\n-----END RSA PRIVATE KEY-----", KEY_BODY),
        (f"-----BEGIN OPENSSH PRIVATE KEY-----\n{KEY_BODY}\nsome output was cut", KEY_BODY),
        ("write to jane.doe@corp.example.org", "jane.doe"),
        ("in /home/janedoe/src/x.py", "janedoe"),
        ("in /Users/janedoe/src/x.py", "janedoe"),
        ("in C:\\Users\\janedoe\\x", "janedoe"),
    ],
)
def test_secrets_in_context_do_not_survive(text: str, secret: str) -> None:
    assert secret not in Redactor()(text)


@pytest.mark.parametrize(
    "text",
    [
        "def login(password: str, token=None): return token",
        "commit 0f3b5d1c9e8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c",
        "API_KEY=$API_KEY",
        "password = <your password>",
        "max_tokens=1024",
        "/home/user1/x and redacted1@example.com",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert Redactor()(text) == text


def test_equal_secrets_stay_equal_and_are_counted() -> None:
    redact = Redactor()
    first = redact(f"{SECRETS['github']} {SECRETS['aws']}")
    assert redact(f"{SECRETS['github']} {SECRETS['aws']}") == first
    assert len(set(first.split())) == 2
    assert redact.report["github-token"] == {"values": 1, "replacements": 2}


@given(st.lists(st.sampled_from(sorted(SECRETS.values())) | st.text(), max_size=6))
def test_redacting_twice_changes_nothing(pieces: list[str]) -> None:
    redact = Redactor()
    once = redact(" ".join(pieces))
    assert redact(once) == once
    assert Redactor()(once) == once


def test_a_session_is_redacted_everywhere() -> None:
    secret = SECRETS["github"]
    call = ToolCall(id="c1", name="bash", arguments_json=json.dumps({"command": f"echo {secret}"}))
    asked = make_message("user", f"use {secret}", origin="human")
    output = make_message(
        "assistant", "ok", origin="model", reasoning=f"they gave {secret}", tool_calls=[call]
    )
    turn = Turn(turn_id="t0000", index=0, added=(asked.mid,), fidelity="exact", output=output.mid)
    session = Session(
        session_id="s",
        source=Source(format="made-up", file=f"/home/janedoe/{secret}.jsonl"),
        system=System(name="x", provenance="missing"),
        cwd="/home/janedoe",
        tags={"note": secret},
        messages={asked.mid: asked, output.mid: output},
        turns=(turn,),
    )
    clean = redacted_session(session, Redactor())
    everything = b"".join(session_lines(clean)).decode()
    assert secret not in everything
    assert "janedoe" not in everything
    request = chat_request(clean, clean.turns[0])
    assert request["messages"][0]["content"].startswith("use REDACTED_GITHUB_TOKEN_")
    answer = clean.output(clean.turns[0])
    assert answer is not None
    assert json.loads(answer.tool_calls[0].arguments_json)["command"].startswith("echo REDACTED_")


def test_blobs_are_named_by_content() -> None:
    store = BlobStore()
    assert store.put(b"x") == store.put(b"x") != store.put(b"y")


def test_looking_for_secrets_leaves_the_warnings_of_the_process_alone() -> None:
    code = (
        "import warnings; before = warnings.showwarning; "
        "from traces.redaction.redaction import Redactor; "
        "Redactor()('x'); assert warnings.showwarning is before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
