"""Tool calls against the reference: pairing, and equality by name and typed arguments."""

from collections.abc import Iterator, Sequence

from checks.formats import json_values
from checks.formats.json_values import NotJson
from checks.pair import Pair
from traces.wire.response import ToolCall

CallPair = tuple[ToolCall, ToolCall | None]
"""(candidate's call, the reference's call it is compared with)."""


def same_arguments(candidate: str, baseline: str) -> bool:
    """Equal as typed JSON values; text that is no JSON only as the same text."""
    if candidate == baseline:
        return True
    try:
        return json_values.equal(json_values.parse(candidate), json_values.parse(baseline))
    except NotJson:
        return False


def same_call(candidate: ToolCall, baseline: ToolCall) -> bool:
    """Equal name and arguments; ids are made up by the server and do not count."""
    return candidate.name == baseline.name and same_arguments(
        candidate.arguments, baseline.arguments
    )


def same_calls(baseline: Sequence[ToolCall], candidate: Sequence[ToolCall]) -> bool | None:
    """As many calls, each equal to the one in its place; `None` where neither side calls."""
    if not baseline and not candidate:
        return None
    return len(baseline) == len(candidate) and all(map(same_call, candidate, baseline))


def pair_calls(candidate: tuple[ToolCall, ...], baseline: tuple[ToolCall, ...]) -> list[CallPair]:
    """Hold each of the candidate's calls against one of the reference's.

    By call order; where there are fewer than the reference has, equal calls are paired first and
    the rest in order, so that one lost call does not make its followers differ. A call beyond the
    reference's has no partner.
    """
    if len(candidate) >= len(baseline):
        partners = [*baseline, *[None] * (len(candidate) - len(baseline))]
        return list(zip(candidate, partners, strict=True))
    free = list(range(len(baseline)))
    chosen: dict[int, int] = {}
    for place, call in enumerate(candidate):
        match = next((i for i in free if same_call(call, baseline[i])), None)
        if match is not None:
            chosen[place] = match
            free.remove(match)
    for place in range(len(candidate)):
        if place not in chosen:
            chosen[place] = free.pop(0)
    return [(call, baseline[chosen[place]]) for place, call in enumerate(candidate)]


def paired_calls(pair: Pair) -> Iterator[CallPair]:
    """The candidate's usable calls with their partners."""
    if pair.candidate.message is None:
        return
    reference = pair.baseline.message
    reference_calls = reference.calls if reference is not None else ()
    for candidate, partner in pair_calls(pair.candidate.message.calls, reference_calls):
        if candidate.name:
            yield candidate, partner
