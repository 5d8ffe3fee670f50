"""Is parser markup shown to the user? Markers in content, reasoning and arguments.

The list is that of `checks.formats.markers`. A marker counts as leaked where a channel shows it
more often than the same channel of the baseline: an answer about `<tool_call>` that both give is no
leak.
"""

from collections.abc import Iterator

from checks import findings as f
from checks.exact.channels import ARGUMENTS, CHANNELS, CONTENT, REASONING, channels_of
from checks.excerpt import excerpt
from checks.findings import Finding, NotJudged
from checks.formats.markers import leaked
from checks.pair import Pair, Side
from checks.tokens.fork import first_fork
from traces.wire.tokens import texts_of

CODE_OF = {
    CONTENT: f.MARKER_LEAK_CONTENT,
    REASONING: f.MARKER_LEAK_REASONING,
    ARGUMENTS: f.MARKER_LEAK_ARGS,
}


def check_markers(pair: Pair) -> Iterator[Finding | NotJudged]:
    """MARKER_LEAK_*, one finding per channel."""
    if pair.candidate.message is None:
        for code in CODE_OF.values():
            yield NotJudged(code, "the candidate's text is unknown")
        return
    ours = channels_of(pair.candidate.message)
    known = pair.baseline.message
    theirs = channels_of(known) if known else dict.fromkeys(CHANNELS, "")
    for channel, code in CODE_OF.items():
        found = leaked(ours[channel], theirs[channel])
        unsure = [m for m in found if _may_be_meant(pair, m, known is None)]
        if unsure:
            yield NotJudged(code, f"the baseline's own text may hold {', '.join(unsure)}")
        for marker in [m for m in found if m not in unsure][:1]:
            place = ours[channel].find(marker)
            yield Finding(
                code,
                f"{marker} is shown in the {channel}",
                candidate=excerpt(ours[channel], place, len(marker)),
                detail={"markers": found},
            )


def _may_be_meant(pair: Pair, marker: str, message_unknown: bool) -> bool:
    """Whether the model may have written the marker as text, and the baseline would have too.

    So where the baseline's message is unknown and its tokens spell the marker; and after a fork
    that rounding or sampling explains, unless the marker came before it.
    """
    if message_unknown and marker in _text(pair.baseline, None):
        return True
    fork = first_fork(pair)
    return fork is not None and fork.explains and marker not in _text(pair.candidate, fork.index)


def _text(side: Side, end: int | None) -> str:
    return "".join(text or "" for text in texts_of(side.tokens or ())[:end])
