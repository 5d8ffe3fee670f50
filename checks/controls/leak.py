"""Control: a run of another request's output in this one; `CROSS_REQUEST_LEAK` must fire.

What a slot of the KV cache or of the sampler's batch does that is read by the wrong request.
"""

from collections.abc import Sequence
from dataclasses import replace

from checks import findings as codes
from checks.controls.edit import span_of, write
from checks.controls.pair_control import PairControl, is_told_by_tokens, with_stream
from checks.exact.neighbours import FEWEST_CHARACTERS, FEWEST_TOKENS, own_texts
from checks.pair import Neighbour, Pair
from checks.tokens.regret import above, regret_at
from traces.wire.response import Response, Token
from traces.wire.tokens import joined_text

LONGEST = 12
"""Most tokens of the leaked run; it grows until it has 16 characters."""


def leak_control(pairs: Sequence[Pair]) -> PairControl:
    """The control for these pairs: any of them may be the neighbour whose run leaks."""
    donors = [pair.candidate.stream for pair in pairs if pair.candidate.stream is not None]

    def plant(pair: Pair) -> Pair | None:
        for donor in donors:
            if donor is not pair.candidate.stream:
                planted = plant_leak(pair, donor)
                if planted is not None:
                    return planted
        return None

    return PairControl(
        "run of a neighbour's tokens",
        codes.CROSS_REQUEST_LEAK,
        lambda pair: bool(pair.neighbours) and is_told_by_tokens(pair),
        plant,
        "no request at temperature 0 was in flight beside another",
    )


def plant_leak(pair: Pair, donor: Response) -> Pair | None:
    """A run of `donor` in place of as many own tokens, from a place rounding cannot explain."""
    stream, theirs = pair.candidate.stream, pair.baseline.tokens
    if stream is None or stream.tokens is None or theirs is None:
        return None
    own = own_texts(pair)
    for run in _runs(donor.tokens or ()):
        text = "".join(token.text or "" for token in run)
        if any(text.strip() in mine for mine in own):
            continue
        for start in range(1, len(stream.tokens) - len(run)):
            seen = regret_at(theirs[start], run[0].id)
            span = None
            if seen is not None and above(seen.value, pair.hard_bound):
                span = span_of(stream, start, start + len(run))
            if span is None:
                continue
            tokens = (*stream.tokens[:start], *run, *stream.tokens[start + len(run) :])
            leaked = replace(write(stream, span, text), tokens=tokens, raw_text=None)
            whole = joined_text(donor.tokens)
            return replace(
                pair,
                candidate=with_stream(pair.candidate, leaked),
                neighbours=(*pair.neighbours, Neighbour("planted", whole)),
            )
    return None


def _runs(tokens: Sequence[Token]) -> list[tuple[Token, ...]]:
    """One run from every fourth token on, long enough to be told from chance."""
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
