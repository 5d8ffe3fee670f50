"""Which of vLLM's samplers the sampled turns went through: the verdict is about that one.

vLLM 0.32 (`v1/sample/ops/topk_topp_sampler.py`, `forward_cuda`) leaves its fast top-p and top-k
sampler for the native one where any request of a batch brings a seed, where the server reports
processed log probabilities, and where nothing is to be cut. Drafted places always go through the
rejection sampler; the candidate's own sampler draws first and bonus tokens.
"""

from collections.abc import Collection, Iterable, Sequence

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


def added_statement(
    turns: Sequence[ScoredTurn], settings: Collection[tuple[float, float, int]]
) -> str | None:
    """One sentence on the turns that were recorded without a temperature and are sampled besides
    their greedy replay; `None` without any. `settings` are (temperature, top-p, top-k)."""
    if not turns:
        return None
    tokens = sum(turn.candidate.tokens for turn in turns if turn.candidate is not None)
    shown = " and ".join(_setting(*one) for one in sorted(settings))
    return (
        f"{len(turns):,} turns recorded without a temperature were sampled besides, at {shown}: "
        f"{tokens:,} tokens judged by their distribution"
    )


def _setting(temperature: float, top_p: float, top_k: int) -> str:
    cuts = [f"top-p {top_p:g}"] * (top_p < 1) + [f"top-k {top_k}"] * (top_k > 0)
    return ", ".join([f"temperature {temperature:g}", *cuts])
