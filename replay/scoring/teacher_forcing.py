"""Teacher forcing: the baseline reads a given continuation and scores each token of it.

One ``/v1/completions`` request: the prompt is prompt ids + continuation ids as captured (nothing is
tokenized again), `prompt_logprobs` asks for each token's own log probability and the `width` best
ones, and one token is generated because vLLM wants at least one. vLLM never reads the prefix cache
for such a request, so it costs a full prefill.
"""

from typing import Any

import aiohttp

from replay.scoring.score_answer import EntryScanner, refusal_outcome, score_of
from replay.scoring.scorer_plan import ScorerPlan
from replay.sending.client import StreamClient
from replay.sending.connection import error_body
from replay.sending.refusal import message_of
from traces.journal.score import Score, ScoreRequest
from traces.limits import PastLimit
from traces.shortage import raise_shortage

ROUTE = "/v1/completions"


async def teacher_force(plan: ScorerPlan, client: StreamClient, request: ScoreRequest) -> Score:
    """Score one continuation."""
    scanner = EntryScanner(keep=len(request.continuation))
    try:
        async with client.exchange(_body(plan, request), ROUTE) as answer:
            if answer.status != 200:
                message = message_of(await error_body(answer))
                return Score(refusal_outcome(message), error=message)
            async for read in answer.content.iter_any():
                scanner.feed(read)
    except PastLimit as limit:
        return Score("unsupported", error=f"{plan.url}: {limit}")
    except (TimeoutError, aiohttp.ClientError, OSError) as problem:
        raise_shortage(problem)
        return Score("no_answer", error=f"{type(problem).__name__}: {problem}")
    return score_of(request, scanner, plan.width)


def _body(plan: ScorerPlan, request: ScoreRequest) -> dict[str, Any]:
    return {
        "model": plan.model,
        "prompt": [*request.prompt, *request.continuation],
        "max_tokens": 1,
        "temperature": 0.0,
        "prompt_logprobs": plan.width,
        "cache_salt": plan.cache_salt,
        "stream": False,
    }
