"""Turns at a temperature above 0, as far as the law of their tokens is known."""

from checks.request import is_greedy
from checks.sampled_turn import SampledTurn
from draftgate.gate.evidence import Evidence


def sampled_turns(evidence: Evidence) -> list[SampledTurn]:
    """Every sampled turn that both paths were sent.

    Their laws are not scored by the baseline here, so they count as not judged, and a run that
    holds any cannot pass on them.
    """
    baseline = evidence.of("baseline")
    return [
        SampledTurn(*turn, exchange.request, candidate=None)
        for turn, exchange in evidence.of("candidate").items()
        if turn in baseline and not is_greedy(exchange.request)
    ]
