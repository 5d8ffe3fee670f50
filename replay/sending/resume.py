"""What a journal already holds of a run, so that no finished turn is sent twice."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replay.sending.refusal import asked_wait, context_refusal
from traces.journal.journal import JournalReader
from traces.json_bytes import decode_json, encode_json
from traces.wire.capture import Capture


@dataclass(frozen=True, slots=True)
class Finished:
    """`attempts` journaled so far; `answered` tells whether one of them settles the turn;
    `skipped` is the server's reason where it refused the turn as too long; `digest` is that of
    the last request.
    """

    attempts: int
    answered: bool
    skipped: str | None
    digest: bytes


def finished_turns(journal: Path, run: str) -> dict[tuple[str, str], Finished]:
    """(session, turn) -> what the journal holds of it for `run`."""
    found: dict[tuple[str, str], Finished] = {}
    for capture in JournalReader(journal):
        key = capture.key
        if key.run != run:
            continue
        before = found.get((key.session, key.turn))
        found[key.session, key.turn] = Finished(
            attempts=max(key.attempt + 1, before.attempts if before else 0),
            answered=settles(capture) or (before is not None and before.answered),
            skipped=context_refusal(capture),
            digest=request_digest(capture.request),
        )
    return found


def settles(capture: Capture) -> bool:
    """Whether this attempt is the turn's outcome: something was received, be it no HTTP, or the
    time ran out.

    A refused or dropped connection before the first byte is no outcome, and a busy server that
    names a time to come back (`asked_wait`) neither; the turn is sent again.
    """
    if asked_wait(capture) is not None:
        return False
    received = capture.status is not None or bool(capture.events)
    return received or capture.ended in ("timeout", "malformed")


def request_digest(request: Mapping[str, Any]) -> bytes:
    """BLAKE2b-128 of the request as a journal gives it back (long numbers lose digits there)."""
    kept = encode_json(decode_json(encode_json(request)))
    return hashlib.blake2b(kept, digest_size=16).digest()
