"""Fitting turns into the server's context, before anything is sent.

vLLM silently lowers `max_tokens` to what is left of its context (`get_max_tokens` in
`entrypoints/serve/utils/api_utils.py`); a turn cut there would look cut by mistake. So the prompt
of each turn is measured once with ``/tokenize``, and every arm gets the same `max_tokens`.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from replay.sending.endpoint import Endpoint
from replay.sending.job import Job, SessionJobs
from traces.journal.exchange import TurnId

MIN_ROOM = 32
"""A turn with less room than this (tokens), and than its own `max_tokens`, is not worth sending."""

SCORER_ROOM = 1
"""The scorer sends prompt and answer together and must generate one token more."""


@dataclass(slots=True)
class Fitted:
    """`sessions` hold the turns that fit; `skipped` gives the reason for each that does not;
    `prompt_tokens` the length of each prompt. A server without ``/tokenize`` leaves all as it was.
    """

    sessions: list[list[Job]] = field(default_factory=list)
    skipped: dict[tuple[str, str], str] = field(default_factory=dict)
    prompt_tokens: dict[tuple[str, str], int] = field(default_factory=dict)


async def prompts_of(
    server: Endpoint, model: str, sessions: Sequence[SessionJobs]
) -> dict[TurnId, tuple[int, ...]]:
    """The prompt's token ids of every turn whose prompt the server shows."""
    found = {}
    for session in sessions:
        for job in session:
            tokenized = await server.tokenize(model, job.request)
            if tokenized is not None:
                found[job.session, job.turn] = tokenized.ids
    return found


async def fit_turns(
    server: Endpoint,
    model: str,
    sessions: Sequence[SessionJobs],
    *,
    concurrency: int = 4,
    progress: Callable[[int], None] = lambda done: None,
) -> Fitted:
    """Measure every prompt; lower `max_tokens` to the room left, or skip the turn."""
    fitted = Fitted()
    gate = asyncio.Semaphore(concurrency)
    done = 0

    async def fit(job: Job) -> Job | None:
        nonlocal done
        async with gate:
            tokenized = await server.tokenize(model, job.request)
        done += 1
        progress(done)
        if tokenized is None or tokenized.max_model_len is None:
            return job
        prompt, context = len(tokenized.ids), tokenized.max_model_len
        fitted.prompt_tokens[job.session, job.turn] = prompt
        room = context - prompt - SCORER_ROOM
        wanted = int(job.request["max_tokens"])
        if room < min(MIN_ROOM, wanted):
            reason = f"the prompt has {prompt} tokens, the server's context {context}"
            fitted.skipped[job.session, job.turn] = reason
            return None
        return replace(job, request={**job.request, "max_tokens": min(wanted, room)})

    for session in sessions:
        jobs = await asyncio.gather(*(fit(job) for job in session))
        fitted.sessions.append([job for job in jobs if job is not None])
    return fitted
