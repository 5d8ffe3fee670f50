"""Judging the further arms: their greedy turns, while a baseline is up to score them.

The tokens of an arm are held against the baseline's in the same arm; the baseline's noise in the
main arm is known besides (`checks.greedy.judge`).
"""

from checks.greedy.judge import judge_greedy
from draftgate.run.arms import Arm
from draftgate.run.questions import Questioner
from draftgate.run.record import ArmTurns, Record
from draftgate.run.scoring import scoring_requests
from checks.run.turns import Answers


def judge_arm(record: Record, arm: Arm, questioner: Questioner | None = None) -> None:
    """Score what diverged in `arm` and judge it, into the record.

    Without a `questioner` the scores on file are used, and no suspect is asked about.
    """
    policy, seed = record.config.policy, record.config.run.seed
    answers = Answers(scores=record.answers.scores)
    turns = record.turns_of(arm.name, arm.repeat_name, answers)
    if questioner is not None:
        questioner.score(scoring_requests(turns, seed), answers, f"scoring ({arm.name})")
        turns = record.turns_of(arm.name, arm.repeat_name, answers)
    judged = judge_greedy(turns, policy, seed, record.greedy_turns)
    if questioner is not None and judged.suspects:
        questioner.ask_suspects(turns, judged.suspects, answers)
        turns = record.turns_of(arm.name, arm.repeat_name, answers)
        judged = judge_greedy(turns, policy, seed, record.greedy_turns)
    record.further[arm.name] = ArmTurns(arm, turns, judged)
