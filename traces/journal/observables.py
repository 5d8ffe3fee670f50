"""What a server's answers show of its decoding."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Observables:
    """Seen in the answer to one small request that asks for everything.

    `refused` holds the server's words where it refused that request; all others are then None.
    `alternatives` counts the listed logprobs per token; fewer than 2 hide the argmax.
    """

    refused: str | None = None
    token_ids: bool | None = None
    alternatives: int | None = None
    prompt_token_ids: bool | None = None
    usage: bool | None = None
    cached_tokens: bool | None = None
    speculation: bool | None = None
    fingerprint: bool | None = None
    prompt_logprobs: bool | None = None
