"""TOKENS_AFTER_STOP: a stop string or EOS completed inside an accepted block, and more was sent.

    stop ["END"]:  content "one\\nEND```\\n"         the stop string, and what follows it
    EOS:           raw_text "one<|im_end|>two"      text behind the EOS string

Without `include_stop_str_in_output` the stop string itself is too much already.
"""

from collections.abc import Iterator

from checks import findings as f
from checks.exact.channels import channels_of
from checks.excerpt import excerpt
from checks.findings import Finding, NotJudged
from checks.formats.markers import EOS
from checks.pair import Pair, Side
from checks.request import stop_strings
from traces.wire.tokens import joined_text


def check_after_stop(pair: Pair) -> Iterator[Finding | NotJudged]:
    """After the stop string that matched, or after EOS; the latter needs `raw_text`."""
    if pair.candidate.message is None:
        yield NotJudged(f.TOKENS_AFTER_STOP, "the candidate's text is unknown")
        return
    yield from _after_stop_string(pair)
    if pair.candidate.raw_text is not None and not (pair.request or {}).get("ignore_eos"):
        yield from _after_eos(pair)


def _after_stop_string(pair: Pair) -> Iterator[Finding | NotJudged]:
    request = pair.request or {}
    matched = (pair.stop_match,) if pair.stop_match else stop_strings(request)
    if matched and request.get("min_tokens"):
        yield NotJudged(f.TOKENS_AFTER_STOP, "under min_tokens earlier stop strings are honest")
        return
    included = bool(request.get("include_stop_str_in_output"))
    for stop in matched:
        ours, theirs = (_beyond(side, stop, included) for side in (pair.candidate, pair.baseline))
        if ours:
            yield Finding(
                f.TOKENS_AFTER_STOP,
                f"the output goes on after the stop string {stop!r}: {ours}",
                candidate=ours,
                baseline_too=bool(theirs),
                detail={"stop": stop},
            )
            return


def _beyond(side: Side, stop: str, included: bool) -> str | None:
    """What a side shows from (or, where it is included, after) the stop string on.

    Of a side without a message only the tokens tell.
    """
    channels = channels_of(side.message) if side.message else {}
    for text in (channels.get("reasoning", ""), channels.get("content", "")):
        place = text.find(stop)
        if place >= 0 and (not included or text[place + len(stop) :]):
            return excerpt(text, place, len(stop))
    return _tokens_beyond(side, stop)


def _tokens_beyond(side: Side, stop: str) -> str | None:
    """Tokens sent after the one that completes the stop string, though their text was not."""
    text = ""
    tokens = side.tokens or ()
    for index, token in enumerate(tokens):
        text += token.text or ""
        if stop in text:
            more = "".join(later.text or "?" for later in tokens[index + 1 :])
            return excerpt(more, 0, len(more)) if more else None
    return None


def _after_eos(pair: Pair) -> Iterator[Finding]:
    raw = pair.candidate.raw_text or ""
    place, eos = _first_eos(raw, pair)
    rest = _beyond_eos(raw, place + len(eos), pair) if place >= 0 else ""
    if rest:
        theirs = _raw(pair.baseline)
        other = theirs.find(eos)
        yield Finding(
            f.TOKENS_AFTER_STOP,
            f"the output goes on after {eos}: {excerpt(rest, 0)}",
            candidate=excerpt(raw, place, len(eos)),
            baseline_too=other >= 0 and bool(_beyond_eos(theirs, other + len(eos), pair)),
            detail={"eos": eos},
        )


def _beyond_eos(raw: str, start: int, pair: Pair) -> str:
    """What follows, further EOS strings aside."""
    rest = raw[start:]
    for eos in (*EOS, *pair.eos):
        rest = rest.replace(eos, "")
    return rest


def _raw(side: Side) -> str:
    """The output with its markers, as far as raw text or token texts tell."""
    return side.raw_text or joined_text(side.tokens)


def _first_eos(raw: str, pair: Pair) -> tuple[int, str]:
    """Where the first EOS stands that is a token and not text the model was asked to write.

    As many EOS strings as the reference shows its user (the candidate, where that is unknown) are
    text.
    """
    reference = pair.baseline.message or pair.candidate.message
    shown = "\n".join(channels_of(reference).values()) if reference else ""
    best = (-1, "")
    for eos in (*EOS, *pair.eos):
        place = -1
        for _ in range(shown.count(eos) + 1):
            place = raw.find(eos, place + 1)
            if place < 0:
                break
        if place >= 0 and (best[0] < 0 or place < best[0]):
            best = (place, eos)
    return best
