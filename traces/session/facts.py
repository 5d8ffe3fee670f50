"""What judgement and rows need of a recorded session: names, tags and sizes, and no text."""

from collections.abc import Mapping
from dataclasses import dataclass

from traces.session.session import Session


@dataclass(frozen=True, slots=True)
class TurnFacts:
    """`skipped` says why it is not replayed, `None` where it is to be; `thread` and `fidelity` are
    those of the turn."""

    turn: str
    index: int
    thread: str
    fidelity: str
    skipped: str | None


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """Where a session comes from, its template and tags, and its turns in recorded order."""

    session: str
    format: str
    source: str
    sha256: str | None
    template: str
    tags: Mapping[str, str]
    turns: tuple[TurnFacts, ...]


def facts_of(session: Session, skipped: Mapping[str, str]) -> SessionFacts:
    """The facts of `session`; `skipped` holds the reasons of turns that are not replayed."""
    return SessionFacts(
        session=session.session_id,
        format=session.source.format,
        source=session.source.file,
        sha256=session.source.sha256,
        template=session.system.name,
        tags=dict(session.tags),
        turns=tuple(
            TurnFacts(t.turn_id, t.index, t.thread, t.fidelity, skipped.get(t.turn_id))
            for t in session.turns
        ),
    )
