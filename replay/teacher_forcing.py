"""Teacher forcing: the baseline reads a given continuation and scores each token of it.

One ``/v1/completions`` request: the prompt is prompt ids + continuation ids as captured (nothing is
tokenised again), `prompt_logprobs` 1 asks for each token's own log probability and the best one's,
and one token is generated because vLLM wants at least one. vLLM never reads the prefix cache for
such a request, so it costs a full prefill.
"""

from typing import Any

from replay.client import StreamClient
from replay.score_answer import read_score
from replay.scorer_plan import ScorerPlan
from traces.capture import CaptureKey
from traces.score import Score, ScoreRequest

ROUTE = "/v1/completions"


async def teacher_force(plan: ScorerPlan, client: StreamClient, request: ScoreRequest) -> Score:
    """Score one continuation."""
    key = CaptureKey(run="", path="", arm="score", session="", turn=request.digest)
    return read_score(request, await client.send(key, _body(plan, request), ROUTE))


def _body(plan: ScorerPlan, request: ScoreRequest) -> dict[str, Any]:
    return {
        "model": plan.model,
        "prompt": [*request.prompt, *request.continuation],
        "max_tokens": 1,
        "temperature": 0.0,
        "prompt_logprobs": 1,
        "cache_salt": plan.cache_salt,
        "stream": False,
    }
