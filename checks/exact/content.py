"""Is the text the same? Content and reasoning against the reference, the format asked for, and
U+FFFD that the baseline lacks.

A character cut at a step edge and decoded too early becomes ``Done \\ufffd\\ufffd`` where the
reference has ``Done ✅``. A replacement character the model itself wrote is in both.
"""

import re
from collections.abc import Iterator

from checks import findings as f
from checks.exact.channels import CHANNELS, channels_of
from checks.excerpt import around_difference, excerpt
from checks.findings import WARNING, Finding, NotJudged
from checks.formats import json_values
from checks.formats.json_values import NotJson
from checks.formats.output_format import OutputFormat, output_format
from checks.formats.patterns import NotCheckable
from checks.pair import Message, Pair, Side, not_comparable
from checks.tokens.fork import first_fork
from traces.wire.tokens import known_texts


def check_content(pair: Pair) -> Iterator[Finding | NotJudged]:
    """CONTENT_DIFF and STRUCTURED_OUTPUT_INVALID.

    Under a format, content compares as a JSON value, and content that violates the format is
    STRUCTURED_OUTPUT_INVALID in place of CONTENT_DIFF. Neither is judged where the finish is
    `length`, but for what stands behind a whole JSON value; the format is not where calls are
    present.
    """
    message = pair.candidate.message
    wanted = None if pair.request is None else output_format(pair.request)
    if message is None:
        yield NotJudged(f.CONTENT_DIFF, "the candidate's text is unknown")
        return
    if wanted is not None and pair.candidate.finish_reason == "length":
        yield NotJudged(f.CONTENT_DIFF, "the formatted content ends at max_tokens")
        yield _cut_format(pair, message, wanted)
        return
    if wanted is not None and message.calls:
        yield NotJudged(f.STRUCTURED_OUTPUT_INVALID, "the output is tool calls, not content")
        wanted = None
    if wanted is not None:
        invalid = list(_check_format(pair, message, wanted))
        yield from invalid
        if any(isinstance(i, Finding) and not i.baseline_too for i in invalid):
            return
    yield from _check_equal(pair, message, wanted)


def _cut_format(pair: Pair, message: Message, wanted: OutputFormat) -> Finding | NotJudged:
    """Formatted content cut at max_tokens: a value that is whole already may not go on."""
    behind = json_values.behind(message.content) if wanted.kind == "json" else ""
    if not behind or message.calls:
        return NotJudged(f.STRUCTURED_OUTPUT_INVALID, "the formatted content ends at max_tokens")
    reference = pair.baseline.message
    return Finding(
        f.STRUCTURED_OUTPUT_INVALID,
        f"the content goes on behind a whole JSON value: {behind[:80]!r}",
        baseline=None if reference is None else reference.content[:200],
        candidate=message.content[:200],
        baseline_too=reference is not None and bool(json_values.behind(reference.content)),
    )


def _check_format(
    pair: Pair, message: Message, wanted: OutputFormat
) -> Iterator[Finding | NotJudged]:
    reference = pair.baseline.message
    try:
        fault = wanted.violation(message.content)
        baseline = None if reference is None else wanted.violation(reference.content)
    except NotCheckable as reason:
        yield NotJudged(f.STRUCTURED_OUTPUT_INVALID, str(reason))
        return
    if fault is not None:
        yield Finding(
            f.STRUCTURED_OUTPUT_INVALID,
            f"the content violates the {wanted.kind} format asked for: {fault}",
            baseline=None if reference is None else reference.content[:200],
            candidate=message.content[:200],
            baseline_too=baseline is not None,
        )


def _check_equal(
    pair: Pair, message: Message, wanted: OutputFormat | None
) -> Iterator[Finding | NotJudged]:
    reference = pair.baseline.message
    if not pair.text_comparable or reference is None:
        yield NotJudged(f.CONTENT_DIFF, not_comparable(pair))
    elif not same_content(message.content, reference.content, wanted):
        baseline, candidate = around_difference(reference.content, message.content)
        at_seam = wanted is None and _differs_at_seams(pair, message, reference)
        yield Finding(
            f.CONTENT_DIFF,
            f"content: {candidate} where the baseline has {baseline}",
            severity=WARNING if at_seam else "",
            baseline=baseline,
            candidate=candidate,
        )


