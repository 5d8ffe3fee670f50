"""mini-swe-agent trajectories: ``.traj.json`` (1, 1.1) and the bare message list of version 0.

    {"info": {"mini_version": "1.15.0", "config": {…}}, "messages": […], "trajectory_format": …}

The history is append-only and complete, so prefixes are exact. ``extra.response`` of an assistant
message holds the whole API response.
"""

import re
from collections.abc import Iterator
from typing import Any, ClassVar

from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.items import Answer
from traces.readers.chat.log import Log, entries
from traces.readers.chat.shapes import items, mapping, mappings, text, text_or_none
from traces.readers.files.sample import Sample
from traces.readers.formats.requests.openai_answer import openai_usage, sampling_of
from traces.readers.intake import Intake
from traces.readers.tags import scalar_tags
from traces.session.session import Session

COMMAND_BLOCK = re.compile(r"^```(?:mswea_bash_command|bash)", re.MULTILINE)


class MiniSweAgent:
    """Reads one trajectory."""

    format: ClassVar[str] = "mini-swe-agent"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"trajectory_format", "info", "role"})

    def match(self, sample: Sample) -> float:
        """An object that names the format, or a list of messages that all answer in bash blocks."""
        document = sample.document
        if isinstance(document, list):
            return 0.9 * _is_bare(sample.objects, len(sample.rows))
        named = text(mapping(document).get("trajectory_format")).startswith("mini-swe-agent")
        named = named or "mini_version" in mapping(mapping(document).get("info"))
        return float(named and bool(items(mapping(document).get("messages"))))

    def read(self, intake: Intake) -> Iterator[Session]:
        """The one session of the file."""
        document = intake.source.document
        outer = mapping(document)
        info = mapping(outer.get("info"))
        builder = SessionBuilder(intake, tool="mini-swe-agent")
        builder.tool_version = text_or_none(info.get("mini_version"))
        builder.format_version = text_or_none(outer.get("trajectory_format"))
        builder.tags = scalar_tags(
            {"instance_id": outer.get("instance_id"), "exit_status": info.get("exit_status")}
        )
        messages = document if isinstance(document, list) else items(outer.get("messages"))
        log = _MiniLog(builder, fidelity="exact")
        log.settings = mapping(mapping(info.get("config")).get("model"))
        if not any("tool_calls" in message for message in mappings(messages)):
            log.toolset = builder.toolset(())
        yield from log.read(entries(intake, messages))


class _MiniLog(Log):
    settings: dict[str, Any]
    toolset: str | None = None

    def take(self, number: int, row: dict[str, Any]) -> str | None:
        found = self.chat.message(row, (number,))
        for item in found:
            if isinstance(item, Answer):
                self._settle(item, mapping(mapping(row.get("extra")).get("response")))
        self.transcript += found
        return None if found else "no_message"

    def _settle(self, answer: Answer, response: dict[str, Any]) -> None:
        choice = next(iter(mappings(response.get("choices"))), {})
        reasoning = mapping(choice.get("message")).get("reasoning")
        if isinstance(reasoning, str) and reasoning and not answer.reasoning:
            answer.reasoning, answer.state = reasoning, "visible"
        answer.response_id = text_or_none(response.get("id"))
        answer.model = text_or_none(response.get("model")) or text_or_none(
            self.settings.get("model_name")
        )
        answer.finish_reason = text_or_none(choice.get("finish_reason"))
        answer.usage = openai_usage(response.get("usage"))
        answer.sampling = sampling_of(mapping(self.settings.get("model_kwargs")))
        answer.toolset = self.toolset


def _is_bare(messages: list[dict[str, Any]], size: int) -> bool:
    said = [message for message in messages if isinstance(message.get("content"), str)]
    answers = [text(m.get("content")) for m in said if m.get("role") == "assistant"]
    in_blocks = sum(bool(COMMAND_BLOCK.search(answer)) for answer in answers)
    return len(said) == size and bool(answers) and in_blocks >= len(answers) / 2
