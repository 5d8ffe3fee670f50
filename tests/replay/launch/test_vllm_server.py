"""The embedded pair on real vLLM: what the launcher, the facts and the scorers meet there."""

import asyncio
import importlib.util
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from replay.facts.facts import gather_facts
from replay.facts.sampler import MetricsSampler, read_samples
from replay.launch.command import ServerSpec
from replay.launch.cpus import cpu_shares
from replay.launch.drafter import read_drafter
from replay.launch.server import Server
from replay.scoring.scorer import ScorerPlan, score_all
from replay.sending.arm import ArmPlan, run_arm
from replay.sending.endpoint import Endpoint
from replay.sending.fit import fit_turns
from replay.sending.job import Job
from replay.sending.request import gate_request, plain_request
from traces.journal.journal import JournalReader
from traces.journal.path_facts import PathFacts
from traces.journal.score import Score, ScoreRequest
from traces.wire.reassembly import response_of
from traces.wire.response import Response

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vLLM is not installed"),
]

FLAGS = (
    "--enforce-eager",
    "--max-model-len",
    "4096",
    "--enable-auto-tool-choice",
    "--tool-call-parser",
    "hermes",
    "--reasoning-parser",
    "qwen3",
)
TOOL = {
    "type": "function",
    "function": {
        "name": "read_file",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
    },
}


