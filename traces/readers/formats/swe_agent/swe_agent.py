"""SWE-agent trajectories (``.traj``), 0.x and 1.x.

    {"trajectory": [{"action","observation","response","messages"?}], "history": […], "info": {…}}

A step of 1.x keeps its prompt in ``query``, or the history after it in ``messages``; then prefixes
are exact. Else they are rebuilt from ``history``, which a history processor may have shortened.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from traces.readers.chat.builder import SessionBuilder
from traces.readers.chat.chat import ChatReader
from traces.readers.chat.content import content_parts
from traces.readers.chat.items import Answer, Item, Said
from traces.readers.chat.shapes import items, mapping, mappings, text, text_or_none
from traces.readers.chat.transcript import add_thread, history_ids
from traces.readers.files.json_text import embedded
from traces.readers.files.sample import Sample
from traces.readers.formats.requests.openai_answer import sampling_of
from traces.readers.formats.swe_agent.steps import Asked, asked_by, same_response
from traces.readers.intake import Intake
from traces.readers.tags import scalar_tags
from traces.session.session import Session
from traces.session.turn import Fidelity

STEP_KEYS = frozenset({"action", "observation", "response", "thought"})
HISTORY_KEYS = frozenset({"agent", "message_type", "is_demo"})
ELIDED = ("Old environment output: (", "Old output omitted (")


class SweAgent:
    """Reads one ``.traj`` document."""

    format: ClassVar[str] = "swe-agent"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset({"trajectory", "history"})

    def match(self, sample: Sample) -> float:
        """An object with steps, or with a history whose messages name their agent."""
        document = mapping(sample.document)
        steps = mappings(document.get("trajectory"))[:10]
        history = mappings(document.get("history"))[:10]
        fits = [len(STEP_KEYS & step.keys()) >= 2 for step in steps]
        fits += [bool(HISTORY_KEYS & message.keys()) for message in history]
        return sum(fits) / len(fits) if fits else 0.0

    def read(self, intake: Intake) -> Iterator[Session]:
        """The one session of the file."""
        document = mapping(intake.source.document)
        builder = SessionBuilder(intake, tool="SWE-agent")
        settings = mapping(embedded(document.get("replay_config")))
        agent = mapping(settings.get("agent"))
        settings = mapping(agent.get("model")) or mapping(settings.get("model"))
        builder.tags = scalar_tags(
            {"exit_status": mapping(document.get("info")).get("exit_status")}
        )
        builder.tags |= scalar_tags({"environment": document.get("environment")})
        steps = items(document.get("trajectory"))
        asked = asked_by(steps)
        if any(step.prompt for step in asked):
            self._read_steps(steps, asked, document, builder, settings)
        elif items(document.get("history")):
            self._read_history(document, builder, settings)
        else:
            self._read_bare_steps(steps, builder)
        if builder.turn_count:
            yield builder.build()

    def _read_steps(
        self,
        steps: list[Any],
        asked: list[Asked],
        document: dict[str, Any],
        builder: SessionBuilder,
        settings: dict[str, Any],
    ) -> None:
        blobs, ledger = builder.intake.blobs, builder.intake.ledger
        said = [m for m in mappings(document.get("history")) if m.get("role") == "assistant"]
        answers = [message for message in said if not message.get("is_demo")]
        history = _GrowingHistory(builder)
        for row, (step, own) in enumerate(zip(steps, asked, strict=True), 1):
            prompt = own.prompt
            if not prompt:
                ledger.skip(row, "step_without_prompt")
                continue
            ledger.use(row)
            following = asked[row].prompt if row < len(asked) else []
            candidates = (
                own.answer or {},
                answers[row - 1] if row <= len(answers) else {},
                mapping(following[len(prompt)] if len(following) > len(prompt) else {}),
            )
            made = {"content": step.get("response"), "tool_calls": step.get("tool_calls")}
            recorded = next((m for m in candidates if same_response(m, step)), made)
            builder.thread().replace(history.ids(prompt, row))
            chat = ChatReader(blobs)
            found = chat.message({**recorded, "role": "assistant"}, (row,))
            left_out = history.chat.left_out + chat.left_out
            if left_out:
                builder.left_out(row, left_out)
            for item in found:
                if isinstance(item, Answer):
                    _settle(item, settings)
                    fidelity: Fidelity = "lossy" if left_out else "exact"
                    builder.turn(builder.thread(), item, item.message(), fidelity=fidelity)

    def _read_history(
        self, document: dict[str, Any], builder: SessionBuilder, settings: dict[str, Any]
    ) -> None:
        chat, ledger = ChatReader(builder.intake.blobs), builder.intake.ledger
        transcript: list[Item] = []
        elided = False
        for row, message in enumerate(document["history"], 1):
            found = chat.message(message, (row,))
            if not found:
                ledger.skip(row, "no_message")
                continue
            ledger.use(row)
            elided = elided or any(mark in str(message.get("content")) for mark in ELIDED)
            for item in found:
                if isinstance(item, Answer):
                    item.target = not message.get("is_demo")
                    _settle(item, settings)
            transcript += found
        if elided:
            builder.warn("elided_history", None, "old results were shortened by SWE-agent")
        add_thread(builder, transcript, fidelity="lossy" if elided else "rebuilt")

    def _read_bare_steps(self, steps: list[Any], builder: SessionBuilder) -> None:
        thread, blobs, ledger = builder.thread(), builder.intake.blobs, builder.intake.ledger
        for row, step in enumerate(steps, 1):
            if not isinstance(step, dict):
                ledger.skip(row, "not_an_object")
                continue
            ledger.use(row)
            answer = Answer(content_parts(text(step.get("response")), blobs), rows=(row,))
            builder.turn(thread, answer, answer.message(), fidelity="lossy")
            shown = content_parts(text(step.get("observation")), blobs)
            thread.mids.append(builder.add(Said("user", shown, "tool", (row,)).message()))


class _GrowingHistory:
    """Message names of prompts that mostly repeat the prompt before them and add to it.

    `chat` reads what is new in each; what was no message in the last one is counted there.
    """

    def __init__(self, builder: SessionBuilder) -> None:
        self.builder = builder
        self.names: list[str] = []
        self.known: list[Any] = []
        self.chat = ChatReader(builder.intake.blobs)

    def ids(self, prompt: list[Any], row: int) -> list[str]:
        """The names of the messages of `prompt`; only what is new in it is read."""
        if prompt[: len(self.known)] != self.known:
            self.names, self.known = [], []
            self.chat = ChatReader(self.builder.intake.blobs)
        new = self.chat.items(prompt[len(self.known) :], (row,))
        self.names += history_ids(self.builder, new)
        self.known = prompt
        return list(self.names)


def _settle(answer: Answer, settings: dict[str, Any]) -> None:
    """Model and sampling from the replay configuration."""
    answer.model = text_or_none(settings.get("name"))
    answer.sampling = sampling_of({name: settings.get(name) for name in ("temperature", "top_p")})
