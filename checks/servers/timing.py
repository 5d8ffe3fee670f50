"""Times of one streamed response, from the arrival of its events.

    TTFT = arrival of the first event with output
    TPOT = (arrival of the last output - TTFT) / (output tokens - 1)

TPOT, not gaps between events: under speculation one event carries several tokens.
"""

from dataclasses import dataclass
from itertools import pairwise

from traces.wire.response import Response


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds; `None` where the response has too little output to tell.

    `max_gap_ms` is the longest wait between two events after the first.
    """

    ttft_ms: float | None
    tpot_ms: float | None
    max_gap_ms: float | None


def timing_of(response: Response) -> Timing:
    """Times of a response.

    Output is what carries token ids; where none were asked for, what carries a delta (vLLM sends
    the role header together with the first token, so it arrives no earlier).
    """
    with_ids = any(chunk.token_ids is not None for chunk in response.chunks)
    output = [c.at_ms for c in response.chunks if (c.token_ids if with_ids else c.has_delta)]
    if not output:
        return Timing(None, None, None)
    tokens = response.usage.completion if response.usage else None
    tpot = None if tokens is None or tokens < 2 else (output[-1] - output[0]) / (tokens - 1)
    arrivals = [chunk.at_ms for chunk in response.chunks]
    gaps = [after - before for before, after in pairwise(arrivals)]
    return Timing(output[0], tpot, max(gaps, default=None))