@pytest.fixture(scope="module")
def spec(root: Path) -> ServerSpec:
    weights = root / "models" / "weights"
    if not (weights / "target" / "config.json").is_file():
        pytest.skip("the embedded pair is not in models/weights")
    drafter = {
        "method": "eagle3",
        "model": str(weights / "drafter"),
        "num_speculative_tokens": 3,
    }
    return ServerSpec(
        "candidate",
        str(weights / "target"),
        flags=FLAGS,
        speculative_config=drafter,
        env={"VLLM_CPU_KVCACHE_SPACE": "1"},
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("vllm")


@pytest.fixture(scope="module")
def server(spec: ServerSpec, folder: Path) -> Iterator[Server]:
    with Server(replace(spec, cpus=cpu_shares(2)[0]), folder / "candidate.log") as running:
        running.wait_healthy()
        yield running


@pytest.fixture(scope="module")
def baseline(spec: ServerSpec, folder: Path) -> Iterator[Server]:
    """The same server without a drafter, beside the other one."""
    alone = replace(spec, name="baseline", speculative_config={}, cpus=cpu_shares(2)[1])
    with Server(alone, folder / "baseline.log") as running:
        running.wait_healthy()
        yield running


@pytest.fixture(scope="module")
def facts(spec: ServerSpec, server: Server) -> PathFacts:
    return asyncio.run(gather_facts("candidate", server.url, spec.model_name, server=server))


@pytest.fixture(scope="module")
def responses(spec: ServerSpec, server: Server, folder: Path) -> list[Response]:
    """Three sessions of two turns, replayed at concurrency 2 while the metrics are sampled."""
    chats = [
        {"messages": [{"role": "user", "content": f"Read src/part{n}.py {'again ' * n}"}]}
        for n in range(6)
    ]
    jobs = [
        Job(
            f"s{n % 3}",
            f"t{n // 3}",
            gate_request(
                {**chat, "tools": [TOOL]}, model=spec.model_name, cache_salt="a", max_tokens=24
            ),
        )
        for n, chat in enumerate(chats)
    ]
    plan = ArmPlan("r", "candidate", "main", (server.url,), concurrency=2)
    sessions = [[job for job in jobs if job.session == f"s{s}"] for s in range(3)]

    async def run() -> None:
        async with MetricsSampler("candidate", "main", [server.url], folder / "samples.zst"):
            await run_arm(plan, sessions, folder / "main.zst", check_alive=server.check_alive)

    asyncio.run(run())
    return [response_of(capture) for capture in JournalReader(folder / "main.zst")]


def test_the_drafter_s_flags_reach_vllm(spec: ServerSpec) -> None:
    configs = read_drafter(spec)
    assert configs.error is None
    assert configs.checkpoint is not None
    assert configs.effective is not None
    for flag in ("fc_norm", "norm_output"):
        assert configs.checkpoint[flag] is True
        assert configs.effective[flag] is True


def test_the_server_says_what_it_is(facts: PathFacts, spec: ServerSpec) -> None:
    assert facts.version == "0.32.0"
    assert facts.models is not None
    assert facts.models[0].id == spec.model_name
    assert facts.models[0].max_model_len == 4096
    assert facts.cache is not None
    assert int(facts.cache["block_size"]) > 0
    assert facts.probe_ids
    assert facts.speculation_metrics is True
    assert "'speculative_config'" in str(facts.non_default_args)


def test_forced_output_shows_the_hermes_parser_and_no_other(facts: PathFacts) -> None:
    assert facts.parser_probe is not None
    assert '"get_weather"' in facts.parser_probe["hermes"].split('"content"')[0]
    assert '"calls": []' in facts.parser_probe["mistral"]


def test_vllm_shows_everything_the_gate_reads(facts: PathFacts) -> None:
    seen = facts.observables
    assert seen is not None
    assert (seen.refused, seen.alternatives) == (None, 5)
    for name in ("token_ids", "prompt_token_ids", "usage", "cached_tokens", "speculation"):
        assert getattr(seen, name) is True
    assert (seen.fingerprint, seen.prompt_logprobs) == (True, True)


def test_every_turn_ends_and_its_counts_agree(responses: list[Response]) -> None:
    assert len(responses) == 6
    for response in responses:
        assert (response.status, response.done) == (200, True)
        assert response.usage is not None
        assert response.token_ids is not None
        assert response.usage.completion == len(response.token_ids)
        assert response.speculation is not None


def test_counters_of_the_server_grow_with_the_arm(responses: list[Response], folder: Path) -> None:
    first, *_, last = read_samples(folder / "samples.zst")
    assert first.drafts is not None
    assert last.drafts is not None
    steps = sum(len(r.speculation.drafted or ()) for r in responses if r.speculation)
    assert last.drafts - first.drafts == steps
    assert last.accepted_per_position is not None
    assert len(last.accepted_per_position) == 3


def test_both_scorers_agree_within_the_noise(
    responses: list[Response], spec: ServerSpec, baseline: Server, folder: Path
) -> None:
    requests = []
    for response in responses[:3]:
        prompt, ids = response.prompt_token_ids or (), response.token_ids or ()
        requests += [ScoreRequest(prompt, ids), ScoreRequest(prompt, (*ids[:5], 300, *ids[6:]))]
    forced, walked = (
        _scores(ScorerPlan(baseline.url, spec.model_name, method=method), requests, folder / method)
        for method in ("teacher-forcing", "lockstep")
    )
    for request in requests:
        left, right = forced[request.digest], walked[request.digest]
        assert (left.outcome, right.outcome) == ("scored", "scored")
        assert left.logprobs == pytest.approx(right.logprobs, abs=0.3)
        assert left.regrets == pytest.approx(right.regrets, abs=0.3)
    assert max(forced[requests[0].digest].regrets) < 0.3
    assert forced[requests[1].digest].regrets[5] > 1.0


def test_prompts_too_long_are_found_before_and_refused_when_sent(
    spec: ServerSpec, server: Server, folder: Path
) -> None:
    chat = {"messages": [{"role": "user", "content": "long words " * 4000}]}
    request = plain_request(chat, model=spec.model_name, cache_salt="a", max_tokens=8)
    job = Job("s", "t", request)

    async def run() -> tuple[str, str]:
        async with Endpoint(server.url) as endpoint:
            fitted = await fit_turns(endpoint, spec.model_name, [[job]])
        plan = ArmPlan("r", "candidate", "long", (server.url,), concurrency=1)
        sent = await run_arm(plan, [[job]], folder / "long.zst")
        return fitted.skipped["s", "t"], sent.skipped["s", "t"]

    before, after = asyncio.run(run())
    assert "the server's context 4096" in before
    assert "maximum context length is 4096" in after


def _scores(plan: ScorerPlan, requests: list[ScoreRequest], file: Path) -> dict[str, Score]:
    return asyncio.run(score_all(plan, requests, file))
