"""Is parser markup shown to the user? Markers in content, reasoning and arguments.

The list is that of `checks.formats.markers`. A marker counts as leaked where a channel shows it
more often than the same channel of the baseline: an answer about `<tool_call>` that both give is no
leak.
"""

from collections.abc import Iterator

from checks import findings as f
from checks.exact.channels import ARGUMENTS, CHANNELS, CONTENT, REASONING, channels_of
from checks.excerpt import excerpt
from checks.findings import INFO, Finding, NotJudged
from checks.formats.markers import CONTROL, leaked
from checks.formats.written import REASONING_ENDS, holds_whole_call
from checks.pair import Pair, Side
from checks.request import tool_schemas
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
    candidate = channels_of(pair.candidate.message)
    known = pair.baseline.message
    baseline = channels_of(known) if known else dict.fromkeys(CHANNELS, "")
    for channel, code in CODE_OF.items():
        found = leaked(candidate[channel], baseline[channel])
        blamed = {marker: _blame(pair, marker, channel) for marker in found}
        unsure = [marker for marker in found if blamed[marker] is None]
        if unsure:
            yield NotJudged(code, f"the baseline's own text may hold {', '.join(unsure)}")
        paths = [marker for marker in found if blamed[marker] == PATH]
        for marker in (paths or [marker for marker in found if blamed[marker] == MODEL])[:1]:
            yield _leak(code, channel, marker, found, candidate[channel], by_model=not paths)
    yield from _control(pair, candidate[CONTENT], baseline[CONTENT])


PATH, MODEL = "path", "model"
BY_THE_MODEL = ": the model wrote it as text"


def _leak(
    code: str, channel: str, marker: str, found: list[str], text: str, *, by_model: bool
) -> Finding:
    return Finding(
        code,
        f"{marker} is shown in the {channel}{BY_THE_MODEL if by_model else ''}",
        severity=INFO if by_model else "",
        candidate=excerpt(text, text.find(marker), len(marker)),
        detail={"markers": found},
    )


def _blame(pair: Pair, marker: str, channel: str) -> str | None:
    """Whose fault a marker in a channel is; `None` where that is not known.

    The path's, where the baseline is comparable, or had the same tokens before it and hid it. Where
    its message is unknown and its tokens spell the marker, it may show it too. After a fork that
    rounding or sampling explains, the path's own tokens decide.
    """
    message = pair.candidate.message
    if message is None or (pair.baseline.message is None and marker in _text(pair.baseline, None)):
        return None
    fork = first_fork(pair)
    if fork is None or not fork.explains or marker in _text(pair.candidate, fork.index):
        return PATH
    own = pair.candidate.own_text
    if own is None:
        return None
    shown = channels_of(message)[channel]
    at_fault = (
        marker not in own or _shows_a_call(pair, channel, shown) or _is_close(marker, own, shown)
    )
    return PATH if at_fault or _ends_reasoning(pair, marker, own) else MODEL


def _shows_a_call(pair: Pair, channel: str, shown: str) -> bool:
    """Whether a whole call of a tool stands in the text, which the parser should have taken out."""
    request = pair.request or {}
    offered = request.get("tool_choice") != "none" and channel == CONTENT
    return offered and holds_whole_call(shown, tool_schemas(request))


def _is_close(marker: str, own: str, shown: str) -> bool:
    """Whether the marker ends a tag that the model opened and closed, and whose opening is hidden:
    then the parser knew it for markup."""
    if not marker.startswith("</"):
        return False
    opening = "<" + marker[2:].rstrip(">")
    opened = own.count(opening)
    return opening not in shown and 0 < opened == own.count(marker)


def _ends_reasoning(pair: Pair, marker: str, own: str) -> bool:
    """Whether the one end of the reasoning is shown, of a path whose parser takes it out."""
    sides = (pair.candidate.message, pair.baseline.message)
    parsed = any(message is not None and message.reasoning for message in sides)
    return marker in REASONING_ENDS and own.count(marker) == 1 and parsed


def _control(pair: Pair, candidate: str, baseline: str) -> Iterator[Finding]:
    """A special token of the tokenizer, emitted as one and shown: whatever was drawn, no sound
    server shows it. Where the baseline is a reference, its own codes say so."""
    fork = first_fork(pair)
    if pair.text_comparable or (fork is not None and not fork.explains):
        return
    if (pair.request or {}).get("skip_special_tokens") is False:
        return
    emitted = set(texts_of(pair.candidate.tokens or ()))
    for marker in CONTROL:
        if marker in emitted and candidate.count(marker) > baseline.count(marker):
            yield _leak(f.MARKER_LEAK_CONTENT, CONTENT, marker, [marker], candidate, by_model=False)
            return


def _text(side: Side, end: int | None) -> str:
    return "".join(text or "" for text in texts_of(side.tokens or ())[:end])
