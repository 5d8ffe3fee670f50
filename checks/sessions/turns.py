"""The turns of an arm as their checks want them, and what the baseline is to score for that.

Up to the first divergence the baseline's own stream already scores the candidate, for free. From
there on the candidate's tokens are teacher-forced, and so is the rest of the baseline's own output
of the same turn: turns differ in their noise, and those that fork have more of it. Turns drawn at
random fill up what is left of as many tokens.

Of a turn at a temperature above 0 the baseline reads both paths' outputs again, with as many of the
best tokens listed at every place as a vLLM server allows by default. The baseline's own output is
the noise floor: a distribution that it does not follow itself was not rebuilt rightly, and condemns
nobody.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from checks.acceptance.drafting import Drafting
from checks.acceptance.steps import Steps
from checks.greedy.turn import GreedyTurn
from checks.request import is_greedy, processes_logits
from checks.sampled.distribution import TopLists
from checks.sampled.sampling import obstacles
from checks.sampled.turn import SampledTurn, listed_tokens
from checks.sessions.evidence import Answers
from checks.sessions.reading import Reading
from checks.stats.sessions import hash_order
from checks.tokens.fork import first_divergence
from checks.tokens.regret import Scored, scored_of
from traces.journal.arm import MAIN, SAMPLED, Arm
from traces.journal.exchange import Evidence, Exchange, TurnId
from traces.journal.score import ScoreRequest
from traces.wire.response import Response


def greedy_turns(
    evidence: Evidence, answers: Answers, arm: Arm, *, processed_logprobs: bool
) -> list[GreedyTurn]:
    """Every turn at temperature 0 that both paths were sent in `arm`."""
    baseline = evidence.of("baseline", arm.name)
    repeats = evidence.of("baseline", arm.repeat_name)
    verify = arm.verify_name
    verified = {} if verify is None else evidence.of("baseline", verify)
    return [
        _turn(
            exchange,
            baseline[turn],
            repeats.get(turn),
            verified.get(turn),
            answers,
            processed_logprobs,
        )
        for turn, exchange in evidence.of("candidate", arm.name).items()
        if turn in baseline and is_greedy(exchange.request)
    ]


def _turn(
    candidate: Exchange,
    baseline: Exchange,
    repeat: Exchange | None,
    verify: Exchange | None,
    answers: Answers,
    processed_logprobs: bool,
) -> GreedyTurn:
    start = fork_index(candidate.response, baseline.response)
    parted = None if verify is None else fork_index(verify.response, baseline.response)
    return GreedyTurn(
        session=candidate.key.session,
        turn=candidate.key.turn,
        candidate=candidate.response,
        baseline=baseline.response,
        repeat=None if repeat is None else repeat.response,
        scored_candidate=None if start is None else _scored(candidate.response, start, answers),
        scored_baseline=_own_scored(candidate.response, baseline.response, answers),
        verify=None if verify is None else verify.response,
        scored_verify=None
        if verify is None or parted is None
        else _scored(verify.response, parted, answers),
        own_tokens=answers.own_tokens.get(candidate.key.arm, {}).get(candidate.turn, {}),
        processing=processes_logits(candidate.request),
        processed_logprobs=processed_logprobs,
    )


def fork_index(candidate: Response, baseline: Response) -> int | None:
    """Where the candidate's output parts from the baseline's, if it goes on from there."""
    ids, baseline_ids = candidate.token_ids, baseline.token_ids
    if ids is None or baseline_ids is None:
        return None
    start = first_divergence(ids, baseline_ids)
    return start if start is not None and start < len(ids) else None


def score_request(response: Response, start: int) -> ScoreRequest | None:
    """The output from token `start` on, teacher-forced; `None` without token ids."""
    ids, prompt = response.token_ids, response.prompt_token_ids
    if not ids or prompt is None:
        return None
    return ScoreRequest((*prompt, *ids[:start]), ids[start:])


def _own_scored(candidate: Response, baseline: Response, answers: Answers) -> Scored | None:
    """The baseline's own output read again: whole, or behind the candidate's fork."""
    whole, start = _scored(baseline, 0, answers), own_tail(candidate, baseline)
    return whole if whole is not None or start is None else _scored(baseline, start, answers)


def own_tail(candidate: Response, baseline: Response) -> int | None:
    """Where the rest of the baseline's own output begins, behind the fork: the token at a fork is
    a near tie because it was chosen so, and no sample of the noise."""
    start = fork_index(candidate, baseline)
    if start is None or start + 1 >= len(baseline.token_ids or ()):
        return None
    return start + 1


def _scored(response: Response, start: int, answers: Answers) -> Scored | None:
    request = score_request(response, start)
    score = None if request is None else answers.scores.get(request.digest)
    return None if score is None else scored_of(score, response.token_ids or (), start)


LEAST_NOISE_TOKENS = 2000
"""Read again even where nothing diverged: planted faults need a floor of the same shape."""
LEAST_EQUAL_TOKENS = 1500
"""Read again of turns that do not fork, however many others do. Scores of equal tokens are judged
by 1,000 of them (`checks.greedy.shift.LEAST_TOKENS`), some of which may have no score."""


def scoring_requests(
    turns: Iterable[GreedyTurn], turn_of: Callable[[TurnId], GreedyTurn], seed: int
) -> list[ScoreRequest]:
    """Every diverged tail, the baseline's own of the same turns, then its outputs of others until
    there are as many tokens of its own, and `LEAST_EQUAL_TOKENS` of the others.

    Turns are gone through once, and no capture of them is kept: those drawn at random are asked for
    again. Turns with processed logits are left out: prompt logprobs are always raw.
    """
    tails: list[ScoreRequest] = []
    own: list[ScoreRequest] = []
    others: dict[str, TurnId] = {}
    for turn in turns:
        if turn.processing:
            continue
        tails += _tails(turn)
        start = own_tail(turn.candidate, turn.baseline)
        if start is None:
            others[f"{turn.session}/{turn.turn}"] = turn.session, turn.turn
        elif (request := score_request(turn.baseline, start)) is not None:
            own.append(request)
    wanted = max(LEAST_NOISE_TOKENS, sum(len(request.continuation) for request in tails))
    wanted -= sum(len(request.continuation) for request in own)
    drawn = (turn_of(others[name]) for name in hash_order(others, seed))
    return [*tails, *own, *_sample(drawn, max(wanted, LEAST_EQUAL_TOKENS))]


def _tails(turn: GreedyTurn) -> Iterator[ScoreRequest]:
    """What the candidate, and the target in verify shape, say behind the first divergence."""
    for response in (turn.candidate, turn.verify):
        start = None if response is None else fork_index(response, turn.baseline)
        if response is not None and start is not None:
            request = score_request(response, start)
            if request is not None:
                yield request


def _sample(turns: Iterator[GreedyTurn], tokens: int) -> Iterator[ScoreRequest]:
    """Whole baseline outputs until they hold `tokens` tokens."""
    while tokens > 0 and (turn := next(turns, None)) is not None:
        request = score_request(turn.baseline, 0)
        if request is not None:
            tokens -= len(request.continuation)
            yield request


LISTED = 20
"""vLLM's default of ``--max-logprobs``."""


