"""The jobs and the plan of an arm that a scripted server answers."""

from typing import Any

from replay.sending.arm import ArmPlan
from replay.sending.job import Job


def jobs(sessions: int, turns: int) -> list[list[Job]]:
    return [
        [Job(f"s{s}", f"t{t}", {"session": f"s{s}", "turn": f"t{t}"}) for t in range(turns)]
        for s in range(sessions)
    ]


def plan(*urls: str, concurrency: int = 2, **more: Any) -> ArmPlan:
    return ArmPlan("r1", "candidate", "main", urls, concurrency, retry_wait_s=0.01, **more)
