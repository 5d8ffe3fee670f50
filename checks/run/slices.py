"""The slices of a run: which turns share a template, a tag, a tool, a context band; each judged.
And its scope: how many tokens of which kind it looked at."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from checks.acceptance.profile_sums import ProfileSums
from checks.calls.behavior import PairedOutcome
from checks.exact.alone import delivery_is_checked
from checks.exact.stream import is_cut
from checks.findings import Finding
from checks.greedy.judge import GreedyJudgement
from checks.greedy.turn import TurnRegrets
from checks.pair import Pair
from checks.request import is_greedy, under_grammar
from checks.scope import GREEDY, RECORDED, Scope, Seen, TurnScope
from checks.sessions.evidence import RunFacts
from checks.sessions.pairs import LivePair
from checks.sessions.reading import Reading
from checks.slices.acceptance import BySession, SliceAcceptance, compare_slices
from checks.slices.judge import SliceJudgement, judge_slices
from checks.slices.slices import Slice, TurnId, turns_by_slice
from traces.bands import band_of
from traces.journal.exchange import Evidence, Exchange
from traces.session.facts import SessionFacts


@dataclass(frozen=True, slots=True)
class Slices:
    """Verdict and acceptance of every slice that is judged."""

    judged: tuple[SliceJudgement, ...]
    acceptance: Mapping[Slice, SliceAcceptance]


def judge_run_slices(
    named: Mapping[TurnId, frozenset[Slice]],
    measured: Sequence[TurnRegrets],
    greedy: GreedyJudgement,
    sums: ProfileSums,
    outcomes: Sequence[PairedOutcome],
    findings: Sequence[Finding],
    facts: RunFacts,
) -> Slices:
    """The slices of the main arm, `named` by turn. `findings` are those of the whole run."""
    policy, seed = facts.policy, facts.seed
    slices = turns_by_slice(named)
    judged = judge_slices(slices, measured, greedy, outcomes, findings, policy, seed)
    profiled = dict(_profiles(slices, sums.by_session()))
    whole = sums.by_session().get(("all", "all"), {})
    return Slices(tuple(judged), compare_slices(profiled, whole, seed=seed))


def slices_of(captures: Evidence, session: SessionFacts | None) -> dict[TurnId, frozenset[Slice]]:
    """The slices of each turn of a session's main arm."""
    baseline = captures.of("baseline")
    of_session = () if session is None else tuple(_of_session(session))
    return {
        turn: frozenset((*of_session, *_of_turn(exchange, baseline.get(turn))))
        for turn, exchange in captures.of("candidate").items()
    }


def _of_session(session: SessionFacts) -> Iterator[Slice]:
    yield "template", session.template
    for name, value in session.tags.items():
        yield "tag", f"{name}={value}"


def _of_turn(candidate: Exchange, baseline: Exchange | None) -> Iterator[Slice]:
    """Its context band, and the tools the baseline calls in it, whatever the candidate calls."""
    usage = candidate.response.usage
    if usage is not None and usage.prompt is not None:
        yield "context", band_of(usage.prompt)
    if baseline is not None:
        for name in {call.name for call in baseline.response.tool_calls if call.name}:
            yield "tool", name


def _profiles(
    slices: Mapping[Slice, frozenset[TurnId]], sums: Mapping[Slice, BySession]
) -> Iterator[tuple[Slice, BySession]]:
    """Sums of every slice; a tag belongs to sessions, so it has all of their turns."""
    whole = sums.get(("all", "all"), {})
    for name, turns in slices.items():
        if name[0] == "tag":
            sessions = {session for session, _ in turns}
            yield name, {session: mine for session, mine in whole.items() if session in sessions}
        else:
            yield name, sums.get(name, {})


def scope_of(
    pairs: Sequence[LivePair],
    readings: Mapping[TurnId, Reading],
    parsed: Collection[TurnId],
    sampled: str = RECORDED,
) -> Scope:
    """What a session adds to the scope of its run: the candidate's answers of one arm, paired.

    `parsed` are the turns whose delivered text is what the server's parsers make of their tokens;
    `sampled` is what turns at a temperature above 0 count as.
    """
    found = Scope()
    for live in pairs:
        response, request = readings[live.turn].exchange.response, live.pair.request or {}
        usage, labels = response.usage, readings[live.turn].labels
        found += Scope.of(
            TurnScope(
                tokens=len(response.token_ids or ()) or (usage.completion or 0 if usage else 0),
                labels=None if labels is None else labels.labels,
                prompt=None if usage is None else usage.prompt,
                decoding=GREEDY if is_greedy(request) else sampled,
                masked=under_grammar(request),
                seen=_seen(live.pair, parsed=live.turn in parsed),
            )
        )
    return found


def _seen(pair: Pair, *, parsed: bool) -> Seen:
    """What the delivered text of a turn was compared with."""
    if is_cut(pair.candidate) or not pair.candidate.served or not pair.baseline.served:
        return "unseen"
    if pair.text_comparable:
        return "baseline"
    if parsed:
        return "parsed"
    return "joined" if delivery_is_checked(pair) else "unseen"
