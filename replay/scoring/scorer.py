"""Scoring many continuations by the baseline, each once, also over several runs of the command."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

from replay.scoring.lockstep import lockstep
from replay.scoring.score_file import ScoreFile
from replay.scoring.scorer_plan import ScorerPlan
from replay.scoring.teacher_forcing import teacher_force
from replay.sending.client import StreamClient
from traces.journal.score import Score, ScoreRequest, Shape

__all__ = ["ScorerPlan", "score_all", "score_one"]


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
    outcome ``no_answer`` and is asked for again by the next run; `check_alive` is then asked too,
    and raises ServerError where a launched server has died.
    """
    wanted = {request.digest: request for request in requests}
    shape: Shape = "prefill" if plan.method == "teacher-forcing" else "decode"
    with ScoreFile(file, shape, plan.width) as scores:
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
                    if score.outcome == "no_answer":
                        unanswered[digest] = score
                        check_alive()
                    else:
                        scores.add(digest, score)
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
    """One request by the plan's method, not looked up and not kept."""
    if plan.method == "lockstep":
        return await lockstep(plan, client, request)
    if not request.continuation:
        return Score("scored")
    return await teacher_force(plan, client, request)
