"""What the baseline is asked after its arms have run, while it is still up.

1. Diverged turns: the candidate's tokens from the first divergence on, teacher-forced.
2. A random sample of the baseline's own outputs, with at least as many tokens: the noise floor in
   the same (prefill) shape.
3. Suspects: its own next token after the candidate's tokens before a token far beyond its noise.
4. The changed tails of planted controls.

Without a questioner only the scores on file are used, and no suspect is asked about.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from checks.controls.swap import SwapPlan, plan_far_swap, plan_frequent_swaps
from checks.controls.swap_spots import Survey
from checks.greedy.judge import GreedyJudgement, Suspect, conclude, floor_of, judge_one
from checks.greedy.turn import TurnRegrets, measure_turn
from checks.run.reruns import suspicious_turns
from checks.sessions.evidence import Answers, RunFacts
from checks.sessions.turns import LISTED, sampled_requests, scoring_requests
from draftgate.config.config import Config
from draftgate.judging.captures import FiledCaptures, FiledTurns
from draftgate.progress import Reporter
from draftgate.run.folder import RunFolder
from draftgate.run.paths import OpenPath
from replay.scoring.next_token import next_tokens
from replay.scoring.scorer import ScorerPlan, score_all
from replay.scoring.scorer_plan import Method
from traces.counted import counted
from traces.journal.arm import MAIN, SAMPLED, Arm
from traces.journal.exchange import PATHS, TurnId
from traces.journal.path_facts import PathFacts
from traces.journal.score import Score, ScoreRequest
from traces.wire.response import Token


def scorer_method(config: Config, facts: Sequence[PathFacts]) -> Method:
    """The configured scorer, or the one that the baseline's servers can be asked for."""
    if config.run.scorer != "auto":
        return config.run.scorer
    seen = [server.observables for server in facts if server.observables is not None]
    lacking = any(shown.prompt_logprobs is False for shown in seen)
    return "lockstep" if lacking else "teacher-forcing"


class Questioner:
    """Asks an open baseline."""

    def __init__(
        self,
        path: OpenPath,
        folder: RunFolder,
        reporter: Reporter,
        method: Method = "teacher-forcing",
    ) -> None:
        self.plan = ScorerPlan(
            path.urls[0],
            path.model,
            method,
            cache_salt=f"{folder.run}-score",
            api_key=path.api_key,
        )
        self.path = path
        self.folder = folder
        self.reporter = reporter

    def score(
        self, requests: Sequence[ScoreRequest], title: str, width: int = 1
    ) -> Mapping[str, Score]:
        """Teacher-force `requests`; what is in the run's score file is not asked again.

        `width` is how many of the best tokens are listed at every place. Lockstep lists one; what
        needs more stays unanswered under it.
        """
        if not requests or (width > 1 and self.plan.method == "lockstep"):
            return {}
        with self.reporter.step(f"baseline: {title}", len(requests)) as advance:
            return asyncio.run(
                score_all(
                    replace(self.plan, width=width),
                    requests,
                    self.folder.scores,
                    progress=advance,
                    check_alive=self.path.check_alive,
                )
            )

    def own_tokens(
        self, turns: FiledTurns, suspects: Sequence[Suspect]
    ) -> Mapping[TurnId, Mapping[int, Token]]:
        """The baseline's own token at every suspect's prefix."""
        prefixes = []
        for suspect in suspects:
            response = turns.turn((suspect.session, suspect.turn)).candidate
            prompt = (*(response.prompt_token_ids or ()), *(response.token_ids or ()))
            length = len(response.prompt_token_ids or ()) + suspect.index
            prefixes.append(prompt[:length])
        own: dict[TurnId, dict[int, Token]] = {}
        found = asyncio.run(next_tokens(self.plan, prefixes))
        for suspect, token in zip(suspects, found, strict=True):
            if token is not None:
                own.setdefault((suspect.session, suspect.turn), {})[suspect.index] = token
        return own


