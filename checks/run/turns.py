"""Greedy turns of a run, filled with whatever scores there are so far."""

from dataclasses import dataclass, field

from checks.greedy.turn import GreedyTurn
from checks.request import is_greedy, processes_logits
from checks.tokens.forks import first_divergence
from checks.tokens.scored import Scored, scored_of
from traces.journal.exchange import Evidence, Exchange, TurnId
from traces.journal.score import Score, ScoreRequest
from traces.wire.response import Response, Token


@dataclass(slots=True)
class Answers:
    """What the baseline was asked beside the arms: teacher-forced scores by request digest, and
    its own next token by (turn, output index)."""

    scores: dict[str, Score] = field(default_factory=dict)
    own_tokens: dict[TurnId, dict[int, Token]] = field(default_factory=dict)


def greedy_turns(
    evidence: Evidence,
    answers: Answers,
    *,
    processed_logprobs: bool,
    arm: str = "main",
    repeat: str = "aa",
) -> list[GreedyTurn]:
    """Every turn at temperature 0 that both paths were sent in `arm`."""
    baseline, repeats = evidence.of("baseline", arm), evidence.of("baseline", repeat)
    verified = evidence.of("baseline", "verify") if arm == "main" else {}
    return [
        _turn(
            exchange,
            baseline[turn],
            repeats.get(turn),
            verified.get(turn),
            answers,
            processed_logprobs,
        )
        for turn, exchange in evidence.of("candidate", arm).items()
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
        scored_baseline=_scored(baseline.response, 0, answers),
        verify=None if verify is None else verify.response,
        scored_verify=None
        if verify is None or parted is None
        else _scored(verify.response, parted, answers),
        own_tokens=answers.own_tokens.get(candidate.turn, {}),
        processing=processes_logits(candidate.request),
        processed_logprobs=processed_logprobs,
    )


def fork_index(candidate: Response, baseline: Response) -> int | None:
    """Where the candidate's output parts from the baseline's, if it goes on from there."""
    ids, theirs = candidate.token_ids, baseline.token_ids
    if ids is None or theirs is None:
        return None
    start = first_divergence(ids, theirs)
    return start if start is not None and start < len(ids) else None


def score_request(response: Response, start: int) -> ScoreRequest | None:
    """The output from token `start` on, teacher-forced; `None` without token ids."""
    ids, prompt = response.token_ids, response.prompt_token_ids
    if not ids or prompt is None:
        return None
    return ScoreRequest((*prompt, *ids[:start]), ids[start:])


def _scored(response: Response, start: int, answers: Answers) -> Scored | None:
    request = score_request(response, start)
    score = None if request is None else answers.scores.get(request.digest)
    return None if score is None else scored_of(score, response.token_ids or (), start)
