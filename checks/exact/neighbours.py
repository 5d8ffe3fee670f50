"""CROSS_REQUEST_LEAK: from a hard fork on, a run of a neighbor's output that is not one's own.

At least 4 tokens and 16 characters that a request in flight beside this one has in its output, in
neither this request's prompt nor its baseline. Two requests that quote the same file are no leak.
"""

from collections.abc import Iterator, Sequence

from checks import findings as f
from checks.exact.channels import channels_of
from checks.findings import Finding, NotJudged
from checks.formats.json_values import strings
from checks.pair import Pair, Side
from checks.tokens.fork import first_fork
from traces.wire.tokens import joined_text, known_texts

FEWEST_TOKENS = 4
FEWEST_CHARACTERS = 16


def check_leak(pair: Pair) -> Iterator[Finding | NotJudged]:
    """Needs the neighbors' texts and the candidate's token texts."""
    fork = first_fork(pair)
    if not pair.neighbours or not pair.both_have_tokens:
        yield NotJudged(f.CROSS_REQUEST_LEAK, "neighbors, or token ids of a path, are unknown")
        return
    if fork is None or fork.kind != "hard":
        return
    texts = known_texts(pair.candidate.tokens)
    if texts is None:
        yield NotJudged(f.CROSS_REQUEST_LEAK, "the candidate's token texts are unknown")
        return
    own = own_texts(pair)
    for neighbour in pair.neighbours:
        run = _run(texts, fork.index, neighbour.text, own)
        if run is not None:
            start, tokens, text = run
            yield Finding(
                f.CROSS_REQUEST_LEAK,
                f"{tokens} tokens from token {start} on are those of request {neighbour.id}",
                token=start,
                candidate=repr(text[:200]),
                detail={"neighbour": neighbour.id, "tokens": tokens},
            )
            return


def own_texts(pair: Pair) -> list[str]:
    """Every text this request has of its own: its prompt's parts and what its baseline put out."""
    request = pair.request or {}
    joined = "".join(strings(request.get("messages") or []))
    return [_output(pair.baseline), *strings(request), joined]


def _run(
    texts: Sequence[str], start: int, other: str, own: Sequence[str]
) -> tuple[int, int, str] | None:
    """(first token, tokens, text) of the first long enough run of `other` that is not own."""
    for first in range(start, len(texts)):
        text, last = "", first
        while last < len(texts) and text + texts[last] in other:
            text += texts[last]
            last += 1
        tokens, bare = last - first, text.strip()
        enough = tokens >= FEWEST_TOKENS and len(text) >= FEWEST_CHARACTERS
        if enough and not any(bare in mine for mine in own):
            return first, tokens, text
    return None


def _output(side: Side) -> str:
    """All a side put out: its tokens' texts and its message."""
    tokens = joined_text(side.tokens)
    message = "\n".join(channels_of(side.message).values()) if side.message else ""
    return f"{tokens}\n{message}"
