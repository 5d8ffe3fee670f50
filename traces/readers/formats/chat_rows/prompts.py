"""Prompt-only rows: replayable turns without a recorded answer.

    {"question_id": 1, "category": "coding", "turns": ["Write …", "Now …"]}  SPEED-Bench
    {"prompt": "…"} / {"instruction": "…", "input": "…"} / {"text": "…"}

Further ``turns`` of a row would follow an answer nobody recorded: only the first is replayable.
Rows of a log or of telemetry hold such keys too: a row that names its role, session or event is
part of a recording, and a recording that has such rows is not a list of prompts.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, ClassVar

from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.content import content_parts
from traces.readers.chat.items import Answer
from traces.readers.chat.shapes import items, mapping, text
from traces.readers.files.sample import Sample
from traces.readers.intake import Intake
from traces.readers.reader import share
from traces.readers.tags import scalar_tags
from traces.session.message import make_message
from traces.session.session import Session

PROMPT_KEYS = ("prompt", "question", "instruction", "problem_statement", "text")
ID_KEYS = ("question_id", "id", "prompt_id", "task_id")
TAG_KEYS = ("category", "sub_category", "subset", "source", "difficulty")


RECORDED_KEYS = frozenset(
    {
        "sessionid", "conversationid", "threadid", "messageid", "requestid", "responseid",
        "eventid", "eventname", "eventtype", "event", "traceid", "spanid", "uuid", "parentuuid",
        "parentid", "attributes", "resource", "severity", "loglevel", "logger", "hostname",
    }
)  # fmt: skip
"""Keys of a row that was recorded while something ran: case, ``_``, ``-`` and ``.`` aside."""

TYPED_KEYS = frozenset({"type", "kind", "ts", "timestamp", "time", "created", "createdat"})
"""With ``text`` alone, also keys that tell what was said when."""


def is_recorded(row: dict[str, Any]) -> bool:
    """Whether a row is part of a recording: it names a role that is no user's, a session, an
    event, or, if ``text`` is all that could be a prompt, a type or a moment."""
    if row.get("role", "user") != "user" or row.get("type") in ("say", "ask"):
        return True
    keys = _plain(tuple(row))
    if not keys.isdisjoint(RECORDED_KEYS):
        return True
    if keys.isdisjoint(TYPED_KEYS):
        return False
    return not any(text(row.get(key)) for key in PROMPT_KEYS[:-1]) and "turns" not in row


@lru_cache(maxsize=1024)
def _plain(keys: tuple[str, ...]) -> frozenset[str]:
    """Keys without case, ``_``, ``-`` and ``.``."""
    return frozenset(re.sub(r"[_.-]", "", key).lower() for key in keys)


def row_prompts(row: dict[str, Any]) -> list[str]:
    """The user's texts of a row, in order; empty if it holds none, or is part of a recording."""
    return [] if is_recorded(row) else _prompts_in(row)


def _prompts_in(row: dict[str, Any]) -> list[str]:
    """The user's texts of a row that is no part of a recording."""
    turns = items(row.get("turns"))
    if mapping(turns[0] if turns else {}).get("role", "user") != "user":
        return []
    said = [turn for turn in turns if isinstance(turn, str)]
    said = said or [text(mapping(turn).get("content")) for turn in turns]
    if any(said):
        return [turn for turn in said if turn]
    prompt = next((row[key] for key in PROMPT_KEYS if text(row.get(key))), "")
    if "instruction" in row and prompt == row["instruction"] and text(row.get("input")):
        prompt = f"{prompt}\n\n{row['input']}"
    return [prompt] if prompt else []


class Prompts:
    """Reads rows that hold a prompt each."""

    format: ClassVar[str] = "prompts"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"turns", *PROMPT_KEYS})

    def match(self, sample: Sample) -> float:
        """Rows with turns or a prompt, and no row that is part of a recording."""
        if any(is_recorded(row) for row in sample.objects):
            return 0.0
        return 0.6 * share(sample, sum(bool(_prompts_in(row)) for row in sample.objects))

    def read(self, intake: Intake) -> Iterator[Session]:
        """One session per row, of one turn."""
        for number, value in intake.source.rows():
            row = mapping(value)
            prompts = row_prompts(row)
            if not prompts:
                intake.ledger.skip(number, "no_prompt")
                continue
            intake.ledger.use(number)
            ids = (str(row[key]) for key in ID_KEYS if isinstance(row.get(key), str | int))
            builder = SessionBuilder(intake, session_id=next(ids, None))
            builder.tags = scalar_tags({key: row.get(key) for key in TAG_KEYS})
            toolset = builder.toolset(())
            thread = builder.thread()
            if text(row.get("system")):
                parts = content_parts(row["system"], intake.blobs)
                message = make_message("system", parts, origin="harness", rows=(number,))
                thread.mids.append(builder.add(message))
            parts = content_parts(prompts[0], intake.blobs)
            message = make_message("user", parts, origin="human", rows=(number,))
            thread.mids.append(builder.add(message))
            asked = Answer(toolset=toolset, rows=(number,))
            builder.turn(thread, asked, None, fidelity="exact")
            if len(prompts) > 1:
                builder.warn("later_turns_need_answers", number, f"{len(prompts) - 1} left out")
            yield builder.build()
