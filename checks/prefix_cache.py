"""PREFIX_CACHE_LOST: with a drafter, far fewer prompt tokens come from the prefix cache."""

from checks.observation import Observation, Observations

DEFAULT_BLOCK = 16
"""vLLM's default KV-cache block size, in tokens."""


def judge_prefix_cache(
    baseline: int | None, candidate: int | None, block_size: int | None = None
) -> Observations:
    """Cached prompt tokens of one turn on both paths.

    Fires where the candidate has more than max(4 blocks, 10% of the baseline's) fewer: EAGLE drops
    the last matched block by design, so a few blocks are normal.
    """
    if baseline is None or candidate is None:
        return Observations(not_judged=("PREFIX_CACHE_LOST: cached token count not on the wire",))
    allowed = max(4 * (block_size or DEFAULT_BLOCK), baseline / 10)
    if baseline - candidate <= allowed:
        return Observations()
    message = f"{candidate} prompt tokens cached, baseline {baseline} (allowed loss {allowed:g})"
    evidence = {"baseline": baseline, "candidate": candidate, "allowed_loss": allowed}
    return Observations((Observation("PREFIX_CACHE_LOST", message, evidence),))
