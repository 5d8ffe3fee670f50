"""What a server's answers show of its decoding."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Observables:
    """Seen in the answers to a few small requests that ask for everything.

    `refused` holds the server's words where it refused the first; all others are then None.
    `alternatives` counts the listed logprobs per token; fewer than 2 hide the argmax. `speculation`
    says whether drafts are shown step by step (vLLM's ``detailed``; a summary is not enough), and
    `drafted` in how many steps of these answers something was drafted. `processed_logprobs` says
    whether logprobs follow the temperature, as the sampler's do. `draft_ids` says whether the steps
    that drafted show which tokens; None where none drafted.
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
    drafted: int | None = None
    processed_logprobs: bool | None = None
    draft_ids: bool | None = None