@dataclass(frozen=True, slots=True)
class Asked:
    """What the baseline answered, the tokens planted to be caught, and by arm the turns with a hard
    divergence, as far as its answers tell."""

    answers: Answers
    swaps: tuple[SwapPlan, ...] = ()
    diverged: Mapping[Arm, Sequence[TurnId]] = field(default_factory=dict)


def ask_main(
    captures: FiledCaptures, facts: RunFacts, answers: Answers, questioner: Questioner | None = None
) -> Asked:
    """Score and judge the greedy turns of the main arm, as far as that raises questions; then plant
    tokens, and score these."""
    arm = facts.main
    if questioner is not None:
        requests = _requests(FiledTurns(captures, facts, arm, answers))
        answers = _with_scores(answers, questioner.score(requests, "scoring"))
        sampled = captures.of(*((path, name) for path in PATHS for name in (MAIN, SAMPLED)))
        wide = sampled_requests(sampled)
        scores = questioner.score(wide, "scoring sampled turns", width=LISTED)
        answers = _with_scores(answers, scores)
    turns = FiledTurns(captures, facts, arm, answers)
    judged, survey = _judge(turns)
    if questioner is not None and judged.suspects:
        suspects = counted(len(judged.suspects), "token")
        questioner.reporter.note(f"baseline: asking about {suspects} far beyond its noise")
        answers = _with_own(answers, arm, questioner.own_tokens(turns, judged.suspects))
        judged, survey = _judge(replace(turns, answers=answers))
    swaps = plan_far_swap(survey, judged), plan_frequent_swaps(survey, judged, facts.seed)
    if questioner is not None:
        planted = [request for plan in swaps for request in plan.to_score]
        answers = _with_scores(answers, questioner.score(planted, "scoring planted faults"))
    return Asked(answers, swaps, {arm: suspicious_turns(judged.findings)})


def ask_arm(
    captures: FiledCaptures, facts: RunFacts, asked: Asked, arm: Arm, questioner: Questioner
) -> Asked:
    """Score and judge the greedy turns of a further arm, as far as that raises questions.

    The tokens of an arm are compared with the baseline's in the same arm; the baseline's noise in
    the main arm is known besides (`checks.greedy.judge`).
    """
    answers = asked.answers
    requests = _requests(FiledTurns(captures, facts, arm, answers))
    answers = _with_scores(answers, questioner.score(requests, f"scoring ({arm.name})"))
    beside = [measure_turn(turn) for turn in FiledTurns(captures, facts, facts.main, answers)]
    turns = FiledTurns(captures, facts, arm, answers)
    judged, _ = _judge(turns, beside)
    if judged.suspects:
        answers = _with_own(answers, arm, questioner.own_tokens(turns, judged.suspects))
        judged, _ = _judge(replace(turns, answers=answers), beside)
    diverged = {**asked.diverged, arm: suspicious_turns(judged.findings)}
    return replace(asked, answers=answers, diverged=diverged)


def _with_own(answers: Answers, arm: Arm, own: Mapping[TurnId, Mapping[int, Token]]) -> Answers:
    return replace(answers, own_tokens={**answers.own_tokens, arm.name: own})


def _requests(turns: FiledTurns) -> list[ScoreRequest]:
    return scoring_requests(turns, turns.turn, turns.facts.seed)


def _judge(turns: FiledTurns, beside: Sequence[TurnRegrets] = ()) -> tuple[GreedyJudgement, Survey]:
    """The turns are gone through twice, as `checks.greedy.judge.judge_greedy` does; what is kept of
    each are numbers."""
    policy, seed = turns.facts.policy, turns.facts.seed
    measured = [measure_turn(turn) for turn in turns]
    ordered = sorted(measured, key=lambda one: (one.session, one.turn))
    floor = floor_of(ordered, policy, seed, beside)
    survey = Survey(turns.turn)
    results = []
    for turn, regrets in zip(turns, measured, strict=True):
        result = judge_one(turn, regrets, floor.noise)
        survey.add(turn, result.judgement)
        results.append(result)
    return conclude(results, floor, policy, seed), survey


def _with_scores(answers: Answers, scores: Mapping[str, Score]) -> Answers:
    return replace(answers, scores={**answers.scores, **scores})
