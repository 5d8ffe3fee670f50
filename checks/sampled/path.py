"""Which of vLLM's samplers the sampled turns went through: the verdict is about that one.

vLLM 0.32 (`v1/sample/ops/topk_topp_sampler.py`, `forward_cuda`) leaves its fast top-p and top-k
sampler for the native one where any request of a batch brings a seed, where the server reports
processed log probabilities, and where nothing is to be cut. Drafted places always go through the
rejection sampler; the candidate's own sampler draws first and bonus tokens.
"""

from collections.abc import Iterable

from checks.sampled.turn import ScoredTurn


def sampler_statement(turns: Iterable[ScoredTurn], modes: Iterable[str | None]) -> str | None:
    """One sentence for the verdict; `None` where no turn is sampled.

    `modes` are the log-probability modes of all servers (`None`: one does not show it).
    """
    found, shown = list(turns), list(modes)
    if not found:
        return None
    cut = sum(turn.cut for turn in found)
    seeded = sum(turn.seed is not None for turn in found)
    reasons = [f"{seeded} bring a seed"] * bool(seeded)
    if any(str(mode).startswith("processed") for mode in shown):
        reasons.append("a server reports processed log probabilities")
    said = f"{len(found):,} sampled turns, {cut:,} of them with top-p or top-k: "
    if reasons:
        return f"{said}vLLM's native sampler was exercised, not its fast one ({', '.join(reasons)})"
    unseen = " unless a server's own flags keep it off" if None in shown else ""
    if not cut:
        return f"{said}nothing is cut, so vLLM's native sampler was exercised"
    return f"{said}vLLM's fast sampler was exercised where its platform has one{unseen}"
