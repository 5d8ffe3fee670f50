"""Nothing reaches a file that the project's redaction finds, and no credential at all."""

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import aiohttp

from replay.writing.cleaning import Cleaner, without_identities
from tests.support.agents import CREDENTIALS, ClaudeLike, CodexLike, PlainAgent, stand_in
from tests.support.recorder import chat, recording, said, sessions_in, writer
from tests.support.scripted.server import Answer, Seen, scripted
from traces.journal.frames import FrameReader
from traces.redaction.redaction import Redactor
from traces.redaction.session import redacted_session

SECRETS = (
    "ghp_" + "a1B2" * 9,
    "sk-ant-" + "x7Yz" * 8,
    "hunter2secret99",
    "AKIA" + "Q3ZX" * 4,
    "jane.doe@corp.example",
)


def lines_in(folder: Path) -> str:
    """All rows, as text."""
    return "".join(line.decode() for file in folder.iterdir() for line in FrameReader(file))


def found_by_redaction(folder: Path) -> dict[str, int]:
    """What `draftgate import --redact` would still replace in the recordings."""
    redactor = Redactor()
    for session in sessions_in(folder):
        redacted_session(session, redactor)
    return dict(redactor.counts)


def leaking(seen: Seen) -> Answer:
    """The stand-in, whose streamed answers hold a secret cut into pieces."""
    if seen.route != "/v1/chat/completions":
        return stand_in(seen)
    pieces = ["the token is ", SECRETS[0][:9], SECRETS[0][9:20], SECRETS[0][20:], ", said"]
    deltas = [{"choices": [{"delta": {"content": piece}}]} for piece in pieces]
    arguments = json.dumps({"password": SECRETS[2], "path": "/home/janedoe/x"})
    for part in (arguments[:20], arguments[20:]):
        call: dict[str, Any] = {"index": 0, "id": "c", "function": {"name": "f", "arguments": part}}
        deltas.append({"choices": [{"delta": {"tool_calls": [call]}}]})
    writes = [f"data: {json.dumps(delta)}\n\n".encode() for delta in deltas]
    return Answer(writes=[*writes, b"data: [DONE]\n\n"])


def test_no_credential_and_no_secret_is_on_disk(tmp_path: Path) -> None:
    task = f"log in as {SECRETS[4]}, password: {SECRETS[2]}, key {SECRETS[1]}; /home/janedoe/src"

    async def test() -> None:
        async with (
            scripted(leaking) as upstream,
            recording(upstream.url, tmp_path) as recorder,
            aiohttp.ClientSession(cookies={"session": "cookie-of-the-agent"}) as http,
        ):
            await ClaudeLike(http, recorder.url).work(task, 3, sub_agent=True)
            await CodexLike(http, recorder.url).work(task, 3)
            await PlainAgent(http, recorder.url).work(task, 3)
            counts = await recorder.end()
            assert counts["lost"] == 0
            assert counts["recorded"] == 13
            sent = json.dumps([seen.body for seen in upstream.seen])
            for secret in (SECRETS[1], SECRETS[2], SECRETS[4], "janedoe"):
                assert secret in sent  # the upstream gets what the agent sent

    asyncio.run(asyncio.wait_for(test(), 120))
    text = lines_in(tmp_path)
    headers = [value.split()[-1] for value in CREDENTIALS.values()]
    for secret in (*SECRETS, *headers, "cookie-of-the-agent", "beta=true", "janedoe"):
        assert secret not in text
    for name in ("user_ab12_account_cd34", "0199-session-of-codex", "billing-header"):
        assert name not in text
    assert "REDACTED_" in text
    assert found_by_redaction(tmp_path) == {}


def test_secrets_in_every_place_of_a_request_are_replaced(tmp_path: Path) -> None:
    """Contents, results, arguments as text and as objects, tools, schemas, unknown fields, keys."""
    recorder = writer(tmp_path)
    secret = SECRETS[0]
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": [{"type": "text", "text": f"a {secret}"}]},
        {"role": "user", "content": f"b {secret}", "name": secret},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c",
                    "type": "function",
                    "function": {"name": "f", "arguments": json.dumps({"password": SECRETS[2]})},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": f"export TOKEN={SECRETS[2]}"},
        {"role": "user", "content": "go on"},
    ]
    tools = [{"type": "function", "function": {"name": "f", "description": secret}}]
    exchanged = chat(0, messages, f"c {secret}", system_fingerprint=secret)
    request = json.loads(exchanged.request) | {"tools": tools, "stop": [secret], secret: secret}
    changed = type(exchanged)(
        **{name: getattr(exchanged, name) for name in exchanged.__struct_fields__}
        | {"request": json.dumps(request).encode()}
    )
    assert recorder.record(changed).reason is None
    recorder.close()
    text = lines_in(tmp_path)
    assert not any(word in text for word in (secret, SECRETS[2]))
    assert found_by_redaction(tmp_path) == {}
    (session,) = sessions_in(tmp_path)
    (call,) = session.prefix(session.turns[0])[2].tool_calls
    assert json.loads(call.arguments_json)["password"].startswith("REDACTED_")


def test_a_name_that_a_later_message_gives_away_is_replaced_in_the_earlier_ones() -> None:
    cleaner = Cleaner()
    first = {"messages": said("ask janedoe about it")}
    assert "janedoe" in json.dumps(cleaner.clean(first, {}))  # nobody can know yet
    later = {"messages": said("ask janedoe about it", "ok", "see /home/janedoe/notes")}
    request, answer = cleaner.clean(later, {"choices": [{"message": {"content": "janedoe"}}]})
    assert "janedoe" not in json.dumps((request, answer))


def test_equal_secrets_of_a_session_have_equal_placeholders(tmp_path: Path) -> None:
    recorder = writer(tmp_path)
    recorder.record(chat(0, said(f"use {SECRETS[0]}"), "ok"))
    recorder.record(chat(1, said(f"use {SECRETS[0]}", "ok", f"again {SECRETS[0]}"), "ok"))
    recorder.close()
    (session,) = sessions_in(tmp_path)
    assert [turn.thread for turn in session.turns] == ["main", "main"]
    assert session.turns[1].keep == 2


def test_bytes_of_images_are_not_kept_and_the_image_still_counts(tmp_path: Path) -> None:
    data = base64.b64encode(b"picture of a password").decode()
    parts = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}},
        {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}},
    ]
    assert data not in json.dumps(without_identities({"messages": [{"content": parts}]}))
    recorder = writer(tmp_path)
    recorder.record(chat(0, [{"role": "user", "content": parts[:3]}], "ok"))
    recorder.close()
    (session,) = sessions_in(tmp_path)
    kinds = [part.type for part in session.prefix(session.turns[0])[0].content]
    assert kinds == ["text", "blob", "blob"]


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    recorder = writer(tmp_path)
    recorder.record(chat(0, said("a"), "A"))
    recorder.close()
    assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}
