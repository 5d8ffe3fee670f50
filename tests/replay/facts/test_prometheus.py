"""Reading ``/metrics``, and sampling it while an arm runs."""

import asyncio
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client.samples import Sample

from replay.facts.prometheus import parse_metrics, total
from replay.facts.sampler import MetricsSampler, read_samples, server_sample
from replay.launch.gpu import GpuReader
from tests.support.scripted.server import Answer, Seen, scripted

TEXT = r"""# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="a \"b\" {c},d=\"e\" \\ \n"} 2.0
vllm:num_requests_running{engine="1",model_name="m"} 3.0
vllm:kv_cache_usage_perc{engine="0"} 0.5
vllm:kv_cache_usage_perc{engine="1"} 0.25
vllm:num_preemptions_total{engine="0"} 7.0
vllm:spec_decode_num_drafts_total{engine="0"} 1e+03
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="1"} 40.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="0"} 90.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="1",position="0"} 5.0
process_start_time_seconds 1.76e+09 1764429485000
vllm:torn_line{engine="0"
not a sample
"""


def test_values_labels_and_escapes() -> None:
    samples = parse_metrics(TEXT)
    assert samples[0] == Sample(
        "vllm:num_requests_running",
        {"engine": "0", "model_name": 'a "b" {c},d="e" \\ \n'},
        2.0,
    )
    assert samples[-1][:3] == ("process_start_time_seconds", {}, 1.76e9)
    assert len(samples) == 10


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("a 2", 2.0),
        ("a\t2 17", 2.0),
        ("a +Inf", math.inf),
        ("a " + "9" * 300, 1e300),
        ("a " + "9" * 4_000, None),
        ("a " + "9" * 2_000_000, math.inf),
        ("a 1 " + "9" * 4_000, None),
        ("a{" * 100_000, None),
        ('a{b="' + "\\" * 20_001, None),
        ('a{b="c"', None),
        ("a", None),
        ("a two", None),
        ('{"a"} 2', 2.0),
        ("<html>502 Bad Gateway</html>", None),
    ],
)
def test_no_line_costs_the_others_or_hangs(line: str, value: float | None) -> None:
    begun = time.process_time()
    samples = parse_metrics(f"before 1\n{line}\nafter 1\n")
    assert time.process_time() - begun < 2
    assert [sample.name for sample in samples] == ["before", *["a"] * (value is not None), "after"]
    if value is not None:
        assert samples[1].value == pytest.approx(value)


def test_engines_are_summed_and_the_absent_stays_absent() -> None:
    samples = parse_metrics(TEXT)
    assert total(samples, "vllm:num_requests_running") == 5.0
    assert total(samples, "vllm:num_requests_waiting") is None


def test_a_sample_of_a_server() -> None:
    sample = server_sample("candidate", "main", "http://c", 12.5, TEXT)
    assert (sample.running, sample.waiting, sample.preemptions) == (5.0, None, 7.0)
    assert sample.kv_cache_use == pytest.approx(0.375)
    assert sample.drafts == 1000.0
    assert sample.accepted_per_position == (95.0, 40.0)
    assert sample.draft_tokens is None


def test_a_server_without_speculation_has_none_and_not_zero() -> None:
    sample = server_sample("baseline", "main", "http://b", 0, "vllm:num_requests_running 0.0\n")
    assert sample.running == 0.0
    assert sample.drafts is None
    assert sample.accepted_per_position is None


def test_sampling_starts_at_once_goes_on_and_ends_with_a_last_sample(tmp_path: Path) -> None:
    file = tmp_path / "samples.zst"
    asked = 0

    def script(seen: Seen) -> Answer:
        nonlocal asked
        asked += 1
        if asked == 2:
            return Answer(status=503)
        text = f"vllm:generation_tokens_total {asked}\n"
        return Answer(writes=[text.encode()], content_type="text/plain")

    async def run() -> MetricsSampler:
        async with scripted(script) as server:
            sampler = MetricsSampler("candidate", "main", [server.url], file, every_s=0.05)
            async with sampler:
                while asked < 4:
                    await asyncio.sleep(0.01)
        return sampler

    sampler = asyncio.run(run())
    samples = read_samples(file)
    assert [s.generation_tokens for s in samples] == [1, *range(3, asked + 1)]
    assert len(samples) >= 4
    assert sampler.missed == 1
    assert samples[0].at < samples[-1].at


def test_a_server_that_dies_ends_neither_sampling_nor_arm(tmp_path: Path) -> None:
    async def run() -> MetricsSampler:
        async with scripted(lambda seen: Answer(writes=[b"a 1\n"])) as server:
            sampler = MetricsSampler(
                "candidate", "main", [server.url], tmp_path / "s.zst", every_s=60
            )
            await sampler.__aenter__()
        await sampler.__aexit__(None, None, None)
        return sampler

    assert asyncio.run(run()).missed == 1
    assert len(read_samples(tmp_path / "s.zst")) == 1


class FakeNvml:
    """Two GPUs, as NVML shows them; `fail` names the call that the driver refuses."""

    class NVMLError(Exception):
        pass

    def __init__(self, fail: str = "") -> None:
        self.fail = fail

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*handle: Any) -> Any:
            if name == self.fail:
                raise self.NVMLError(name)
            return {
                "nvmlInit": None,
                "nvmlDeviceGetCount": 2,
                "nvmlDeviceGetHandleByIndex": handle[0] if handle else None,
                "nvmlDeviceGetMemoryInfo": SimpleNamespace(used=3 * 1024),
                "nvmlDeviceGetUtilizationRates": SimpleNamespace(
                    gpu=30 * handle[0] if handle else 0
                ),
            }[name]

        return call


def test_local_gpus_are_read_with_the_metrics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", FakeNvml())  # type: ignore[arg-type]
    file = tmp_path / "s.zst"

    async def run() -> None:
        async with scripted(lambda seen: Answer(writes=[b"a 1\n"])) as server:
            sampler = MetricsSampler("c", "main", [server.url], file, gpu=GpuReader(), every_s=60)
            async with sampler:
                pass

    asyncio.run(run())
    assert [(s.gpu_memory_bytes, s.gpu_utilisation) for s in read_samples(file)] == [
        (6144.0, 0.15),
        (6144.0, 0.15),
    ]


@pytest.mark.parametrize("fail", ["nvmlInit", "nvmlDeviceGetUtilizationRates"])
def test_a_driver_that_does_not_tell_gives_no_reading(
    monkeypatch: pytest.MonkeyPatch, fail: str
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", FakeNvml(fail))  # type: ignore[arg-type]
    assert GpuReader().read() is None


def test_a_machine_without_nvml_gives_no_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)  # type: ignore[arg-type]
    assert GpuReader().read() is None