def sampled_pairs(evidence: Evidence, arm: str = MAIN) -> list[tuple[Exchange, Exchange]]:
    """(candidate, baseline) of every sampled turn of an arm that both paths were sent."""
    baseline = evidence.of("baseline", arm)
    return [
        (exchange, baseline[turn])
        for turn, exchange in evidence.of("candidate", arm).items()
        if turn in baseline and not is_greedy(exchange.request)
    ]


def sampled_requests(sessions: Iterable[Evidence]) -> list[ScoreRequest]:
    """Both outputs of every sampled turn whose distribution can be rebuilt, of those recorded so
    and of those that are sampled besides."""
    found = [
        score_request(exchange.response, 0)
        for evidence in sessions
        for arm in (MAIN, SAMPLED)
        for pair in sampled_pairs(evidence, arm)
        if not obstacles(pair[0].request)
        for exchange in pair
    ]
    return [request for request in found if request is not None]


def sampled_turns(
    evidence: Evidence,
    answers: Answers,
    readings: Mapping[TurnId, Reading],
    drafting: Drafting,
    arm: str = MAIN,
) -> list[SampledTurn]:
    """Every sampled turn of an arm with the lists there are; without them it counts as not judged.

    The drafted tokens are known, from `readings`, where the server reports them or they could be
    computed again (n-gram); they are tested only where `drafting` makes one-hot drafts.
    """
    return [
        SampledTurn(
            *candidate.turn,
            candidate.request,
            candidate=_lists(candidate, answers),
            baseline=_lists(baseline, answers),
            drafts=_drafts(readings.get(candidate.turn)) if drafting.one_hot else None,
            sent=len(candidate.response.token_ids or ()),
        )
        for candidate, baseline in sampled_pairs(evidence, arm)
    ]


def _drafts(reading: Reading | None) -> tuple[int, ...] | None:
    if reading is None or not isinstance(reading.steps, Steps):
        return None
    return reading.steps.draft_of_token


def _lists(exchange: Exchange, answers: Answers) -> TopLists | None:
    request = score_request(exchange.response, 0)
    score = None if request is None else answers.scores.get(request.digest)
    return listed_tokens(score, exchange.response.token_ids or (), LISTED)
