"""What the baseline is asked after its arms have run, while it is still up.

1. Diverged turns: the candidate's tokens from the first divergence on, teacher-forced.
2. A random sample of the baseline's own outputs, with at least as many tokens: the noise floor in
   the same (prefill) shape.
3. Suspects: its own next token after the candidate's tokens before a token above the hard bound.
4. The changed tails of planted controls.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from checks.greedy.judge import Suspect
from checks.greedy.turn import GreedyTurn
from draftgate.config.config import Config
from draftgate.progress import Reporter
from draftgate.run.folder import RunFolder
from draftgate.run.paths import OpenPath
from checks.run.turns import Answers
from replay.next_token import next_tokens
from replay.scorer import ScorerPlan, score_all
from replay.scorer_plan import Method
from traces.journal.path_facts import PathFacts
from traces.journal.score import ScoreRequest


def scorer_method(config: Config, facts: Sequence[PathFacts]) -> Method:
    """The configured scorer, or the one that the baseline's servers can be asked for."""
    if config.run.scorer != "auto":
        return config.run.scorer
    seen = [server.observables for server in facts if server.observables is not None]
    lacking = any(shown.prompt_logprobs is False for shown in seen)
    return "lockstep" if lacking else "teacher-forcing"


class Questioner:
    """Asks an open baseline and keeps the answers."""

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
        self, requests: Sequence[ScoreRequest], answers: Answers, title: str, width: int = 1
    ) -> None:
        """Teacher-force `requests`; what is in the run's score file is not asked again.

        `width` is how many of the best tokens are listed at every place. Lockstep lists one; what
        needs more stays unanswered under it.
        """
        if not requests or (width > 1 and self.plan.method == "lockstep"):
            return
        with self.reporter.step(f"baseline: {title}", len(requests)) as advance:
            answers.scores |= asyncio.run(
                score_all(
                    replace(self.plan, width=width),
                    requests,
                    self.folder.scores,
                    progress=advance,
                    check_alive=self.path.check_alive,
                )
            )

    def ask_suspects(
        self, turns: Sequence[GreedyTurn], suspects: Sequence[Suspect], answers: Answers
    ) -> None:
        """The baseline's own token at every suspect's prefix."""
        by_name = {(turn.session, turn.turn): turn for turn in turns}
        prefixes = []
        for suspect in suspects:
            response = by_name[suspect.session, suspect.turn].candidate
            prompt = (*(response.prompt_token_ids or ()), *(response.token_ids or ()))
            length = len(response.prompt_token_ids or ()) + suspect.index
            prefixes.append(prompt[:length])
        found = asyncio.run(next_tokens(self.plan, prefixes))
        for suspect, token in zip(suspects, found, strict=True):
            if token is not None:
                own = answers.own_tokens.setdefault((suspect.session, suspect.turn), {})
                own[suspect.index] = token
