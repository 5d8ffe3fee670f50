"""The turns of recorded sessions, each with its name and request."""

import random
from collections.abc import Sequence

from draftgate.config.config import Config, RunSection
from draftgate.pytest_plugin.naming import turn_names, unique
from draftgate.run.plan import make_plan
from draftgate.testing.recorded_turn import RecordedTurn
from traces.session.sampling import draw, strata_of

SEED = 0
"""Of the draw of turns: every process of a test run must draw the same."""


def recorded_turns(config: Config, most: int | None) -> list[RecordedTurn]:
    """Every turn that `[run]` replays; `most` draws so many from all tools, labels and lengths.

    Raises InputError where nothing can be replayed.
    """
    plan = make_plan(config)
    names = iter(unique(list(turn_names(plan.sessions))))
    turns = [
        RecordedTurn(next(names), job.session, job.turn, job.request)
        for planned in plan.sessions
        for job in planned.jobs
    ]
    if most is None or most >= len(turns):
        return turns
    replayed = {(turn.session, turn.turn) for turn in turns}
    strata = strata_of(planned.session for planned in plan.sessions)
    drawn = draw({key: kind for key, kind in strata.items() if key in replayed}, most, SEED)
    return [turn for turn in turns if (turn.session, turn.turn) in drawn]


def turns_of(sessions: Sequence[str], most: int | None) -> list[RecordedTurn]:
    """The same of session files alone."""
    run = RunSection(sessions=tuple(sessions))
    return recorded_turns(Config.model_construct(run=run), most)


def some(turns: list[RecordedTurn], most: int | None) -> list[RecordedTurn]:
    """At most so many turns of which only the names are known, in their order."""
    if most is None or most >= len(turns):
        return turns
    return [turns[i] for i in sorted(random.Random(SEED).sample(range(len(turns)), most))]
