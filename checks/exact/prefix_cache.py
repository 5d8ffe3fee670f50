"""PREFIX_CACHE_LOST: with a drafter, far fewer prompt tokens come from the prefix cache."""

from checks.findings import PREFIX_CACHE_LOST, Finding, NotJudged

DEFAULT_BLOCK = 16
"""vLLM's default KV-cache block size, in tokens."""


def judge_prefix_cache(
    baseline: int | None, candidate: int | None, block_size: int | None = None
) -> list[Finding | NotJudged]:
    """Cached prompt tokens of one turn on both paths.

    Fires where the candidate has more than max(4 blocks, 10% of the baseline's) fewer: EAGLE drops
    the last matched block by design, so a few blocks are normal.
    """
    if baseline is None or candidate is None:
        return [NotJudged(PREFIX_CACHE_LOST, "the number of cached tokens is not on the wire")]
    allowed = max(4 * (block_size or DEFAULT_BLOCK), baseline / 10)
    if baseline - candidate <= allowed:
        return []
    message = f"{candidate} prompt tokens cached, baseline {baseline} (allowed loss {allowed:g})"
    evidence = {"baseline": baseline, "candidate": candidate, "allowed_loss": allowed}
    return [Finding(PREFIX_CACHE_LOST, message, detail=evidence)]
