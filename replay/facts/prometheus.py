"""The Prometheus text format, as far as vLLM's ``/metrics`` uses it.

    vllm:num_requests_running{engine="0",model_name="m"} 2.0

https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

LINE = re.compile(
    r"^(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)"
    r"(?:\{(?P<labels>.*)\})?\s+(?P<value>\S+)(?:\s+-?\d+)?$"
)
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')
ESCAPES = {r"\\": "\\", r"\"": '"', r"\n": "\n"}


@dataclass(frozen=True, slots=True)
class Sample:
    """One line: a metric's name, its labels, its value."""

    name: str
    labels: Mapping[str, str]
    value: float


def parse_metrics(text: str) -> list[Sample]:
    """All samples; lines that are none (comments, torn lines) are left out."""
    samples = []
    for line in text.splitlines():
        match = None if line.startswith("#") else LINE.match(line.strip())
        if match is None:
            continue
        try:
            value = float(match["value"])
        except ValueError:
            continue
        labels = {name: _unescaped(text) for name, text in LABEL.findall(match["labels"] or "")}
        samples.append(Sample(match["name"], labels, value))
    return samples


def total(samples: Iterable[Sample], name: str) -> float | None:
    """The sum over all engines, or None where the metric is not there."""
    values = [sample.value for sample in samples if sample.name == name]
    return sum(values) if values else None


def _unescaped(text: str) -> str:
    return re.sub(r"\\[\\\"n]", lambda match: ESCAPES[match[0]], text)
