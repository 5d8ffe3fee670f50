"""A few small requests that ask for everything, to see early what a server shows of its decoding.

a turn                  token ids, logprobs, usage, steps that drafted
its tokens              whether the server scores given ones
a token that is biased  whether logprobs are those the sampler saw
a forced repetition     whether anything is drafted, where the turn does not show it
"""

import math
from dataclasses import replace

from replay.facts.probes import repetition_probe
from replay.scoring.scorer_plan import ScorerPlan
from replay.scoring.teacher_forcing import teacher_force
from replay.sending.client import StreamClient
from replay.sending.refusal import error_message
from replay.sending.request import gate_request
from traces.journal.observables import Observables
from traces.journal.score import ScoreRequest
from traces.wire.capture import CaptureKey
from traces.wire.reassembly import response_of
from traces.wire.response import Response, Speculation

PROBE = {"messages": [{"role": "user", "content": "Count: one two three one two three one two"}]}
PROBE_TOKENS = 8
KEY = CaptureKey(run="", path="", arm="probe", session="", turn="")

TEMPERATURE = 2.0
LEAST_DISTANCE = 0.5
"""In nat, between the first token's alternatives: of smaller ones rounding takes too much."""


async def observe(
    url: str, model: str, *, api_key: str = "", salt: str = "probe", drafts: bool | None = None
) -> Observables:
    """What of the gate's wishes the server fulfills.

    `drafts` is whether its metrics have counters of speculation; where they have none (False), a
    second look for drafts is spared.
    """
    request = gate_request(PROBE, model=model, cache_salt=salt, max_tokens=PROBE_TOKENS)
    async with StreamClient(url, api_key=api_key) as client:
        capture = await client.send(KEY, request)
        if capture.status != 200:
            return Observables(refused=error_message(capture) or capture.error)
        response = response_of(capture)
        seen = replace(
            _seen(response),
            prompt_logprobs=await _scores(ScorerPlan(url, model), client, response),
            processed_logprobs=await _processed(client, request, response),
        )
        if seen.drafted or drafts is False:
            return seen
        again = response_of(await client.send(KEY, repetition_probe(model, salt))).speculation
        drafted = _sum(seen.drafted, _steps(again))
        return replace(seen, drafted=drafted, draft_ids=_shows_ids(again))


def _seen(response: Response) -> Observables:
    tokens, usage, shown = response.tokens or (), response.usage, response.speculation
    listed = [len(token.top) for token in tokens]
    return Observables(
        token_ids=response.token_ids is not None,
        alternatives=min(listed, default=0),
        prompt_token_ids=response.prompt_token_ids is not None,
        usage=usage is not None and usage.completion is not None,
        cached_tokens=usage is not None and usage.cached is not None,
        speculation=shown is not None and shown.step_by_step,
        fingerprint=response.system_fingerprint is not None,
        drafted=_steps(shown),
        draft_ids=_shows_ids(shown),
    )


def _steps(shown: Speculation | None) -> int | None:
    """Steps of an answer that drafted; None where it shows none at all."""
    return None if shown is None else shown.steps


def _shows_ids(shown: Speculation | None) -> bool | None:
    """Whether an answer shows which tokens were drafted; None where none were."""
    return any(shown.draft_ids or ()) if shown is not None and shown.steps else None


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None and second is None else (first or 0) + (second or 0)


async def _scores(plan: ScorerPlan, client: StreamClient, response: Response) -> bool | None:
    """Whether the server scores given tokens; None where there are no ids to ask with."""
    prompt, answer = response.prompt_token_ids, response.token_ids
    if not prompt or not answer:
        return None
    score = await teacher_force(plan, client, ScoreRequest(prompt, answer[:2]))
    return score.outcome == "scored"


async def _processed(
    client: StreamClient, request: dict[str, object], response: Response
) -> bool | None:
    """Whether logprobs are those the sampler saw; None where the server does not show it.

    A temperature of 2 halves every distance between two of them; raw ones stay what they were.
    """
    warm = {**request, "max_tokens": 1, "temperature": TEMPERATURE, "seed": 0}
    capture = await client.send(KEY, warm)
    before = _listed(response)
    after = _listed(response_of(capture)) if capture.status == 200 else {}
    shared = sorted(before.keys() & after.keys(), key=lambda token: before[token])
    if len(shared) < 2:
        return None
    low, high = shared[0], shared[-1]
    distance = before[high] - before[low]
    if distance < LEAST_DISTANCE:
        return None
    return after[high] - after[low] < distance * (1 + 1 / TEMPERATURE) / 2


def _listed(response: Response) -> dict[int, float]:
    """Log probabilities of the alternatives of the first token, by id."""
    first = next(iter(response.tokens or ()), None)
    listed = first.top if first is not None else ()
    return {t.id: t.logprob for t in listed if t.id is not None and math.isfinite(t.logprob)}
