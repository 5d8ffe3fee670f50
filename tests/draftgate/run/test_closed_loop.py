"""What a gate sends is what an agent would have sent: rendered, answered, recorded, imported again.

A turn of a recording is rendered and sent to a stand-in server. An agent that held that very
conversation and got that answer writes its log, in its own format, by a writer that shares nothing
with the readers. Imported again, the log's last turn must render to the request that was sent, and
hold the answer that came.
"""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from replay.sending.client import StreamClient
from tests.support.paper.model import Vocabulary
from tests.support.paper.server import PaperServer, served
from tests.support.spellings import SPELLINGS, Asked, Conversation, Exchange, conversations
from traces.importing.importer import import_files
from traces.session.message import Message
from traces.session.render import chat_messages, chat_request, plain_text
from traces.session.session import Session
from traces.wire.capture import CaptureKey
from traces.wire.reassembly import response_of
from traces.wire.response import Response

Request = dict[str, Any]


class Agent(NamedTuple):
    """`result` and `user` are what this agent's log puts around a result and what a user says.
    `as_text`: it has no tools, and shows commands and results as text. `records`: its log holds the
    system prompt."""

    result: str = "{}"
    user: str = "{}"
    as_text: bool = False
    records: bool = False


AGENTS = {
    "claude-code": Agent(),
    "codex": Agent(result="Exit code: 0\nWall time: 0.1 seconds\nOutput:\n{}", records=True),
    "gemini-cli": Agent(),
    "qwen-code": Agent(),
    "opencode": Agent(),
    "cline": Agent(user="<task>\n{}\n</task>"),
    "goose": Agent(),
    "pi": Agent(),
    "kimi": Agent(records=True),
    "copilot-cli": Agent(records=True),
    "openhands-sdk": Agent(records=True),
    "atif": Agent(records=True),
    "mini-swe-agent": Agent(as_text=True, records=True),
    "swe-agent": Agent(as_text=True, records=True),
    "request-log": Agent(records=True),
    "litellm": Agent(records=True),
    "otel": Agent(records=True),
    "open-inference": Agent(records=True),
    "langsmith": Agent(records=True),
    "chat-messages": Agent(records=True),
    "tau2-bench": Agent(records=True),
}


def imported(file: Path, talk: Conversation, name: str) -> Session:
    file.write_bytes(SPELLINGS[name].write([talk]))
    (found,) = import_files([file])
    (session,) = found.sessions
    return session


def answers(requests: Sequence[Request]) -> list[Response]:
    """What a server streams to each."""

    async def ask() -> list[Response]:
        async with StreamClient(server.url) as client:
            return [
                response_of(await client.send(CaptureKey("r", "p", "main", "s", str(n)), request))
                for n, request in enumerate(requests)
            ]

    server = PaperServer(Vocabulary())
    with served(server):
        return asyncio.run(ask())


def undressed(text: str, pattern: str) -> str:
    """What stands in the place of ``{}``."""
    before, after = pattern.split("{}")
    assert text.startswith(before)
    assert text.endswith(after)
    return text[len(before) : len(text) - len(after)]


def held(request: Request, answer: Response, agent: Agent) -> Conversation:
    """The conversation of an agent that has sent the request and got the answer."""
    talk = Conversation("again", "", [])
    user: str | None = None
    results: dict[str, Asked] = {}
    for message in request["messages"]:
        content = message["content"]
        if message["role"] == "system":
            talk.system = content
        elif message["role"] == "user":
            user = undressed(content, agent.user)
        elif message["role"] == "assistant":
            calls = [
                Asked(call["id"], call["function"]["name"], json.loads(given), "")
                for call in message.get("tool_calls", ())
                if (given := call["function"]["arguments"])
            ]
            results |= {call.id: call for call in calls}
            talk.exchanges.append(Exchange(user, content, message.get("reasoning", ""), calls))
            user = None
        else:
            results[message["tool_call_id"]].result = undressed(content, agent.result)
    last = [
        Asked(c.id or "", c.name or "", json.loads(c.arguments), "?") for c in answer.tool_calls
    ]
    talk.exchanges.append(Exchange(user, answer.content, "", [] if agent.as_text else last))
    return talk


def said(message: Message) -> tuple[str, list[tuple[str, Any]]]:
    calls = [(call.name, json.loads(call.arguments_json)) for call in message.tool_calls]
    return plain_text(message.content), calls


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_that_recorded_what_was_sent_gives_it_again(name: str, tmp_path: Path) -> None:
    agent = AGENTS[name]
    (talk,) = conversations(7, 1, 5)
    first = imported(tmp_path / "first", talk, name)
    turns = [turn for turn in first.turns if turn.replayable]
    assert len(turns) == len(talk.exchanges)
    requests = [
        {**chat_request(first, turn, model="paper"), "stream": True, "max_tokens": 400}
        for turn in turns
    ]
    for number, (request, answer) in enumerate(zip(requests, answers(requests), strict=True)):
        assert answer.finish_reason in ("stop", "tool_calls")
        assert agent.records == (request["messages"][0]["role"] == "system")
        again = imported(tmp_path / f"again-{number}", held(request, answer, agent), name)
        last = again.turns[-1]
        assert chat_messages(again.prefix(last)) == request["messages"]
        output = again.output(last)
        assert output is not None
        calls = (
            [] if agent.as_text else [(c.name, json.loads(c.arguments)) for c in answer.tool_calls]
        )
        assert said(output) == (answer.content, calls)
