"""What the baseline must read again: diverged tails, and its own tokens as the noise floor.

Up to the first divergence the baseline's own stream already scores the candidate, for free. From
there on the candidate's tokens are teacher-forced, and so are at least as many of the baseline's
own tokens, from turns drawn at random.
"""

from collections.abc import Iterable, Sequence

from checks.greedy.turn import GreedyTurn
from checks.stats.sessions import hash_order
from checks.run.turns import fork_index, score_request
from traces.journal.score import ScoreRequest

LEAST_NOISE_TOKENS = 2000
"""Read again even where nothing diverged: planted faults need a floor of the same shape."""


def scoring_requests(turns: Sequence[GreedyTurn], seed: int) -> list[ScoreRequest]:
    """Every diverged tail, then the baseline's own outputs until there are as many tokens.

    Turns with processed logits are left out: prompt logprobs are always raw.
    """
    usable = [turn for turn in turns if not turn.processing]
    tails = []
    for turn in usable:
        for response in (turn.candidate, turn.verify):
            start = None if response is None else fork_index(response, turn.baseline)
            if response is not None and start is not None:
                tails.append(score_request(response, start))
    requests = [request for request in tails if request is not None]
    wanted = max(LEAST_NOISE_TOKENS, sum(len(r.continuation) for r in requests))
    return [*requests, *_sample(usable, wanted, seed)]


def _sample(turns: Sequence[GreedyTurn], tokens: int, seed: int) -> Iterable[ScoreRequest]:
    """Whole baseline outputs, in an order drawn by `seed`, until they hold `tokens` tokens."""
    named = {f"{turn.session}/{turn.turn}": turn for turn in turns}
    for name in hash_order(named, seed):
        if tokens <= 0:
            return
        request = score_request(named[name].baseline, 0)
        if request is not None:
            tokens -= len(request.continuation)
            yield request
