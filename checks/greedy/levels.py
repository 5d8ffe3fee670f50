"""What the greedy tests of an arm may spend of the budget of false alarms (`checks.alpha`)."""

from dataclasses import dataclass

from checks.alpha import level


@dataclass(frozen=True, slots=True)
class Levels:
    """Level of the ladder over all its rungs, of the rate above the soft bound, and of forks and
    mean regret together."""

    ladder: float
    rate: float
    small: float


MAIN_LEVELS = Levels(level("regret_ladder"), level("regret_rate"), level("small_regrets"))


def further_levels(arms: int) -> Levels:
    """Of one of `arms` further arms, which share one level (Bonferroni). Forks and mean regret of
    an arm never condemn: no arm has a floor in verify shape.
    """
    each = level("further_arms") / max(1, arms)
    return Levels(each / 2, each / 4, each / 4)
