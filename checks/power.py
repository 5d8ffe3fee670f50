"""What a run of this size could have seen."""

import math

from scipy import stats

LEVEL = 0.95


def detectable_rate(tokens: int, deff: float = 1.0) -> float | None:
    """Smallest violation rate per token seen at least once with 95% probability.

        1 - 0.05^(deff / n)      (rule of three: about 3.0 deff / n)

    1e-3 needs 2,995 independent tokens, 1e-4 needs 29,956.
    """
    if tokens <= 0:
        return None
    return float(-math.expm1(math.log(1 - LEVEL) * deff / tokens))


def detectable_acceptance_shift(
    acceptance: float, drafts: int, deff: float = 1.0, level: float = 0.01, power: float = 0.9
) -> float | None:
    """Smallest shift of an acceptance probability a two-sided test at `level` sees with `power`.

        delta = (z_{1-level/2} + z_power) sqrt(p (1 - p) deff / n)

    One sample against a known reference (Cohen 1988, ch. 6): 0.05 at p = 0.7 needs 1,250 drafts.
    Half a count keeps p off 0 and 1: no run is long enough to see every shift.
    """
    if drafts <= 0:
        return None
    z = float(stats.norm.ppf(1 - level / 2) + stats.norm.ppf(power))
    p = (acceptance * drafts + 0.5) / (drafts + 1)
    return z * math.sqrt(p * (1 - p) * deff / drafts)


def power_statement(tokens: int, deff: float, drafts: int | None, acceptance: float | None) -> str:
    """One sentence for the report; parts that were not measured are said to be."""
    rate = detectable_rate(tokens, deff)
    first = (
        "no greedy token was judged"
        if rate is None
        else f"a violation rate of {rate:.2g} per token would have shown at least once (95%)"
    )
    shift = None
    if drafts is not None and acceptance is not None:
        shift = detectable_acceptance_shift(acceptance, drafts)
    second = (
        "acceptance shifts were not measured"
        if shift is None
        else f"an acceptance shift of {shift:.2g} per draft would have shown (90%, level 1%)"
    )
    return f"{first}; {second}"
