"""Teacher forcing: the baseline scores given continuations, token by token.

One ``/v1/completions`` request per continuation: the prompt is prompt ids + continuation ids as
captured (nothing is tokenised again), `prompt_logprobs` 1 asks for each token's own log probability
and the best one's, and one token is generated because vLLM wants at least one. vLLM never reads the
prefix cache for such a request, so each costs a full prefill.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from replay.client import StreamClient
from replay.score_answer import read_score
from replay.score_file import ScoreFile
from traces.capture import CaptureKey
from traces.score import Score, ScoreRequest

ROUTE = "/v1/completions"


@dataclass(frozen=True, slots=True)
class ScorerPlan:
    """Where and how to score. Each request in flight holds one answer (about 140 bytes per prompt
    token) in memory, so `concurrency` bounds it.
    """

    url: str
    model: str
    cache_salt: str = "score"
    api_key: str = field(default="", repr=False)
    concurrency: int = 2
    timeout_s: float = 600.0


async def score_all(
    plan: ScorerPlan,
    requests: Iterable[ScoreRequest],
    file: Path,
    *,
    progress: Callable[[int], None] = lambda done: None,
    check_alive: Callable[[], None] = lambda: None,
) -> dict[str, Score]:
    """Digest -> score for every request; those in `file` already are not asked for again.

    `progress` gets the number of requests done. An answer that never came is a Score with the
    outcome ``no_answer`` and is asked for again by the next run.
    """
    wanted = {request.digest: request for request in requests}
    with ScoreFile(file) as scores:
        missing = [item for item in wanted.items() if item[0] not in scores.known]
        done = len(wanted) - len(missing)
        progress(done)
        unanswered: dict[str, Score] = {}
        waiting = iter(missing)
        async with StreamClient(plan.url, api_key=plan.api_key, timeout_s=plan.timeout_s) as client:

            async def work() -> None:
                nonlocal done
                for digest, request in waiting:
                    score = await score_one(plan, client, request)
                    scores.add(digest, score)
                    if score.outcome == "no_answer":
                        unanswered[digest] = score
                        check_alive()
                    done += 1
                    progress(done)

            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(plan.concurrency, len(missing))):
                        group.create_task(work())
            except ExceptionGroup as errors:
                raise errors.exceptions[0] from errors
        return {digest: (unanswered | scores.known)[digest] for digest in wanted}


async def score_one(plan: ScorerPlan, client: StreamClient, request: ScoreRequest) -> Score:
    """One request, not looked up and not kept."""
    if not request.continuation:
        return Score("scored")
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
