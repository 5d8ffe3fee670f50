"""The bounds on turns: of all that were replayed, and of those alone whose prompt is faithful.

A recorded prompt is `exact` or `rebuilt`, rests on a summary (`after_compaction`), or is known to
miss text (`lossy`). The verdict rests on all turns that `run.fidelity` lets in; where some of them
are not exact or rebuilt, the same bounds of the others stand beside, and decide nothing: the same
tokens would be asked twice.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from checks.bounds import Bound
from checks.calls.behavior import judge_behavior
from checks.calls.call_agreement import judge_agreement
from checks.greedy.bounds import enough_bounds
from checks.greedy.judge import GreedyJudgement
from checks.judged_share import Unjudged, judged_share_bound
from checks.policy import Policy
from checks.run.answered import answered_bound
from checks.run.arms import greedy_of
from checks.run.floor import RunFloor
from checks.run.sums import SessionSums
from checks.sampled.judge import SampledJudgement, judge_scored
from checks.sampled.turn import ScoredTurn
from checks.sessions.evidence import RunFacts
from traces.journal.arm import MAIN
from traces.journal.exchange import TurnId
from traces.session.turn import Fidelity

FAITHFUL: frozenset[Fidelity] = frozenset({"exact", "rebuilt"})

TOO_OPEN = "the listed tokens leave the distribution too open"


def turn_bounds(
    greedy: GreedyJudgement,
    sampled: SampledJudgement,
    calls: Sequence[Bound],
    sessions: Sequence[SessionSums],
    policy: Policy,
) -> tuple[Bound, ...]:
    """Everything but acceptance, drafts and further arms, which no single turn decides."""
    scored = [turn for one in sessions for turn in one.scored if turn.not_judged is None]
    judged = [(turn.session, turn.turn) for turn in scored]
    return (
        *greedy.bounds,
        *sampled.bounds,
        *([] if greedy.turns else enough_bounds(judged, policy)),
        *calls,
        answered_bound([turn for one in sessions for turn in one.answered]),
        _judged_share(sessions),
    )


def sampled_of(sessions: Sequence[SessionSums], policy: Policy, seed: int) -> SampledJudgement:
    """Turns recorded as sampled and those that are sampled besides, together; the latter alone
    search for a shift, and hold up no pass."""
    recorded = [turn for one in sessions for turn in one.scored]
    added = [turn for one in sessions for turn in one.added.scored]
    judged = judge_scored([*recorded, *added], policy, seed)
    return judged if recorded or not added else judged.search()


def faithful_bounds(
    sessions: Sequence[SessionSums], floor: RunFloor, facts: RunFacts
) -> tuple[Bound, ...]:
    """The bounds of the turns that are exact or rebuilt; none where all replayed turns are, where
    none is, or where the recording is not at hand."""
    replayed = _replayed(sessions, facts)
    kept = {turn for turn, fidelity in replayed.items() if fidelity in FAITHFUL}
    if not 0 < len(kept) < len(replayed):
        return ()
    policy, seed = facts.policy, facts.seed
    alone = [_only(one, kept) for one in sessions]
    changes = [change for one in alone for change in one.arms[MAIN].changes]
    return turn_bounds(
        greedy_of([one.arms[MAIN] for one in alone], facts.main, floor, facts),
        sampled_of(alone, policy, seed),
        (
            judge_behavior([o for one in alone for o in one.outcomes], policy, seed).bound,
            judge_agreement(changes, policy, seed).bound,
        ),
        alone,
        policy,
    )


def unfaithful_notes(sessions: Sequence[SessionSums], facts: RunFacts) -> list[str]:
    """How many of the replayed turns have a prompt that is not what the model saw."""
    counts = Counter(_replayed(sessions, facts).values())
    loose = {name: n for name, n in sorted(counts.items()) if name not in FAITHFUL}
    if not loose:
        return []
    kinds = ", ".join(f"{n:,} {name}" for name, n in loose.items())
    beside = (
        "the bounds of the others stand beside those of all"
        if len(loose) < len(counts)
        else "no bound is about prompts as the model saw them"
    )
    return [
        f"{sum(loose.values()):,} of {sum(counts.values()):,} replayed turns have a prompt that is "
        f"neither exact nor rebuilt ({kinds}): {beside}"
    ]


def _replayed(sessions: Sequence[SessionSums], facts: RunFacts) -> dict[TurnId, str]:
    """The fidelity of every turn of the main arm, as far as the recording is at hand."""
    known = {(s.session, t.turn): t.fidelity for s in facts.sessions for t in s.turns}
    turns = ((t.session, t.turn) for one in sessions for t in one.answered if t.arm == MAIN)
    return {turn: known[turn] for turn in turns if turn in known}


def _only(one: SessionSums, turns: Collection[TurnId]) -> SessionSums:
    """What the session shows in `turns`; what is no matter of a single turn stays as it is."""
    main = one.arms[MAIN]
    judged = [r for r in main.results if (r.judgement.session, r.judgement.turn) in turns]
    changes = [change for change in main.changes if (change.session, change.turn) in turns]
    return replace(
        one,
        arms={**one.arms, MAIN: replace(main, results=tuple(judged), changes=tuple(changes))},
        outcomes=tuple(o for o in one.outcomes if (o.session, o.turn) in turns),
        scored=_of(one.scored, turns),
        added=replace(one.added, scored=_of(one.added.scored, turns)),
        answered=tuple(turn for turn in one.answered if (turn.session, turn.turn) in turns),
    )


def _of(scored: Sequence[ScoredTurn], turns: Collection[TurnId]) -> tuple[ScoredTurn, ...]:
    return tuple(turn for turn in scored if (turn.session, turn.turn) in turns)


def _judged_share(sessions: Sequence[SessionSums]) -> Bound:
    """Of the main arm: tokens whose regret or whose distribution was looked at."""
    judged = 0
    left_out: list[Unjudged] = []
    for one in sessions:
        for result in one.arms[MAIN].results:
            found = result.judgement
            judged += found.tokens
            if found.not_judged is not None:
                left_out.append(Unjudged(found.not_judged, result.regrets.sent))
            if found.processed:
                left_out.append(Unjudged("processed logits beyond a fork", found.processed))
            if found.unscored:
                left_out.append(Unjudged("without a score", found.unscored))
        for drawn in one.scored:
            if drawn.not_judged is not None:
                left_out.append(Unjudged(drawn.not_judged, drawn.sent))
            if drawn.candidate is not None:
                judged += drawn.candidate.tokens
                left_out.append(Unjudged(TOO_OPEN, drawn.candidate.open))
    return judged_share_bound(judged, (one for one in left_out if one.tokens))
