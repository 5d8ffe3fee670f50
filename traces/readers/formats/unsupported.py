"""Formats that are recognized and cannot be replayed, with the reason."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from traces.readers.chat.shapes import items, mapping, text
from traces.readers.files.sample import Sample
from traces.readers.intake import Intake
from traces.readers.reader import share
from traces.session.session import Session


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A format known by its rows. Every row is counted under `skip`."""

    format: str
    unsupported: str
    skip: str
    keys: frozenset[str]
    fits: Callable[[dict[str, Any]], bool]

    def match(self, sample: Sample) -> float:
        """The share of rows that fit."""
        return share(sample, sum(self.fits(row) for row in sample.objects))

    def read(self, intake: Intake) -> Iterator[Session]:
        """Nothing, with every row accounted for."""
        for number, _ in intake.source.rows():
            intake.ledger.skip(number, self.skip)
        yield from ()


def _is_mooncake(row: dict[str, Any]) -> bool:
    lengths = "input_length" in row and ("hash_ids" in row or "output_length" in row)
    return lengths and "messages" not in row


def _is_weka(row: dict[str, Any]) -> bool:
    requests = items(row.get("requests"))
    return "block_size" in row and bool(requests) and "hash_ids" in mapping(requests[0])


def _is_model_answers(row: dict[str, Any]) -> bool:
    return "method" in row and "response" in row and "request" not in row


def _is_tool_list(row: dict[str, Any]) -> bool:
    return row.get("type") == "function" and "name" in mapping(row.get("function"))


def _is_schema(row: dict[str, Any]) -> bool:
    return "$defs" in row or "$schema" in row or ("properties" in row and "type" in row)


def _is_session_index(row: dict[str, Any]) -> bool:
    return ("messages_path" in row or "messagesPath" in row) and "messages" not in row


def _is_cline_ui(row: dict[str, Any]) -> bool:
    kind = row.get("type")
    return kind in ("say", "ask") and isinstance(row.get(text(kind)), str) and "ts" in row


def _is_opencode_piece(row: dict[str, Any]) -> bool:
    alone = "sessionID" in row and not row.keys() & {"part", "parts", "info"}
    is_part = "messageID" in row and "type" in row
    return alone and "id" in row and (is_part or "role" in row)


def _is_trial_result(row: dict[str, Any]) -> bool:
    harbor = "trial_name" in row and not row.keys().isdisjoint(("agent_result", "verifier_result"))
    results = items(row.get("results"))
    return harbor or ("is_resolved" in mapping(results[0]) if results else "is_resolved" in row)


UNSUPPORTED = (
    Unsupported(
        "load-trace-mooncake",
        "a load shape: lengths and block hashes without text, nothing to replay",
        "load_shape_only",
        frozenset({"input_length"}),
        _is_mooncake,
    ),
    Unsupported(
        "load-trace-weka",
        "a load shape: lengths and block hashes without text, nothing to replay",
        "load_shape_only",
        frozenset({"block_size"}),
        _is_weka,
    ),
    Unsupported(
        "api-answers",
        "recorded API answers without their prompts, nothing to replay",
        "answer_without_prompt",
        frozenset({"method"}),
        _is_model_answers,
    ),
    Unsupported(
        "tool-definitions",
        "tool definitions without a conversation",
        "tool_definition",
        frozenset({"function"}),
        _is_tool_list,
    ),
    Unsupported(
        "json-schema",
        "a JSON Schema, not a recording",
        "schema",
        frozenset({"$defs", "$schema", "properties"}),
        _is_schema,
    ),
    Unsupported(
        "session-index",
        "facts about a session; the messages are in the file that messages_path names",
        "session_index",
        frozenset({"messages_path", "messagesPath"}),
        _is_session_index,
    ),
    Unsupported(
        "cline-ui-log",
        "what Cline showed, not what it sent: import api_conversation_history.json beside it",
        "shown_to_the_user",
        frozenset({"say", "ask"}),
        _is_cline_ui,
    ),
    Unsupported(
        "opencode-piece",
        "a message or a part alone: import the session's own file, in storage/session, or the "
        "whole storage folder",
        "piece_of_a_tree",
        frozenset({"sessionID"}),
        _is_opencode_piece,
    ),
    Unsupported(
        "trial-result",
        "the result of a trial of Harbor or Terminal-Bench: import trajectory.json in its agent "
        "folder, or the log of the agent itself",
        "result_without_messages",
        frozenset({"trial_name", "results", "is_resolved"}),
        _is_trial_result,
    ),
)
