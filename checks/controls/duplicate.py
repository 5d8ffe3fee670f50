"""Control: a run of tokens committed twice at a step edge; `DUPLICATED_TOKEN` must fire.

baseline   A B C D | E F        planted   A B C D | C D | E F
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from checks import findings as codes
from checks.controls.edit import span_of, write
from checks.controls.pair_control import PairControl, is_seen_by_tokens, with_stream
from checks.pair import Pair
from checks.tokens.regret import above, regret_at
from traces.wire.response import Chunk, Response, Token

LONGEST = 4
"""Runs of one to four tokens, as an engine step commits them."""


def plant_duplicate(pair: Pair) -> Pair | None:
    """The shortest run before a chunk edge whose repetition rounding cannot explain."""
    stream = pair.candidate.stream
    if stream is None or stream.tokens is None or pair.baseline.tokens is None:
        return None
    edges = list(accumulate(chunk.token_ids or 0 for chunk in stream.chunks))
    for place, edge in enumerate(edges):
        for length in range(1, min(LONGEST, edge) + 1):
            if edge >= len(stream.tokens) or not _is_unlikely(pair, stream.tokens, edge, length):
                continue
            planted = duplicate(stream, place, edge, length)
            if planted is not None:
                side = replace(
                    with_stream(pair.candidate, planted),
                    step_tokens=_steps(pair.candidate.step_tokens, edge, length),
                )
                return replace(pair, candidate=side)
    return None


def _is_unlikely(pair: Pair, tokens: Sequence[Token], edge: int, length: int) -> bool:
    """Whether the baseline finds the repeated run's first token impossible at the edge."""
    baseline = pair.baseline.tokens or ()
    again = tokens[edge - length].id
    if edge >= len(baseline) or again == baseline[edge].id:
        return False
    seen = regret_at(baseline[edge], again)
    return seen is not None and above(seen.value, pair.hard_bound)


def duplicate(response: Response, chunk: int, edge: int, length: int) -> Response | None:
    """Tokens ``edge - length .. edge`` again after `edge`, in text, ids, usage and chunks.

    `chunk` is the position of the chunk that ends at `edge`. `None` where the text of the run
    cannot be placed.
    """
    tokens, usage = response.tokens or (), response.usage
    span = span_of(response, edge - length, edge)
    if span is None or usage is None or usage.completion is None:
        return None
    text = "".join(token.text or "" for token in tokens[edge - length : edge])
    edited = write(response, replace(span, start=span.end), text)
    last = response.chunks[chunk]
    return replace(
        edited,
        tokens=(*tokens[:edge], *tokens[edge - length : edge], *tokens[edge:]),
        usage=replace(usage, completion=usage.completion + length),
        chunks=(
            *response.chunks[: chunk + 1],
            Chunk(last.at_ms, length, length, True),
            *response.chunks[chunk + 1 :],
        ),
        raw_text=None,
    )


def _steps(steps: tuple[int, ...] | None, edge: int, length: int) -> tuple[int, ...] | None:
    if steps is None:
        return None
    place = list(accumulate(steps)).index(edge) if edge in accumulate(steps) else None
    return None if place is None else (*steps[: place + 1], length, *steps[place + 1 :])


DUPLICATE = PairControl(
    "duplicated run at a step edge",
    codes.DUPLICATED_TOKEN,
    is_seen_by_tokens,
    plant_duplicate,
    "no turn at temperature 0 ends with the same tokens on both paths",
)
