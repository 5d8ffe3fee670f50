"""UTF8_REPLACEMENT: U+FFFD that the baseline lacks, in the same channel.

A character cut at a step edge and decoded too early becomes ``Done \\ufffd\\ufffd`` where the
reference has ``Done ✅``. A replacement character the model itself wrote is in both.
"""

from collections.abc import Iterator

from checks import findings as f
from checks.exact.channels import CHANNELS, channels_of
from checks.excerpt import excerpt
from checks.findings import Finding, NotJudged
from checks.pair import Pair, Side
from checks.tokens.first_fork import first_fork
from traces.wire.tokens import known_texts

REPLACEMENT = "\ufffd"


def check_replacement(pair: Pair) -> Iterator[Finding | NotJudged]:
    """Compares counts per channel; after a fork that noise explains it is not judged."""
    theirs = _channels(pair.baseline)
    if pair.candidate.message is None or theirs is None:
        yield NotJudged(f.UTF8_REPLACEMENT, "the text of one path is unknown")
        return
    ours = channels_of(pair.candidate.message)
    extra = {c: ours[c].count(REPLACEMENT) - theirs[c].count(REPLACEMENT) for c in CHANNELS}
    channel = next((c for c in CHANNELS if extra[c] > 0), None)
    if channel is None:
        return
    fork = first_fork(pair)
    if fork is not None and fork.explains:
        yield NotJudged(f.UTF8_REPLACEMENT, "the texts part at a fork inside the noise")
        return
    yield Finding(
        f.UTF8_REPLACEMENT,
        f"{extra[channel]} U+FFFD in the {channel} that the baseline lacks",
        candidate=excerpt(ours[channel], ours[channel].find(REPLACEMENT), 1),
        detail={c: n for c, n in extra.items() if n > 0},
    )


def _channels(side: Side) -> dict[str, str] | None:
    """The text of each channel; `None` where it is unknown.

    Tokens alone do not tell the channels, and one that is a part of a character is spelled U+FFFD
    itself: they tell only that no channel holds any.
    """
    if side.message is not None:
        return channels_of(side.message)
    texts = known_texts(side.tokens)
    if not texts or any(REPLACEMENT in text for text in texts):
        return None
    return dict.fromkeys(CHANNELS, "")