def _differs_at_seams(pair: Pair, message: Message, reference: Message) -> bool:
    """Whether the contents differ in white space alone, beside calls or reasoning alone."""
    if not any((message.calls, message.reasoning, reference.calls, reference.reasoning)):
        return False
    seams = {0}
    for side, text in ((pair.candidate, message.content), (pair.baseline, reference.content)):
        for seam in side.stream.seams if side.stream else ():
            seams.add(len("".join(text[:seam].split())))
    return spaced_differently(message.content, reference.content) <= seams


def spaced_differently(candidate: str, baseline: str) -> set[int]:
    """Where the white space of two texts differs, trailing one aside: how many other characters
    stand before it. A text that differs in these, too, differs at -1.

    >>> spaced_differently("a b c", "a  b c"), spaced_differently("a", "b")
    ({1}, {-1})
    """
    if "".join(candidate.split()) != "".join(baseline.split()):
        return {-1}
    left, right = _spaces(candidate.rstrip()), _spaces(baseline.rstrip())
    return {at for at in left.keys() | right.keys() if left.get(at) != right.get(at)}


def _spaces(text: str) -> dict[int, str]:
    """The runs of white space in a text by the number of other characters before them."""
    found, before = {}, 0
    for run, word in re.findall(r"(\s*)(\S+)", text):
        if run:
            found[before] = run
        before += len(word)
    return found


def check_reasoning(pair: Pair) -> Iterator[Finding | NotJudged]:
    """Reasoning text lost, added or moved; trailing white space aside, leading one a warning."""
    message, reference = pair.candidate.message, pair.baseline.message
    if message is None or reference is None or not pair.text_comparable:
        yield NotJudged(f.REASONING_DIFF, not_comparable(pair))
    elif message.reasoning.rstrip() != reference.reasoning.rstrip():
        baseline, candidate = around_difference(reference.reasoning, message.reasoning)
        yield Finding(
            f.REASONING_DIFF,
            f"reasoning: {candidate} where the baseline has {baseline}",
            severity=WARNING
            if spaced_differently(message.reasoning, reference.reasoning) == {0}
            else "",
            baseline=baseline,
            candidate=candidate,
        )


def same_content(candidate: str, baseline: str, wanted: OutputFormat | None = None) -> bool:
    """Equal text, trailing white space aside; equal JSON values where the format is JSON."""
    if candidate.rstrip() == baseline.rstrip():
        return True
    if wanted is None or wanted.kind in ("regex", "choice"):
        return False
    try:
        return json_values.equal(json_values.parse(candidate), json_values.parse(baseline))
    except NotJson:
        return False


REPLACEMENT = "\ufffd"


def check_replacement(pair: Pair) -> Iterator[Finding | NotJudged]:
    """Compares counts per channel; after a fork that noise explains only with the own tokens, which
    spell none."""
    baseline = _channels(pair.baseline)
    if pair.candidate.message is None or baseline is None:
        yield NotJudged(f.UTF8_REPLACEMENT, "the text of one path is unknown")
        return
    candidate = channels_of(pair.candidate.message)
    extra = {c: candidate[c].count(REPLACEMENT) - baseline[c].count(REPLACEMENT) for c in CHANNELS}
    channel = next((c for c in CHANNELS if extra[c] > 0), None)
    if channel is None:
        return
    fork = first_fork(pair)
    if fork is not None and fork.explains and pair.candidate.own_text is None:
        yield NotJudged(f.UTF8_REPLACEMENT, "the texts part at a fork inside the noise")
        return
    yield Finding(
        f.UTF8_REPLACEMENT,
        f"{extra[channel]} U+FFFD in the {channel} that the baseline lacks",
        candidate=excerpt(candidate[channel], candidate[channel].find(REPLACEMENT), 1),
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
