"""Several tests of one question: p-values adjusted so that the family keeps its level."""

from collections.abc import Mapping


def holm(p: Mapping[str, float]) -> dict[str, float]:
    """Holm's step-down adjustment (Holm 1979, Scand J Stat 6:65).

    The smallest p is multiplied by the number of tests, the next by one less, and so on; adjusted
    values never decrease.
    """
    adjusted: dict[str, float] = {}
    largest = 0.0
    for place, (name, value) in enumerate(sorted(p.items(), key=lambda item: item[1])):
        largest = max(largest, min(1.0, value * (len(p) - place)))
        adjusted[name] = largest
    return adjusted
