"""Usage and sampling parameters in the words of the OpenAI APIs."""

from math import inf, ulp
from typing import Any

from traces.readers.chat.shapes import integer, items, mapping, number, text_or_none
from traces.session.turn import Sampling, Usage

LIMITS: dict[str, tuple[float, float]] = {
    "temperature": (0, inf),
    "top_p": (ulp(0), 1),
    "min_p": (0, 1),
    "frequency_penalty": (-2, 2),
    "presence_penalty": (-2, 2),
    "repetition_penalty": (ulp(0), inf),
}
"""What vLLM takes."""


def openai_usage(usage: Any) -> Usage | None:
    """Usage of chat completions (``prompt_tokens``), Responses or Anthropic (``input_tokens``)."""
    counts = mapping(usage)
    if not counts:
        return None
    details = mapping(counts.get("prompt_tokens_details", counts.get("input_tokens_details")))
    produced = mapping(counts.get("completion_tokens_details", counts.get("output_tokens_details")))
    prompt = integer(counts.get("prompt_tokens", counts.get("input_tokens")))
    read = integer(counts.get("cache_read_input_tokens"))
    written = integer(counts.get("cache_creation_input_tokens"))
    if prompt is not None and (read is not None or written is not None):
        prompt += (read or 0) + (written or 0)
    cached = integer(details.get("cached_tokens"))
    return Usage(
        prompt=prompt,
        cached=read if cached is None else cached,
        completion=integer(counts.get("completion_tokens", counts.get("output_tokens"))),
        reasoning=integer(produced.get("reasoning_tokens")),
    )


MOST_LOGPROBS = 20
"""As many alternatives as a server lists at most."""


def _within(value: Any, least: float, most: float) -> Any:
    return value if value is not None and least <= value <= most else None


def sampling_of(body: dict[str, Any]) -> Sampling | None:
    """The sampling parameters among the fields of a request; None if there are none.

    A value that no server takes is none.
    """
    found: dict[str, Any] = {
        name: _within(number(body.get(name)), *limits) for name, limits in LIMITS.items()
    }
    found["top_k"] = _within(integer(body.get("top_k")), -1, inf)
    found["seed"] = integer(body.get("seed"))
    lengths = ("max_completion_tokens", "max_tokens", "max_output_tokens", "max_new_tokens")
    found["max_tokens"] = next(
        (length for name in lengths if (length := _within(integer(body.get(name)), 1, inf))), None
    )
    stop = body.get("stop", body.get("stop_sequences"))
    stops = [stop] if isinstance(stop, str) else [s for s in items(stop) if isinstance(s, str)]
    found["stop"] = tuple(stops) or None
    effort = body.get("reasoning_effort", mapping(body.get("reasoning")).get("effort"))
    found["effort"] = text_or_none(effort)
    if body.get("logprobs") is True:
        found["logprobs"] = True
        found["top_logprobs"] = _within(integer(body.get("top_logprobs")), 0, MOST_LOGPROBS)
    sampling = Sampling(**found)
    return None if sampling == Sampling() else sampling
