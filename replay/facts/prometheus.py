"""The samples of a server's ``/metrics``, read line by line.

    vllm:num_requests_running{engine="0",model_name="m"} 2.0

One line that is no sample must not cost the others, and the parser raises on the first.
"""

import math
from collections.abc import Iterable

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample


def parse_metrics(text: str) -> list[Sample]:
    """All samples; lines that are none (comments, torn lines) are left out."""
    samples = []
    for line in text.splitlines():
        try:
            samples += [
                sample._replace(value=float(sample.value))
                for family in text_string_to_metric_families(line)
                for sample in family.samples
            ]
        except (ValueError, IndexError, OverflowError):
            continue
    return samples


def total(samples: Iterable[Sample], name: str) -> float | None:
    """The sum over all engines, or None where the metric is not there, or is no finite number."""
    values = [sample.value for sample in samples if sample.name == name]
    return sum(values) if values and all(map(math.isfinite, values)) else None
