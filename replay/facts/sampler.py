"""Sampling each server's ``/metrics`` while an arm runs.

    async with MetricsSampler("candidate", "main", urls, folder / "candidate-main-samples.zst"):
        await run_arm(…)

The samples go to a file of JSON lines like the journal's, so that a run can be judged again.
"""

import asyncio
import contextlib
import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from msgspec import convert
from prometheus_client.samples import Sample

from replay.facts.prometheus import parse_metrics, total
from replay.launch.gpu import GpuReader
from replay.sending.endpoint import Endpoint
from traces.clock import seconds
from traces.errors import MachineError, ServerError
from traces.journal.frames import FrameReader, FrameWriter
from traces.journal.server_sample import ServerSample
from traces.json_bytes import decode_json, encode_json

EVERY_S = 1.0

METRICS = {
    "started": "process_start_time_seconds",
    "running": "vllm:num_requests_running",
    "waiting": "vllm:num_requests_waiting",
    "kv_cache_use": "vllm:kv_cache_usage_perc",
    "preemptions": "vllm:num_preemptions_total",
    "prompt_tokens": "vllm:prompt_tokens_total",
    "generation_tokens": "vllm:generation_tokens_total",
    "prefix_queries": "vllm:prefix_cache_queries_total",
    "prefix_hits": "vllm:prefix_cache_hits_total",
    "drafts": "vllm:spec_decode_num_drafts_total",
    "draft_tokens": "vllm:spec_decode_num_draft_tokens_total",
    "accepted_tokens": "vllm:spec_decode_num_accepted_tokens_total",
}
"""Field -> metric, of `vllm/v1/metrics/loggers.py` and `vllm/v1/spec_decode/metrics.py`."""

PER_POSITION = "vllm:spec_decode_num_accepted_tokens_per_pos_total"
WANTED = (*METRICS.values(), PER_POSITION)

LONGEST_PLACE = 4
"""Digits of a draft position."""


class MetricsSampler:
    """Takes one sample per URL at once, then every `every_s` seconds, and one at the end.

    `missed` counts samples that a server did not give; an arm is never ended for one. `gpu` is for
    launched servers, which run on this machine.
    """

    def __init__(
        self,
        path: str,
        arm: str,
        urls: Sequence[str],
        file: Path,
        *,
        api_key: str = "",
        every_s: float = EVERY_S,
        gpu: GpuReader | None = None,
    ) -> None:
        self.path = path
        self.arm = arm
        self.every_s = every_s
        self.missed = 0
        self._gpu = gpu
        self._endpoints = [Endpoint(url, api_key=api_key, timeout_s=5.0) for url in urls]
        self._file = file
        self._stack = contextlib.AsyncExitStack()
        self._ending = asyncio.Event()
        self._part = 0.0

    async def __aenter__(self) -> Self:
        self._writer = self._stack.enter_context(FrameWriter(self._file))
        for endpoint in self._endpoints:
            await self._stack.enter_async_context(endpoint)
        self._part = seconds()
        await self._sample()
        self._task = asyncio.create_task(self._loop())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ending.set()
        await self._task
        if error is None:
            await self._sample()
        await self._stack.aclose()

    async def _loop(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ending.wait(), self.every_s)
                return
            await self._sample()

    async def _sample(self) -> None:
        for endpoint in self._endpoints:
            try:
                text = await endpoint.get_text("/metrics")
            except (ServerError, MachineError):
                text = None
            if text is None:
                self.missed += 1
                continue
            sample = server_sample(self.path, self.arm, endpoint.base_url, seconds(), text)
            sample = dataclasses.replace(sample, part=self._part)
            reading = self._gpu.read() if self._gpu else None
            if reading is not None:
                sample = dataclasses.replace(
                    sample,
                    gpu_memory_bytes=reading.memory_bytes,
                    gpu_utilisation=reading.utilization,
                )
            self._writer.append(encode_json(dataclasses.asdict(sample)) + b"\n")


def server_sample(path: str, arm: str, url: str, at: float, text: str) -> ServerSample:
    """The sample in one answer of ``/metrics``; several engines of a server are summed up.

    Only the lines that are wanted are parsed: the arm's own reads wait meanwhile.
    """
    lines = [line for line in text.splitlines() if line.startswith(WANTED)]
    samples = parse_metrics("\n".join(lines))
    values = {field: total(samples, metric) for field, metric in METRICS.items()}
    engines = sum(sample.name == METRICS["kv_cache_use"] for sample in samples)
    if values["kv_cache_use"] is not None and engines > 1:
        values["kv_cache_use"] /= engines
    return ServerSample(path, arm, url, at, **values, accepted_per_position=_positions(samples))


def read_samples(file: Path) -> list[ServerSample]:
    """What a sampler wrote, oldest first. Raises InputError for what is no sample."""
    frames = FrameReader(file)
    samples = []
    for line in frames:
        try:
            samples.append(convert(decode_json(line), ServerSample))
        except ValueError as error:
            why = f"not a reading of the server's metrics ({error!s:.200})"
            raise frames.damaged(why, "restore the file from a copy, or take it away") from None
    return samples


def _positions(samples: Sequence[Sample]) -> tuple[float, ...] | None:
    by_position: dict[int, float] = {}
    for sample in samples:
        place = sample.labels.get("position", "")
        if sample.name != PER_POSITION or not math.isfinite(sample.value):
            continue
        if place.isdecimal() and len(place) <= LONGEST_PLACE:
            position = int(place)
            by_position[position] = by_position.get(position, 0.0) + sample.value
    return tuple(by_position[position] for position in sorted(by_position)) or None
