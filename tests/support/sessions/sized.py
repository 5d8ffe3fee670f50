"""Recordings of agents that say how many prompt tokens were sent, with messages of a real length.

Texts have four characters per token; the system prompt and the tools, which no agent logs, have
`SYSTEM` tokens. Each recording goes through a change of its history that is easily missed.
"""

from typing import Any

from tests.support.sessions.recordings import claude, codex, codex_said

SYSTEM = 12_000
WORDS = "The parser drops a token when its input ends early, so the test of line 42 fails. "

Rows = list[dict[str, Any]]


def said(name: str, tokens: int = 6_000) -> str:
    """A text of so many tokens that begins with a name."""
    return (f"{name}: " + WORDS * tokens)[: 4 * tokens]


def sent(*texts: str) -> int:
    """Tokens of a prompt of these texts, with what is not logged."""
    return SYSTEM + sum(len(text) for text in texts) // 4


OLD, OLD_ANSWER = said("OLD"), said("OLD ANSWER")
KEPT, KEPT_ANSWER = said("KEPT"), said("KEPT ANSWER")
SUMMARY, NEW = said("SUMMARY", 500), said("NEW", 500)


def pi(*, kept: bool) -> Rows:
    """A compaction that keeps two messages; not `kept`: it does not say which."""

    def message(role: str, text: str, tokens: int = 0) -> dict[str, Any]:
        body: dict[str, Any] = {"role": role, "content": [{"type": "text", "text": text}]}
        if tokens:
            body |= {"stopReason": "stop", "usage": {"input": tokens, "output": 6_000}}
        return {"type": "message", "message": body}

    compaction: dict[str, Any] = {"type": "compaction", "summary": SUMMARY}
    if kept:
        compaction["firstKeptEntryIndex"] = 3
    return [
        {"type": "session", "id": "p", "cwd": "/w"},
        message("user", OLD),
        message("assistant", OLD_ANSWER, sent(OLD)),
        message("user", KEPT),
        message("assistant", KEPT_ANSWER, sent(OLD, OLD_ANSWER, KEPT)),
        compaction,
        message("user", NEW),
        message("assistant", "end", sent(SUMMARY, KEPT, KEPT_ANSWER, NEW)),
    ]


def _claude_answer(
    uuid: str, parent: str | None, text: str, tokens: int, **more: Any
) -> dict[str, Any]:
    row = claude("assistant", uuid, parent, text, message=f"m-{uuid}", **more)
    row["message"]["usage"] = {"input_tokens": tokens, "output_tokens": len(text) // 4}
    return row


def claude_code(*, kept: bool) -> Rows:
    """A compaction that keeps two messages; not `kept`: it does not say so."""
    preserved = {"anchorUuid": "sum", "uuids": ["k1", "k2"]}
    metadata = {"compactMetadata": {"preservedMessages": preserved}} if kept else {}
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": None}
    return [
        claude("user", "u1", None, OLD),
        _claude_answer("a1", "u1", OLD_ANSWER, sent(OLD)),
        claude("user", "k1", "a1", KEPT),
        _claude_answer("k2", "k1", KEPT_ANSWER, sent(OLD, OLD_ANSWER, KEPT)),
        {**boundary, "sessionId": "s-1", **metadata},
        claude("user", "sum", "b", SUMMARY, isCompactSummary=True),
        claude("user", "n1", "sum", NEW),
        _claude_answer("n2", "n1", "end", sent(SUMMARY, KEPT, KEPT_ANSWER, NEW)),
    ]


def claude_part(parent: str | None) -> Rows:
    """The log of an agent that was handed a conversation of 160,000 tokens."""
    more = {"isSidechain": True, "agentId": "a1"}
    return [
        claude("user", "q1", parent, NEW, **more),
        _claude_answer("q2", "q1", "end", 160_000, **more),
    ]


def codex_rollout(*, rolled_back: bool) -> Rows:
    """A thread that was rolled back by one turn; not `rolled_back`: the event is not there."""

    def count(tokens: int) -> dict[str, Any]:
        usage = {"input_tokens": tokens, "output_tokens": 100}
        info = {"last_token_usage": usage, "total_token_usage": {"input_tokens": tokens}}
        return codex("event_msg", type="token_count", info=info)

    event = codex("event_msg", type="thread_rolled_back", num_turns=1)
    return [
        codex("session_meta", id="s"),
        codex_said("user", NEW),
        codex_said("assistant", "one"),
        count(sent(NEW)),
        codex_said("user", OLD),
        codex_said("assistant", OLD_ANSWER),
        count(sent(NEW, "one", OLD)),
        *([event] if rolled_back else []),
        codex_said("user", NEW),
        codex_said("assistant", "end"),
        count(sent(NEW, "one", NEW)),
    ]


def cline_history() -> Rows:
    """A conversation out of which Cline deleted the third and the fourth message."""

    def answer(text: str, tokens: int) -> dict[str, Any]:
        metrics = {"tokens": {"prompt": tokens, "completion": len(text) // 4}}
        content = [{"type": "text", "text": text}]
        return {"role": "assistant", "content": content, "modelInfo": {}, "metrics": metrics}

    def asked(text: str) -> dict[str, Any]:
        return {"role": "user", "content": [{"type": "text", "text": text}], "ts": 1}

    task = f"<task>\n{NEW}\n</task>"
    return [
        asked(task),
        answer("one", sent(task)),
        asked(OLD),
        answer(OLD_ANSWER, sent(task, "one", OLD)),
        asked(NEW),
        answer("end", sent(task, "one", NEW)),
    ]


def cline_shown() -> Rows:
    """What Cline showed of it, with the range that it deleted."""
    shown = {"ts": 9, "type": "say", "say": "text", "text": "end", "conversationHistoryIndex": 4}
    return [{**shown, "conversationHistoryDeletedRange": [2, 3]}]
