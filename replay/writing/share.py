"""Which conversations are recorded: a share of them, drawn by seed, each whole or not at all."""

import hashlib
from collections.abc import Sequence

from traces.readers.chat.repeated import Entry


def is_drawn(prompt: Sequence[Entry], rate: float, seed: int) -> bool:
    """Whether the conversation that begins as `prompt` does is recorded.

    The draw rests on the messages up to the first of a user, which all turns of a conversation
    share. So it needs no memory, and is the same in every order of requests and after a restart.
    Conversations that begin alike share one draw.
    """
    beginning = hashlib.sha256(f"{seed}".encode())
    for entry in prompt:
        beginning.update(b"\n" + entry.key.encode())
        if entry.message.role == "user":
            break
    return int.from_bytes(beginning.digest()[:8]) < rate * 2**64
