"""Teacher forcing against lockstep: seconds per continuation, by lengths and forks.

    python benchmarks/scorers.py models/weights/target

    prompt  answer  forks   teacher-forcing   lockstep
     12000      64      0            9.32 s     1.17 s

Lockstep finds the prompt in the prefix cache, as it does after an arm has run; teacher forcing
never reads it.
"""

import argparse
import asyncio
import random
import tempfile
import time
from pathlib import Path

from replay.launch.command import ServerSpec
from replay.launch.server import Server
from replay.scoring.scorer import ScorerPlan, score_one
from replay.scoring.scorer_plan import Method
from replay.scoring.token_stream import continuation_request, stream_tokens
from replay.sending.client import StreamClient
from traces.journal.score import ScoreRequest

FLAGS = ("--enforce-eager", "--max-model-len", "16384")
CASES = [
    (1000, 64, 0),
    (1000, 256, 0),
    (4000, 64, 0),
    (4000, 64, 4),
    (12000, 64, 0),
    (12000, 256, 4),
]
SALT = "benchmark"


async def greedy(client: StreamClient, model: str, prompt: list[int], count: int) -> list[int]:
    """The model's own continuation; it leaves the prompt in the prefix cache."""
    body = continuation_request(model, prompt, count, top_logprobs=2, cache_salt=SALT)
    return [token.id async for token in stream_tokens(client, {**body, "ignore_eos": True})]


async def seconds(url: str, model: str, request: ScoreRequest, method: Method) -> float:
    plan = ScorerPlan(url, model, method=method, cache_salt=SALT)
    async with StreamClient(url) as client:
        start = time.perf_counter()
        score = await score_one(plan, client, request)
        if score.outcome != "scored":
            raise SystemExit(f"{method}: {score.outcome}: {score.error}")
        return time.perf_counter() - start


async def measure(url: str, model: str) -> None:
    draw = random.Random(0)
    print("prompt  answer  forks   teacher-forcing   lockstep")
    for length, answer, forks in CASES:
        prompt = [draw.randrange(300, 3000) for _ in range(length)]
        async with StreamClient(url) as client:
            tokens = await greedy(client, model, prompt, answer)
            for place in range(forks):
                at = (place + 1) * answer // (forks + 1)
                tokens = [*tokens[:at], draw.randrange(300, 3000)]
                tokens += await greedy(client, model, [*prompt, *tokens], answer - at - 1)
        request = ScoreRequest(tuple(prompt), tuple(tokens))
        forced = await seconds(url, model, request, "teacher-forcing")
        walked = await seconds(url, model, request, "lockstep")
        print(f"{length:6} {answer:7} {forks:6} {forced:15.2f} s {walked:8.2f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="folder of the target model")
    spec = ServerSpec(
        "baseline", parser.parse_args().model, FLAGS, env={"VLLM_CPU_KVCACHE_SPACE": "1"}
    )
    with tempfile.TemporaryDirectory() as folder, Server(spec, Path(folder) / "log") as server:
        server.wait_healthy()
        asyncio.run(measure(server.url, spec.model_name))


if __name__ == "__main__":
    main()
