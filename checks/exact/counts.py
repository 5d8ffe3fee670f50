"""Do the counts add up? Token ids against usage, logprob entries against ids, max_tokens, steps,
and prompt tokens found in the prefix cache.
"""

from collections.abc import Iterator
from typing import Any

from checks import findings as f
from checks.findings import PREFIX_CACHE_LOST, WARNING, Finding, NotJudged
from checks.pair import Pair, Side
from checks.request import token_limit
from traces.wire.response import Response


def check_usage(pair: Pair) -> Iterator[Finding | NotJudged]:
    """Delivered ids against completion_tokens: more is USAGE_UNDERCOUNT, fewer TOKEN_IDS_GAP."""
    delivered, counted = pair.candidate.delivered, pair.candidate.completion_tokens
    hidden = pair.request is not None and pair.request.get("include_reasoning") is False
    if delivered is None or counted is None or hidden:
        for code in (f.USAGE_UNDERCOUNT, f.TOKEN_IDS_GAP):
            yield NotJudged(code, "token ids or usage were not on the wire")
    elif delivered != counted:
        code = f.USAGE_UNDERCOUNT if delivered > counted else f.TOKEN_IDS_GAP
        yield Finding(
            code,
            f"{delivered} token ids were delivered, completion_tokens says {counted}",
            candidate=f"{delivered} ids, completion_tokens {counted}",
            baseline_too=_gap(pair.baseline) == _sign(delivered - counted),
            detail={"delivered": delivered, "completion_tokens": counted},
        )


def check_prompt_usage(pair: Pair) -> Iterator[Finding | NotJudged]:
    """prompt_tokens against the prompt's ids, which the server sends too.

    The same codes as of the output, as warnings: no token is lost, the bill is wrong. A prompt with
    an image or of an encoder counts more than its ids, and does so on both paths.
    """
    gap = _prompt_gap(pair.candidate.stream)
    if gap:
        code = f.USAGE_UNDERCOUNT if gap > 0 else f.TOKEN_IDS_GAP
        stream = pair.candidate.stream
        assert stream is not None
        assert stream.usage is not None
        sent, counted = len(stream.prompt_token_ids or ()), stream.usage.prompt
        yield Finding(
            code,
            f"the prompt has {sent} token ids, prompt_tokens says {counted}",
            severity=WARNING,
            candidate=f"{sent} ids, prompt_tokens {counted}",
            baseline_too=_prompt_gap(pair.baseline.stream) == gap,
            detail={"prompt_ids": sent, "prompt_tokens": counted},
        )


def _prompt_gap(stream: Response | None) -> int | None:
    """Ids of the prompt less prompt_tokens; `None` where one of them was not on the wire."""
    if stream is None or stream.prompt_token_ids is None or stream.usage is None:
        return None
    return (
        None if stream.usage.prompt is None else len(stream.prompt_token_ids) - stream.usage.prompt
    )


def _gap(side: Side) -> int | None:
    if side.stream is None or side.delivered is None or side.completion_tokens is None:
        return None
    return _sign(side.delivered - side.completion_tokens)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def check_logprob_counts(pair: Pair) -> Iterator[Finding | NotJudged]:
    """Entries and ids of every chunk. A stream without any entry, or any id, is not judged."""
    stream = pair.candidate.stream
    wrong = None if stream is None else _miscounted(stream)
    if wrong is None:
        yield NotJudged(f.LOGPROBS_COUNT, "no chunk carries both token ids and logprobs")
        return
    for place, ids, entries in wrong[:1]:
        baseline = pair.baseline.stream
        yield Finding(
            f.LOGPROBS_COUNT,
            f"chunk {place} carries {ids} token ids and {entries} logprob entries"
            + (f"; {len(wrong) - 1} further chunks differ" if len(wrong) > 1 else ""),
            candidate=f"{ids} ids, {entries} entries",
            baseline_too=baseline is not None and bool(_miscounted(baseline)),
            detail={"chunks": [place for place, _, _ in wrong]},
        )


def _miscounted(stream: Response) -> list[tuple[int, int, int]] | None:
    chunks = stream.chunks
    if not any(c.token_ids is not None for c in chunks) or not any(c.logprobs for c in chunks):
        return None
    counts = [(place, c.token_ids or 0, c.logprobs or 0) for place, c in enumerate(chunks)]
    return [(place, ids, entries) for place, ids, entries in counts if ids != entries]


