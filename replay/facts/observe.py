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
from traces.wire.response import Response, Speculation, TopLogprob

PROBE = {"messages": [{"role": "user", "content": "Count: one two three one two three one two"}]}
PROBE_TOKENS = 8
KEY = CaptureKey(run="", path="", arm="probe", session="", turn="")

FORCING_BIAS = 100.0
EVEN = math.log(0.5)
"""A token below this is not certain; a biased one is certain to the sampler, and to it alone."""


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
        again = await client.send(KEY, repetition_probe(model, salt))
        return replace(seen, drafted=_sum(seen.drafted, _steps(response_of(again).speculation)))


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
    )


def _steps(shown: Speculation | None) -> int | None:
    """Steps of an answer that drafted; None where it shows none at all."""
    return None if shown is None else shown.steps


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

    A token that would not come is forced by a bias. Its raw log probability stays what it was.
    """
    wanted = _unlikely(response)
    if wanted is None:
        return None
    biased = {**request, "max_tokens": 1, "logit_bias": {str(wanted.id): FORCING_BIAS}}
    capture = await client.send(KEY, biased)
    first = next(iter(response_of(capture).tokens or ()), None) if capture.status == 200 else None
    if first is None or first.id != wanted.id or first.logprob is None:
        return None
    return first.logprob > EVEN


def _unlikely(response: Response) -> TopLogprob | None:
    """A listed alternative of the first token that has less than even odds."""
    first = next(iter(response.tokens or ()), None)
    if first is None:
        return None
    others = (token for token in first.top if token.id not in (None, first.id))
    return next((token for token in others if token.logprob < EVEN), None)
