"""One conversation per row: chat messages as JSON Lines, a JSON array, or Parquet.

    {"messages": [{"role": "user", "content": "…"}, …], "tools": […], "metadata": {…}}

Every assistant message is a turn whose prompt are the messages before it; a row without one is a
prompt without a recorded answer. See docs/formats/chat-messages.md for the columns of data sets.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.chat import ROLES, ChatReader
from traces.readers.chat.items import Answer
from traces.readers.chat.shapes import items, mapping, text, text_or_none
from traces.readers.chat.tools import recorded_tools
from traces.readers.chat.transcript import add_thread
from traces.readers.files.json_text import embedded
from traces.readers.files.sample import Sample
from traces.readers.formats.chat_rows.dialect import joined_responses
from traces.readers.formats.chat_rows.tau2 import SIMULATIONS, is_two_sided, of_agent, simulations
from traces.readers.formats.requests.exchange import request_facts
from traces.readers.intake import Intake
from traces.readers.reader import share
from traces.readers.tags import scalar_tags
from traces.session.session import Session
from traces.session.turn import Fidelity

COLUMNS = ("messages", "conversations", "conversation", "trajectory", "history", "traj")
"""Where a row keeps its messages; some data sets hold them as JSON in a string."""

ID_COLUMNS = ("session_id", "traj_id", "trajectory_id", "run_id", "conversation_id", "id")
REQUEST_KEYS = frozenset({"max_tokens", "max_completion_tokens", "temperature", "stream"})
"""A row that has one of these and a model is a request body, and its end asks for an answer."""

TAG_COLUMNS = ("metadata", "_metadata", "tags")
TAG_VALUES = (
    "instance_id", "resolved", "exit_status", "template", "task", "split",
    "task_id", "trial", "reward",
)  # fmt: skip


def row_messages(row: Any) -> list[Any]:
    """The messages of a row, whatever its column is called; empty if it has none."""
    for column in COLUMNS:
        messages = items(embedded(mapping(row).get(column)))
        if any(_is_message(message) for message in messages[:3]):
            return messages
    return []


def _is_message(message: Any) -> bool:
    message = mapping(message)
    role = text(message.get("role")) or text(message.get("from"))
    return role.lower() in ROLES


class ChatRows:
    """Reads rows that hold a whole conversation each."""

    format: ClassVar[str] = "chat-messages"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({*COLUMNS, SIMULATIONS, "role", "from"})

    def match(self, sample: Sample) -> float:
        """Rows with a list of messages. A bare list of messages counts as one row."""
        if self._is_bare_list(sample):
            return 0.5
        if any(map(row_messages, simulations(sample.document)[:3])):
            return 0.9
        return 0.9 * share(sample, sum(bool(row_messages(row)) for row in sample.rows))

    def _is_bare_list(self, sample: Sample) -> bool:
        rows = sample.objects
        plain = [row for row in rows if _is_message(row) and ("content" in row or "value" in row)]
        return isinstance(sample.document, list) and 2 * len(plain) > len(sample.rows)

    def read(self, intake: Intake) -> Iterator[Session]:
        """One session per row."""
        if self._is_bare_list(intake.source.sample):
            messages = [message for _, message in intake.source.rows()]
            for row, message in enumerate(messages, 1):
                if _is_message(message):
                    intake.ledger.use(row)
                else:
                    intake.ledger.skip(row, "no_message")
            yield self._session({"messages": messages}, messages, intake, None)
            return
        found = simulations(intake.source.document)
        for row, value in enumerate(found, 1) if found else intake.source.rows():
            messages = row_messages(value)
            if not messages:
                intake.ledger.skip(row, "no_messages")
                continue
            session = self._session(mapping(value), messages, intake, row)
            if session.turns:
                intake.ledger.use(row)
                yield session
            else:
                intake.ledger.skip(row, "no_prompt")

    def _session(
        self,
        row: dict[str, Any],
        messages: list[Any],
        intake: Intake,
        number: int | None,
    ) -> Session:
        ids = (str(row[key]) for key in ID_COLUMNS if isinstance(row.get(key), str | int))
        builder = SessionBuilder(
            intake, session_id=next(ids, None), tool=text_or_none(row.get("tool"))
        )
        for column in TAG_COLUMNS:
            builder.tags |= scalar_tags(mapping(row.get(column)))
        builder.tags |= scalar_tags({key: row.get(key) for key in TAG_VALUES})
        definitions = embedded(row.get("tools", row.get("functions")))
        toolset = builder.toolset(recorded_tools(definitions)) if items(definitions) else None
        chat = ChatReader(intake.blobs)
        if two_sided := is_two_sided(messages):
            messages = of_agent(messages)
        transcript = [
            item
            for position, message in enumerate(messages, 1)
            for item in chat.message(message, (number or position,))
        ]
        fidelity: Fidelity = "rebuilt" if two_sided else "exact"
        transcript, converted = joined_responses(transcript, messages)
        if converted:
            builder.warn("converted_log", number, "one message per item; responses were joined")
            fidelity = "rebuilt"
        model = text_or_none(row.get("model")) or text_or_none(row.get("model_name"))
        for item in transcript:
            if isinstance(item, Answer):
                item.toolset, item.model = toolset, item.model or model
        if chat.left_out:
            builder.left_out(number, chat.left_out)
            fidelity = "lossy"
        thread = add_thread(builder, transcript, fidelity=fidelity)
        if thread.mids and not isinstance(transcript[-1], Answer):
            is_request = "model" in row and bool(REQUEST_KEYS & row.keys())
            if is_request or not builder.turn_count:
                asked = Answer(rows=(number or 1,), toolset=toolset, facts=request_facts(row))
                builder.turn(thread, asked, None, fidelity=fidelity)
        return builder.build()
