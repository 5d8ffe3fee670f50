"""Control: a run of another request's output in this one; `CROSS_REQUEST_LEAK` must fire.

What a slot of the KV cache or of the sampler's batch does that is read by the wrong request.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from checks import findings as codes
from checks.controls.edit import span_of, write
from checks.controls.pair_control import PairControl, is_seen_by_tokens, with_stream
from checks.exact.neighbours import FEWEST_CHARACTERS, FEWEST_TOKENS, own_texts
from checks.pair import Neighbour, Pair
from checks.tokens.regret import above, regret_at
from traces.wire.response import Response, Token
from traces.wire.tokens import joined_text

LONGEST = 12
"""Most tokens of the leaked run; it grows until it has 16 characters."""


MOST_TOKENS = 200
"""So many tokens of a donor's output are kept."""


@dataclass(frozen=True, slots=True)
class Donor:
    """The first tokens of a turn's output, and the turn's name."""

    name: str
    tokens: tuple[Token, ...]


def donor_of(name: str, response: Response) -> Donor:
    """The donor that an output makes; tokens without their lists."""
    kept = (response.tokens or ())[:MOST_TOKENS]
    return Donor(name, tuple(Token(token.id, token.text, None) for token in kept))


def leak_control(donors: Sequence[Donor]) -> PairControl:
    """The control for a run with these donors: any may be the neighbor whose run leaks."""

    def plant(pair: Pair) -> Pair | None:
        ids = (pair.candidate.ids or ())[:MOST_TOKENS]
        for donor in donors:
            if tuple(token.id for token in donor.tokens) != ids:
                planted = plant_leak(pair, donor.tokens)
                if planted is not None:
                    return planted
        return None

    return PairControl(
        "run of a neighbor's tokens",
        codes.CROSS_REQUEST_LEAK,
        lambda pair: bool(pair.neighbours) and is_seen_by_tokens(pair),
        plant,
        "no request at temperature 0 was in flight beside another",
    )


def plant_leak(pair: Pair, donor: Sequence[Token]) -> Pair | None:
    """A run of `donor` in place of as many own tokens, from a place rounding cannot explain."""
    stream, baseline = pair.candidate.stream, pair.baseline.tokens
    if stream is None or stream.tokens is None or baseline is None:
        return None
    own = own_texts(pair)
    for run in _runs(donor):
        text = "".join(token.text or "" for token in run)
        if any(text.strip() in mine for mine in own):
            continue
        for start in range(1, len(stream.tokens) - len(run)):
            seen = regret_at(baseline[start], run[0].id)
            span = None
            if seen is not None and above(seen.value, pair.hard_bound):
                span = span_of(stream, start, start + len(run))
            if span is None:
                continue
            tokens = (*stream.tokens[:start], *run, *stream.tokens[start + len(run) :])
            leaked = replace(write(stream, span, text), tokens=tokens, raw_text=None)
            whole = joined_text(donor)
            return replace(
                pair,
                candidate=with_stream(pair.candidate, leaked),
                neighbours=(*pair.neighbours, Neighbour("planted", whole)),
            )
    return None


def _runs(tokens: Sequence[Token]) -> list[tuple[Token, ...]]:
    """One run from every fourth token on, long enough not to occur by chance."""
    found = []
    for start in range(0, len(tokens), 4):
        for end in range(start + FEWEST_TOKENS, min(start + LONGEST, len(tokens)) + 1):
            run = tuple(tokens[start:end])
            text = "".join(token.text or "" for token in run)
            if any(not token.text or "\ufffd" in token.text for token in run):
                break
            if len(text.strip()) >= FEWEST_CHARACTERS:
                found.append(run)
                break
    return found
