"""Codex rollouts: pre-envelope, envelope and ``exec`` forms, with ``compacted`` rows.

    {"timestamp":"…","type":"session_meta","payload":{"id":"…","cli_version":"…",…}}
    {"timestamp":"…","type":"response_item","payload":{"type":"function_call",…}}
    {"timestamp":"…","type":"event_msg","payload":{"type":"token_count","info":{…}}}

Rows of type ``event_msg`` repeat the response items; only token counts are taken from them, and the
user's text where no item holds it. Tool schemas are not logged, except those of ``dynamic_tools``.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.content import content_parts, joined
from traces.readers.chat.items import Answer, Item, Replaced, Said, standing
from traces.readers.chat.responses import CALL_TYPES, OUTPUT_TYPES, ResponsesReader
from traces.readers.chat.shapes import integer, items, mapping, text, text_or_none
from traces.readers.chat.tools import recorded_tools
from traces.readers.chat.transcript import add_thread
from traces.readers.files.sample import Sample
from traces.readers.intake import Intake
from traces.readers.reader import share
from traces.session.session import Parent, Session
from traces.session.turn import Fidelity, Sampling, Times, Usage

ENVELOPES = frozenset(
    {"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"}
)
HIDDEN_SUMMARY = "compaction"
KEPT_CHARACTERS = 80_000
"""What Codex keeps of the user's messages beside a summary: 20,000 tokens of 4 characters."""

NOT_IN_PROMPT = ("ghost_snapshot",)
BARE_ITEMS = CALL_TYPES | OUTPUT_TYPES | {"message", "reasoning"}


class Codex:
    """Reads one rollout file as one session."""

    format: ClassVar[str] = "codex"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"payload", "record_type", "timestamp"})

    def match(self, sample: Sample) -> float:
        """Rows in an envelope of known type, or bare items after a row with id and git."""
        rows = sample.objects
        fits = sum(text(r.get("type")) in ENVELOPES and "payload" in r for r in rows)
        first = rows[0] if rows else {}
        legacy = "type" not in first and "id" in first and "timestamp" in first
        if legacy or any("record_type" in row for row in rows):
            fits += (
                sum(text(r.get("type")) in BARE_ITEMS or "record_type" in r for r in rows) + legacy
            )
        return share(sample, fits)

    def read(self, intake: Intake) -> Iterator[Session]:
        """The session of the rollout."""
        rollout = Rollout(SessionBuilder(intake, tool="Codex CLI"), ResponsesReader(intake.blobs))
        for number, value in intake.source.rows():
            row = value if isinstance(value, dict) else {"type": "not_an_object"}
            reason = rollout.take(number, row)
            if reason is None:
                intake.ledger.use(number)
            else:
                intake.ledger.skip(number, reason)
        rollout.finish()
        if rollout.builder.turn_count:
            yield rollout.builder.build()


