"""What aider sent and got, as ``--llm-history-file`` keeps it.

    TO LLM 2024-05-05T09:00:00
    -------
    SYSTEM Act as an expert software developer.
    SYSTEM Always use best practices.
    -------
    USER fix the test
    LLM RESPONSE 2024-05-05T09:00:07
    ASSISTANT I will look at it.

Every line of a message begins with its role, so whole prompts can be read back, but for how their
lines ended. Lines without a role continue the line before (parts of a message with images).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from traces.readers.chat.content import content_parts
from traces.readers.chat.items import EMPTY, Answer
from traces.readers.chat.repeated import PromptReader
from traces.readers.files.bounded_lines import bounded_lines
from traces.readers.files.sample import Sample
from traces.readers.formats.requests.chains import chained
from traces.readers.formats.requests.exchange import Exchange
from traces.readers.intake import Intake
from traces.session.session import Session

HEADER = re.compile(r"^(TO LLM|LLM RESPONSE)(?: \(\w+\))? \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$", re.M)
WORDS = "TO LLM "
RULE = "-------"
ROLE = re.compile(r"^(SYSTEM|USER|ASSISTANT|FUNCTION|TOOL) ")


class AiderLlm:
    """Reads the prompts of a log; each is a turn. Rows are lines."""

    format: ClassVar[str] = "aider-llm-history"
    unsupported: ClassVar[str | None] = None
    keys: ClassVar[frozenset[str]] = frozenset()

    def match(self, sample: Sample) -> float:
        """Text with a header and a role after it."""
        if sample.document is not None or WORDS not in sample.head:
            return 0.0
        header = HEADER.search(sample.head)
        rest = sample.head[header.end() :] if header else ""
        return float(rest.startswith((f"\n{RULE}\n", "\nASSISTANT")))

    def read(self, intake: Intake) -> Iterator[Session]:
        """The sessions of the log: prompts that continue one another."""
        yield from chained(_exchanges(intake), intake, "aider", fidelity="rebuilt")


@dataclass(slots=True)
class _Block:
    """The messages under one header, from line `row` on."""

    kind: str
    row: int
    messages: list[tuple[str, list[str]]] = field(default_factory=list)

    def take(self, line: str) -> None:
        """One more line."""
        if line == RULE and self.kind == WORDS:
            self.messages.append(("", []))
            return
        named = ROLE.match(line)
        role = named.group(1).lower() if named else ""
        if not self.messages:
            self.messages.append(("", []))
        known, lines = self.messages[-1]
        lines.append(line[named.end() :] if named else line)
        self.messages[-1] = known or role, lines


def _exchanges(intake: Intake) -> Iterator[Exchange]:
    prompts = PromptReader(intake.blobs)
    sent: Exchange | None = None
    for block in _blocks(intake):
        texts = [(role, "\n".join(lines)) for role, lines in block.messages]
        if block.kind == WORDS:
            if sent is not None:
                yield sent
            messages = [{"role": role or "user", "content": said} for role, said in texts]
            sent = Exchange(prompts.read(messages, block.row), None, None, block.row)
        elif sent is not None:
            said = "\n".join(said for _, said in texts)
            answer = Answer(content_parts(said, intake.blobs), rows=(block.row,))
            answer.skip_reason = None if said.strip() else EMPTY
            sent.answer = answer
            yield sent
            sent = None
        else:
            intake.ledger.warn("answer_without_prompt", block.row)
    if sent is not None:
        yield sent


def _blocks(intake: Intake) -> Iterator[_Block]:
    block: _Block | None = None
    with intake.source.open() as stream:
        for number, raw in enumerate(bounded_lines(stream), 1):
            line = raw.decode("utf-8", errors="replace").rstrip("\r\n")
            header = HEADER.match(line)
            if header:
                if block is not None:
                    yield block
                block = _Block(WORDS if header.group(1) == "TO LLM" else "", number)
            elif block is None:
                intake.ledger.skip(number, "before_first_prompt")
                continue
            else:
                block.take(line)
            intake.ledger.use(number)
    if block is not None:
        yield block
