"""One request to a model with its answer, in the form of an API, from a row of an export."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from traces.readers.chat.repeated import PromptReader
from traces.readers.chat.shapes import items
from traces.readers.formats.requests.chains import chained
from traces.readers.formats.requests.exchange import Exchange, read_exchange
from traces.readers.intake import Intake
from traces.session.session import Session
from traces.session.turn import Times

Read = Callable[[dict[str, Any]], "Observation | str"]
"""What a row holds, or the reason why it is not used."""


@dataclass(slots=True)
class Observation:
    """`body` and `answer` are those of chat completions or Responses; `session` groups them."""

    body: dict[str, Any]
    answer: dict[str, Any]
    session: str | None = None
    times: Times | None = None
    tags: dict[str, str] = field(default_factory=dict)


def observed_sessions(
    rows: Iterable[tuple[int, Any]], read: Read, intake: Intake, tool: str | None
) -> Iterator[Session]:
    """The sessions that the requests of some rows form."""
    yield from chained(_exchanges(rows, read, intake), intake, tool)


def _exchanges(rows: Iterable[tuple[int, Any]], read: Read, intake: Intake) -> Iterator[Exchange]:
    prompts = PromptReader(intake.blobs)
    for number, row in rows:
        found = read(row) if isinstance(row, dict) else "not_an_object"
        if isinstance(found, str):
            intake.ledger.skip(number, found)
            continue
        if not (items(found.body.get("messages")) or found.body.get("input")):
            intake.ledger.skip(number, "no_request_content")
            continue
        intake.ledger.use(number)
        exchange = read_exchange(found.body, found.answer, number, prompts)
        exchange.session, exchange.tags = found.session, found.tags
        if exchange.answer is not None and found.times is not None:
            exchange.answer.times = found.times
        yield exchange