@dataclass(slots=True)
class Rollout:
    """State while the rows of a rollout go by."""

    builder: SessionBuilder
    responses: ResponsesReader
    model: str | None = None
    effort: str | None = None
    usage: Usage | None = None
    totals: Any = None
    cut: bool = False
    user_items: int = 0
    user_events: list[tuple[int, int, str]] = field(default_factory=list)

    def take(self, number: int, row: dict[str, Any]) -> str | None:
        """Take a row; the reason why it is not used, if it is not."""
        payload = row.get("payload")
        kind = text(row.get("type"))
        if not isinstance(payload, dict):
            return self._bare(number, row, kind)
        if kind == "response_item":
            return self._item(number, payload, text_or_none(row.get("timestamp")))
        if kind == "event_msg":
            return self._event(number, payload)
        if kind == "session_meta":
            return self._meta(number, payload)
        if kind == "turn_context":
            self.model = text_or_none(payload.get("model")) or self.model
            self.effort = text_or_none(payload.get("effort")) or self.effort
            return None
        if kind == "compacted":
            self._compacted(number, payload)
            return None
        return kind or "no_type"

    def _bare(self, number: int, row: dict[str, Any], kind: str) -> str | None:
        if "record_type" in row:
            return "state"
        if not kind and "id" in row and self.builder.session_id is None:
            return self._meta(number, row)
        if not kind and text(row.get("role")):
            kind, row = "message", {**row, "content": row.get("content", row.get("message"))}
        if kind in BARE_ITEMS:
            return self._item(number, row, text_or_none(row.get("timestamp")))
        return kind or "no_type"

    def _meta(self, number: int, meta: dict[str, Any]) -> str | None:
        builder = self.builder
        if builder.session_id is not None:
            builder.warn("second_session_meta", number, "a fork or resume; history may be a copy")
            return "second_session_meta"
        builder.session_id = text_or_none(meta.get("id"))
        builder.tool_version = text_or_none(meta.get("cli_version"))
        builder.cwd = text_or_none(meta.get("cwd"))
        builder.started_at = text_or_none(meta.get("timestamp"))
        origin = text(meta.get("forked_from_id")) or text(meta.get("parent_thread_id"))
        builder.parent = Parent(session_id=origin) if origin else None
        given = meta.get("base_instructions")
        instructions = text(mapping(given).get("text")) or text(given)
        if given and not instructions:
            builder.left_out(number, 1)
        if instructions:
            parts = content_parts(instructions, self.responses.blobs)
            self.responses.said(Said("system", parts, "harness", (number,)))
        for tool in recorded_tools(items(meta.get("dynamic_tools"))):
            builder.observed.define(tool)
        return None

    def _item(self, number: int, item: dict[str, Any], at: str | None) -> str | None:
        before = self.responses.answer
        if not self.responses.add(item, (number,), at):
            kind = text(item.get("type"))
            if kind in NOT_IN_PROMPT:
                return f"item_{kind}"
            self.builder.left_out(number, 1)
            self.cut = True
            return f"item_{kind or 'unknown'}"
        answer = self.responses.answer
        if item.get("role") == "user":
            self.user_items += 1
        if answer is not None and number in answer.rows:
            if answer is not before:
                answer.model, answer.usage, self.usage = self.model, self.usage, None
                answer.sampling = Sampling(effort=self.effort) if self.effort else None
            answer.times = Times(end=at) if at else answer.times
        return None

    def _event(self, number: int, event: dict[str, Any]) -> str | None:
        kind = text(event.get("type")) or "unknown"
        if kind == "token_count" and isinstance(event.get("info"), dict):
            return self._token_count(event["info"])
        if kind == "thread_rolled_back":
            self._roll_back(number, integer(event.get("num_turns")) or 0)
            return None
        if kind == "user_message" and text(event.get("message")):
            place = len(self.responses.transcript)
            self.user_events.append((place, number, event["message"]))
            self.responses.close()
        return f"event_{kind}"

    def _token_count(self, info: dict[str, Any]) -> str | None:
        """A count comes once per response, before its items (0.40) or after its results."""
        last, totals = mapping(info.get("last_token_usage")), info.get("total_token_usage")
        if not last or (totals is not None and totals == self.totals):
            return "event_token_count"
        self.totals = totals
        usage = Usage(
            prompt=integer(last.get("input_tokens")),
            cached=integer(last.get("cached_input_tokens")),
            completion=integer(last.get("output_tokens")),
            reasoning=integer(last.get("reasoning_output_tokens")),
        )
        answer = self.responses.answer
        if answer is not None and answer.usage is None:
            answer.usage = usage
        else:
            self.usage = usage
        self.responses.close()
        return None

    def _fidelity(self) -> Fidelity:
        """That of the prompts as they stand."""
        replaced = (i for i in reversed(self.responses.transcript) if isinstance(i, Replaced))
        last = next(replaced, None)
        return "rebuilt" if last is None else last.fidelity

    def _roll_back(self, number: int, turns: int) -> None:
        """The history ends before the last so many messages of the user, as Codex drops them."""
        history = standing(self.responses.transcript)
        asked = [n for n, item in enumerate(history) if _is_users(item)]
        if not asked or turns < 1:
            self.cut = self.cut or turns > 0
            return
        left: list[Item] = [*history[: asked[max(0, len(asked) - turns)]]]
        replaced = Replaced(left, "rewind", keep_system=False, fidelity=self._fidelity())
        self.responses.transcript.append(replaced)
        self.responses.close()

    def _compacted(self, number: int, payload: dict[str, Any]) -> None:
        inner = ResponsesReader(self.responses.blobs)
        history = items(payload.get("replacement_history"))
        kinds = [text(mapping(item).get("type")) for item in history]
        for kind, item in zip(kinds, history, strict=True):
            if kind not in (HIDDEN_SUMMARY, *NOT_IN_PROMPT):
                inner.add(item, (number,))
        if not inner.transcript:
            inner.transcript += _last_of_users(standing(self.responses.transcript))
            parts = content_parts(text(payload.get("message")), self.responses.blobs)
            inner.said(Said("user", parts, "summary", (number,)))
        if inner.left_out:
            self.builder.left_out(number, inner.left_out)
        hidden = HIDDEN_SUMMARY in kinds
        if hidden:
            self.builder.warn("encrypted_summary", number, "later prompts miss what it says")
        fidelity: Fidelity = "lossy" if hidden or inner.left_out else "after_compaction"
        self.responses.transcript.append(Replaced(inner.transcript, fidelity=fidelity))
        self.responses.close()

    def finish(self) -> None:
        """Add the turns."""
        transcript = self.responses.transcript
        if not self.user_items:
            for place, number, message in reversed(self.user_events):
                parts = content_parts(message, self.responses.blobs)
                transcript.insert(place, Said("user", parts, "human", (number,)))
                self.builder.intake.ledger.use(number)
        for item in transcript:
            if isinstance(item, Answer) and item.calls:
                item.finish_reason = "tool_calls"
        add_thread(self.builder, transcript, fidelity="lossy" if self.cut else "rebuilt")


def _is_users(item: Item) -> bool:
    return isinstance(item, Said) and item.role == "user" and item.origin == "human"


def _last_of_users(history: Iterable[Item]) -> list[Item]:
    """What the user said, as a compaction without a replacement keeps it: the last of it, as far
    as it fits."""
    kept: list[Item] = []
    room = KEPT_CHARACTERS
    for item in reversed([item for item in history if _is_users(item)]):
        assert isinstance(item, Said)
        room -= len(joined(item.parts))
        if room < 0:
            break
        kept.insert(0, item)
    return kept
