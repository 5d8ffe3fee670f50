"""Agents over all routes of real vLLM, recorded through the proxy, then gated."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from draftgate.config.file import read_config
from draftgate.progress import SilentReporter
from draftgate.run.gate import run_gate
from tests.support.agents import ClaudeLike, CodexLike, PlainAgent
from tests.support.recorder import recording, sessions_in

pytest.importorskip("vllm", reason="vLLM is not installed")
pytestmark = [pytest.mark.vllm, pytest.mark.slow]

MODEL = "draftgate-pair"
LIMITS = {"max_tokens": 24, "temperature": 0}


def test_recorded_agents_are_gated(
    root: Path, tmp_path: Path, vllm_urls: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recordings = tmp_path / "recordings"

    async def traffic() -> None:
        async with (
            recording(vllm_urls["baseline"], recordings) as recorder,
            aiohttp.ClientSession() as http,
        ):
            url = recorder.url
            claude = ClaudeLike(http, url, MODEL)
            claude.temperature = 0  # vLLM's CPU build has a fault of its own in sampled turns
            async with http.get(url + "/v1/models") as models:
                assert (await models.json())["data"][0]["id"] == MODEL
            await asyncio.gather(
                claude.work("fix the tests", 3, sub_agent=True),
                CodexLike(http, url, MODEL).work("rename the file", 3),
                PlainAgent(http, url, MODEL).work("count the lines", 3, **LIMITS),
            )
            body = {"model": MODEL, "prompt": "def f(", **LIMITS}
            async with http.post(url + "/v1/completions", json=body) as answer:
                assert "choices" in await answer.json()
            async with http.post(url + "/v1/chat/completions", json={"model": MODEL}) as answer:
                assert (answer.status, "error" in await answer.json()) == (400, True)
            counts = await recorder.end()
            assert (counts["lost"], counts["reasons"]) == (0, {"refused": 1})

    asyncio.run(asyncio.wait_for(traffic(), 400))
    shapes = Counter((s.tags["route"], len(s.turns)) for s in sessions_in(recordings))
    assert shapes == {
        ("messages", 3): 2,
        ("messages", 1): 1,
        ("responses", 3): 1,
        ("chat", 3): 1,
        ("completions", 1): 1,
    }
    monkeypatch.chdir(root)
    overrides: dict[str, Any] = {
        "run": {
            "output": str(tmp_path / "runs"),
            "db": str(tmp_path / "store.duckdb"),
            "sessions": [str(recordings)],
            "tool_parser": "hermes",
        },
        **{path: {"urls": [url]} for path, url in vllm_urls.items()},
    }
    config = read_config(root / "gate.toml", overrides).model_copy(update={"arms": ()})
    outcome = run_gate(config, SilentReporter())
    assert outcome.codes == {}
    assert outcome.counts["turns_judged"] == 13
    assert outcome.verdict.verdict in ("pass", "inconclusive")
