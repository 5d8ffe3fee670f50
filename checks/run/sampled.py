"""Turns at a temperature above 0, and the lists their law is rebuilt from.

The baseline reads both paths' outputs of such a turn again, with as many of the best tokens listed
at every place as a vLLM server allows by default. The baseline's own output is the noise floor: a
law that it does not follow itself was not rebuilt rightly, and condemns nobody.
"""

from collections.abc import Mapping

from checks.acceptance.steps import Steps
from checks.request import is_greedy
from checks.run.evidence import Answers
from checks.run.reading import Reading
from checks.run.turns import score_request
from checks.sampled.distribution import TopLists
from checks.sampled.sampling import obstacles
from checks.sampled.turn import SampledTurn, listed_tokens
from traces.journal.exchange import Evidence, Exchange, TurnId
from traces.journal.score import ScoreRequest

LISTED = 20
"""vLLM's default of ``--max-logprobs``."""


def sampled_pairs(evidence: Evidence) -> list[tuple[Exchange, Exchange]]:
    """(candidate, baseline) of every sampled turn that both paths were sent."""
    baseline = evidence.of("baseline")
    return [
        (exchange, baseline[turn])
        for turn, exchange in evidence.of("candidate").items()
        if turn in baseline and not is_greedy(exchange.request)
    ]


def sampled_requests(evidence: Evidence) -> list[ScoreRequest]:
    """Both outputs of every sampled turn whose law can be rebuilt."""
    found = [
        score_request(exchange.response, 0)
        for pair in sampled_pairs(evidence)
        if not obstacles(pair[0].request)
        for exchange in pair
    ]
    return [request for request in found if request is not None]


def sampled_turns(
    evidence: Evidence, answers: Answers, readings: Mapping[TurnId, Reading]
) -> list[SampledTurn]:
    """Every sampled turn with the lists there are; without them it counts as not judged.

    The drafted tokens are known where they could be computed again (n-gram), from `readings`.
    """
    return [
        SampledTurn(
            *candidate.turn,
            candidate.request,
            candidate=_lists(candidate, answers),
            baseline=_lists(baseline, answers),
            drafts=_drafts(readings.get(candidate.turn)),
        )
        for candidate, baseline in sampled_pairs(evidence)
    ]


def _drafts(reading: Reading | None) -> tuple[int, ...] | None:
    if reading is None or not isinstance(reading.steps, Steps):
        return None
    return reading.steps.draft_of_token


def _lists(exchange: Exchange, answers: Answers) -> TopLists | None:
    request = score_request(exchange.response, 0)
    score = None if request is None else answers.scores.get(request.digest)
    return listed_tokens(score, exchange.response.token_ids or (), LISTED)