def check_max_tokens(pair: Pair) -> Iterator[Finding | NotJudged]:
    """Finish `length` below the limit, or ids or completion_tokens above it.

    A context that is full is an honest `length`: the limit is min(max_tokens, max_model_len −
    prompt). The same `length` at the same place on the baseline is the server's own limit.
    """
    limit = None if pair.request is None else token_limit(pair.request)
    usage = pair.candidate.stream.usage if pair.candidate.stream else None
    if limit is not None and pair.max_model_len is not None and usage and usage.prompt is not None:
        limit = min(limit, pair.max_model_len - usage.prompt)
    counts = _counts(pair.candidate)
    if limit is None or not counts:
        yield NotJudged(f.MAX_TOKENS_ACCOUNTING, "max_tokens, or the counts, are unknown")
        return
    below = pair.candidate.finish_reason == "length" and min(counts.values()) < limit
    above = max(counts.values()) > limit
    if below or above:
        words = ", ".join(f"{name} {count}" for name, count in counts.items())
        yield Finding(
            f.MAX_TOKENS_ACCOUNTING,
            f"finish_reason {pair.candidate.finish_reason}, {words}, limit {limit}",
            candidate=words,
            baseline_too=_same_limit(pair, counts),
            detail={"limit": limit, **counts},
        )


def _counts(side: Side) -> dict[str, int]:
    counts = {"ids": side.delivered, "completion_tokens": side.completion_tokens}
    return {name: count for name, count in counts.items() if count is not None}


def _same_limit(pair: Pair, counts: dict[str, int]) -> bool:
    baseline = _counts(pair.baseline)
    return (
        pair.baseline.finish_reason == pair.candidate.finish_reason
        and bool(baseline)
        and set(baseline.values()) == set(counts.values())
    )


def check_min_tokens(pair: Pair) -> Iterator[Finding | NotJudged]:
    """The output ends, other than by `length`, with fewer than min_tokens tokens."""
    floor: Any = None if pair.request is None else pair.request.get("min_tokens")
    if not floor or pair.candidate.finish_reason in (None, "length"):
        return
    counts = _counts(pair.candidate)
    if not counts:
        yield NotJudged(f.MIN_TOKENS_IGNORED, "the number of tokens is unknown")
    elif max(counts.values()) < int(floor):
        baseline = _counts(pair.baseline)
        yield Finding(
            f.MIN_TOKENS_IGNORED,
            f"the output ends after {max(counts.values())} tokens, min_tokens is {floor}",
            candidate=str(max(counts.values())),
            baseline_too=bool(baseline) and max(baseline.values()) < int(floor),
        )


def check_steps(pair: Pair) -> Iterator[Finding | NotJudged]:
    """Do the tokens committed per step sum to the tokens delivered?"""
    steps, delivered = pair.candidate.step_tokens, pair.candidate.delivered
    if steps is None or delivered is None:
        yield NotJudged(f.UNALIGNED, "tokens per step, or the token ids, are unknown")
    elif sum(steps) != delivered:
        yield Finding(
            f.UNALIGNED,
            f"the steps commit {sum(steps)} tokens, {delivered} ids were delivered",
            detail={"steps": sum(steps), "delivered": delivered},
        )


DEFAULT_BLOCK = 16
"""vLLM's default KV-cache block size, in tokens."""


LEAST_LOST = 1024
"""Cached tokens of which none is left, from which on that is a loss whatever the block size."""


def judge_prefix_cache(
    baseline: int | None, candidate: int | None, block_size: int | None = None
) -> list[Finding | NotJudged]:
    """Cached prompt tokens of one turn on both paths.

    Fires where the candidate has more than max(4 blocks, 10% of the baseline's) fewer: EAGLE drops
    the last matched block by design, so a few blocks are normal. Blocks of hybrid models hold
    thousands of tokens: there nothing left of at least two blocks and 1,024 tokens is a loss too.
    """
    if baseline is None or candidate is None:
        return [NotJudged(PREFIX_CACHE_LOST, "the number of cached tokens is not on the wire")]
    block = block_size or DEFAULT_BLOCK
    allowed = max(4 * block, baseline / 10)
    all_lost = candidate == 0 and baseline >= max(2 * block, LEAST_LOST)
    if baseline - candidate <= allowed and not all_lost:
        return []
    message = f"{candidate} prompt tokens cached, baseline {baseline} (allowed loss {allowed:g})"
    evidence = {"baseline": baseline, "candidate": candidate, "allowed_loss": allowed}
    return [Finding(PREFIX_CACHE_LOST, message, detail=evidence)]
