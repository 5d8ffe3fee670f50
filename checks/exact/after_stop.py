"""TOKENS_AFTER_STOP: the output goes on after a stop string, a stop token or EOS.

    stop ["END"]:           content "one\\nEND```\\n"      the stop string, and what follows it
    stop_token_ids [151]:   ids 17 151 23               ids behind it
    EOS:                    raw "one<|im_end|>two"      text or tokens behind the EOS

A speculative step commits several tokens, so one of them may end the output inside an accepted
block. All stops of the request count, the earliest wins; which one the server says it honored
(`stop_match`) excuses nothing. Without `include_stop_str_in_output` the stop string itself is too
much already.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate

from checks import findings as f
from checks.exact.channels import channels_of
from checks.excerpt import excerpt
from checks.findings import Finding, NotJudged
from checks.formats.markers import EOS
from checks.pair import Pair, Side
from checks.request import stop_strings, stop_token_ids
from traces.wire.tokens import known_texts, texts_of


def check_after_stop(pair: Pair) -> Iterator[Finding | NotJudged]:
    """Stop strings by text and tokens, stop tokens by ids, EOS by raw text or the tokens' texts."""
    if pair.candidate.message is None:
        yield NotJudged(f.TOKENS_AFTER_STOP, "the candidate's text is unknown")
        return
    yield from _after_stop_string(pair)
    yield from _after_stop_token(pair)
    if not (pair.request or {}).get("ignore_eos"):
        yield from _after_eos(pair)


def _after_stop_string(pair: Pair) -> Iterator[Finding | NotJudged]:
    request = pair.request or {}
    said = (pair.stop_match,) if pair.stop_match else ()
    stops = tuple(dict.fromkeys((*stop_strings(request), *said)))
    if stops and request.get("min_tokens"):
        yield NotJudged(f.TOKENS_AFTER_STOP, "under min_tokens earlier stop strings are honest")
        return
    included = bool(request.get("include_stop_str_in_output"))
    found = _beyond(pair.candidate, stops, included)
    if found is not None:
        stop, candidate = found
        yield Finding(
            f.TOKENS_AFTER_STOP,
            f"the output goes on after the stop string {stop!r}: {candidate}",
            candidate=candidate,
            baseline_too=_beyond(pair.baseline, (stop,), included) is not None,
            detail={"stop": stop},
        )


def _beyond(side: Side, stops: Sequence[str], included: bool) -> tuple[str, str] | None:
    """(the stop string that was complete first, what a side shows from it on), or, where it is
    included, behind it. Of a side without a message only the tokens tell.
    """
    channels = channels_of(side.message) if side.message else {}
    for text in (channels.get("reasoning", ""), channels.get("content", "")):
        for end, stop in _ends(text, stops):
            if not included or text[end:]:
                return stop, excerpt(text, end - len(stop), len(stop))
    return _tokens_beyond(side, stops)


def _ends(text: str, stops: Sequence[str]) -> list[tuple[int, str]]:
    """(where it is complete, stop string) of those that the text holds, the earliest first."""
    return sorted((text.find(stop) + len(stop), stop) for stop in stops if stop in text)


def _tokens_beyond(side: Side, stops: Sequence[str]) -> tuple[str, str] | None:
    """Tokens sent after the one that completes a stop string, though their text was not."""
    texts = texts_of(side.tokens or ())
    places = list(accumulate(len(text or "") for text in texts))
    for end, stop in _ends("".join(text or "" for text in texts), stops):
        last = next(index for index, place in enumerate(places) if place >= end)
        more = "".join(text or "?" for text in texts[last + 1 :])
        return (stop, excerpt(more, 0, len(more))) if more else None
    return None


def _after_stop_token(pair: Pair) -> Iterator[Finding | NotJudged]:
    request = pair.request or {}
    stops, least = stop_token_ids(request), int(request.get("min_tokens") or 0)
    if not stops:
        return
    ids = pair.candidate.ids
    if ids is None:
        yield NotJudged(f.TOKENS_AFTER_STOP, "stop_token_ids need token ids")
        return
    place = _stopped_at(ids, stops, least)
    if place is None or place + 1 == len(ids):
        return
    baseline = pair.baseline.ids or ()
    other = _stopped_at(baseline, stops, least)
    yield Finding(
        f.TOKENS_AFTER_STOP,
        f"{len(ids) - place - 1} tokens follow the stop token {ids[place]}",
        token=place,
        baseline_too=other is not None and other + 1 < len(baseline),
        detail={"stop_token_id": ids[place]},
    )


def _stopped_at(ids: Sequence[int], stops: frozenset[int], least: int) -> int | None:
    """The first stop token that is not below `min_tokens`, where none counts."""
    return next((i for i, token in enumerate(ids) if token in stops and i + 1 >= least), None)


def _after_eos(pair: Pair) -> Iterator[Finding | NotJudged]:
    """As many EOS strings as the reference shows its user (the candidate, where that is unknown)
    are text that the model was asked to write, and end nothing.
    """
    pieces = _pieces(pair.candidate, pair)
    if pieces is None:
        yield NotJudged(f.TOKENS_AFTER_STOP, "EOS: neither raw text nor texts of tokens are known")
        return
    reference = pair.baseline.message or pair.candidate.message
    shown = "\n".join(channels_of(reference).values()) if reference else ""
    seen: Counter[str] = Counter()
    known = {*EOS, *pair.eos}
    for place, eos in enumerate(pieces):
        seen[eos] += eos in known
        if eos not in known or seen[eos] <= shown.count(eos):
            continue
        rest = _rest(pieces[place + 1 :], known)
        if rest:
            baseline = _pieces(pair.baseline, pair) or []
            behind = baseline[baseline.index(eos) + 1 :] if eos in baseline else []
            yield Finding(
                f.TOKENS_AFTER_STOP,
                f"the output goes on after {eos}: {excerpt(rest, 0)}",
                candidate=excerpt("".join(pieces), len("".join(pieces[:place])), len(eos)),
                baseline_too=bool(_rest(behind, known)),
                detail={"eos": eos},
            )
        return


def _rest(pieces: Sequence[str], eos: set[str]) -> str:
    """What follows, further EOS strings aside."""
    return "".join(piece for piece in pieces if piece not in eos)


def _pieces(side: Side, pair: Pair) -> list[str] | None:
    """The output with its markers, cut so that every EOS is a piece of its own.

    A token is a piece: in the texts of tokens only a whole token is an EOS. `None` where neither
    raw text nor all texts are known.
    """
    if side.raw_text is not None:
        ends = "|".join(map(re.escape, sorted({*EOS, *pair.eos}, key=len, reverse=True)))
        return [piece for piece in re.split(f"({ends})", side.raw_text) if piece]
    texts = known_texts(side.tokens)
    return None if texts is None else list(texts)
