"""The second scorer: the baseline runs beside the candidate's tokens and is set right at each fork.

The baseline continues the prompt greedily. As long as it emits the candidate's tokens, its own
logprobs score them. At the first other token the request is broken off, the candidate's token is
looked up in the list (or asked for by id), and the next request starts behind it, from the
candidate's prefix, which the prefix cache still holds.

It costs one decoded token per candidate token plus one short prefill per fork, where teacher
forcing costs one uncached prefill of everything: better for long prompts with short answers, and
for servers without prompt logprobs. Its scores are decode-shaped (one row per step), those of
teacher forcing prefill-shaped; the two must not share a quantile.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from replay.scoring.score_answer import refusal_outcome
from replay.scoring.scorer_plan import ScorerPlan
from replay.scoring.token_stream import (
    StreamBroken,
    StreamedToken,
    StreamRefused,
    continuation_request,
    stream_tokens,
)
from replay.sending.client import StreamClient
from traces.journal.score import Score, ScoreRequest

TOP_LOGPROBS = 5
MAX_FORKS = 200
"""A continuation with more forks than this is no continuation of this model's."""


@dataclass(slots=True)
class _Walk:
    """What has been scored so far."""

    logprobs: list[float] = field(default_factory=list)
    top_logprobs: list[float] = field(default_factory=list)
    top_ids: list[int] = field(default_factory=list)

    def note(self, own: float, token: StreamedToken) -> None:
        best = max(token.listed, key=token.listed.__getitem__)
        self.logprobs.append(own)
        self.top_logprobs.append(token.listed[best])
        self.top_ids.append(best)


async def lockstep(plan: ScorerPlan, client: StreamClient, request: ScoreRequest) -> Score:
    """Score one continuation; the same outcomes as teacher forcing."""
    walk = _Walk()
    try:
        for _ in range(MAX_FORKS + 1):
            if len(walk.logprobs) == len(request.continuation):
                return _score(walk)
            await _follow(plan, client, request, walk)
    except StreamBroken as problem:
        return Score("no_answer", error=str(problem), shape="decode")
    except StreamRefused as problem:
        return Score(refusal_outcome(str(problem)), error=str(problem), shape="decode")
    return Score("unsupported", error=f"more than {MAX_FORKS} forks", shape="decode")


def _score(walk: _Walk) -> Score:
    own, top, ids = tuple(walk.logprobs), tuple(walk.top_logprobs), tuple(walk.top_ids)
    return Score("scored", own, top, ids, shape="decode")


async def _follow(
    plan: ScorerPlan, client: StreamClient, request: ScoreRequest, walk: _Walk
) -> None:
    """From the candidate's prefix to the next fork, or to the end."""
    start = len(walk.logprobs)
    prefix = (*request.prompt, *request.continuation[:start])
    wanted = request.continuation[start:]
    body = continuation_request(
        plan.model, prefix, len(wanted), top_logprobs=TOP_LOGPROBS, cache_salt=plan.cache_salt
    )
    async with aclosing(stream_tokens(client, body)) as tokens:
        fork = await _agree(tokens, wanted, walk)
    if fork is not None:
        expected = request.continuation[len(walk.logprobs)]
        own = fork.listed.get(expected)
        if own is None:
            own = await _ask_for(plan, client, request, len(walk.logprobs), expected)
        walk.note(own, fork)
    elif len(walk.logprobs) == start:
        raise StreamRefused("the baseline generates no token here")


async def _agree(
    tokens: AsyncIterator[StreamedToken], wanted: Sequence[int], walk: _Walk
) -> StreamedToken | None:
    """Note tokens as long as they are the wanted ones; the first other one, if any."""
    for expected in wanted:
        token = await anext(tokens, None)
        if token is None or token.id != expected:
            return token
        walk.note(token.listed[expected], token)
    return None


async def _ask_for(
    plan: ScorerPlan, client: StreamClient, request: ScoreRequest, at: int, token: int
) -> float:
    """The log probability of one token that is not among the top ones."""
    prefix = (*request.prompt, *request.continuation[:at])
    body = continuation_request(
        plan.model, prefix, 1, top_logprobs=1, cache_salt=plan.cache_salt, also=[token]
    )
    async with aclosing(stream_tokens(client, body)) as tokens:
        async for answer in tokens:
            if token in answer.listed:
                return answer.listed[token]
    raise StreamRefused(f"the server does not list token {token} by id")
