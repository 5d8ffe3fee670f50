"""One session judged: the second of two passes over a run (the first: `checks.run.floor`).

judge_session(ReadSession, RunFloor, RunFacts) -> SessionSums   numbers and findings alone
RunSums + RunSums -> RunSums                                    `checks.run.sums`
judge_run(RunSums, RunFloor, RunFacts) -> RunJudgement          `checks.run.judge`
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from checks.acceptance.counters import judge_speculation
from checks.acceptance.profile_sums import ProfileSums
from checks.acceptance.steps import Steps
from checks.calls.answer_rates import TurnRates, turn_rates
from checks.calls.behavior import PairedOutcome
from checks.calls.call_agreement import TurnChange
from checks.calls.outcomes import tool_pair
from checks.calls.turns import turn_change
from checks.controls.argument import PlantedCall, planted_turn
from checks.controls.scores import planted_shift
from checks.controls.temperature import redraw_turn
from checks.exact.judge import Judgement
from checks.findings import Finding
from checks.greedy.judge import judge_one
from checks.greedy.shift import TurnShift, shift_of
from checks.greedy.turn import GreedyTurn
from checks.request import is_greedy, seed_sent
from checks.run.acceptance import accepted_of, shared_sums, sums_of
from checks.run.answered import answered_turns, load_of
from checks.run.exact import PairJudgements, checked, judge_pairs, of_arm, plant_session
from checks.run.floor import RunFloor
from checks.run.read import ReadSession
from checks.run.reruns import labelled, stall_bound_of, stalled_turns, stalls_labelled
from checks.run.routes import route_sums
from checks.run.slices import scope_of, slices_of
from checks.run.sums import AddedSums, ArmSums, SessionSums
from checks.run.swaps import swapped
from checks.sampled.sampling import sampling_of
from checks.sampled.turn import score_turn
from checks.scope import ADDED
from checks.servers.speed import chunk_counts, speed_pair
from checks.sessions.evidence import RunFacts
from checks.sessions.pairs import LivePair, main_pairs, served_pairs
from checks.sessions.reading import Reading, at_boundaries
from checks.sessions.setup import ONLY_FIRST, prompt_differences
from checks.sessions.turns import sampled_turns
from checks.slices.regret import Part, Sums, added, regret_sums
from checks.vllm.cutter import fate_of
from checks.vllm.split_run import CutOutput
from checks.vllm.unparsed import with_parser_faults
from traces.journal.arm import MAIN, PLAIN, SAMPLED, SERVED, Arm
from traces.journal.exchange import Evidence, Exchange, TurnId


def pairs_of(read: ReadSession, floor: RunFloor, facts: RunFacts) -> dict[str, list[LivePair]]:
    """The pairs of a session by arm, the served and the sampled ones among them."""
    found = {
        arm.name: list(
            main_pairs(
                read.evidence,
                read.readings[arm.name],
                arm.name,
                floor.hard_bound(arm.name),
                floor.known,
            )
        )
        for arm in facts.judged_arms
    }
    hard = floor.hard_bound(MAIN)
    for arm in SERVED:
        found[arm] = list(served_pairs(read.evidence, arm, hard, floor.known))
    readings = read.readings[SAMPLED]
    found[SAMPLED] = list(main_pairs(read.evidence, readings, SAMPLED, hard, floor.known))
    return found


def judge_session(read: ReadSession, floor: RunFloor, facts: RunFacts) -> SessionSums:
    """Everything that is judged of one session, turn by turn."""
    captures, policy, seed = read.evidence.captures, facts.policy, facts.seed
    pairs = pairs_of(read, floor, facts)
    judged = {arm: checked(found) for arm, found in pairs.items()}
    arms = {
        arm.name: _arm(read, arm, pairs[arm.name], judged[arm.name], floor, facts)
        for arm in facts.judged_arms
    }
    bound = stall_bound_of(floor.known.gap_p99)
    drawn = sampled_turns(captures, read.evidence.answers, read.readings[MAIN], facts.drafting)
    turns = [turn for turn, _ in read.greedy[MAIN]]
    results = list(zip(turns, arms[MAIN].results, strict=True))
    planted, copies = plant_session(pairs[MAIN], judged[MAIN], results, floor, facts)
    candidate = captures.of("candidate")
    cuts, delivered = tuple(_cuts(captures, floor)), tuple(_delivered(pairs[MAIN], captures, floor))
    besides = tuple(_delivered(pairs[SAMPLED], captures, floor, SAMPLED))
    parsed = {output.turn for output in (*cuts, *delivered) if output.parsed}
    return SessionSums(
        arms=arms,
        loads={key: load_of(found.values()) for key, found in captures.arms.items()},
        served=_served(pairs, judged, captures, facts, bound),
        routes=route_sums(pairs, judged, captures),
        stalled=tuple(stalled_turns(captures, bound)),
        accepted=accepted_of(read.readings[MAIN], floor.k),
        profiles={a: sums_of(r, floor.k) for a, r in read.readings.items() if a != MAIN},
        shifts=_shifts(read, floor, facts),
        changed={a.name: len(captures.of("candidate", a.name)) for a in facts.arms if not a.paired},
        outcomes=tuple(_outcomes(captures)),
        scored=tuple(score_turn(turn, seed) for turn in drawn),
        redrawn=tuple(redraw_turn(turn, seed) for turn in drawn),
        added=_added(read, judge_pairs(pairs[SAMPLED], judged[SAMPLED], policy), facts),
        answered=tuple(answered_turns(captures, read.evidence.limits, facts)),
        slices=slices_of(captures, read.evidence.facts),
        irregular=Counter((e.key.path, text) for e in captures for text in e.response.irregular),
        prints=_prints(captures),
        answered_on=frozenset(
            e.key.path for e in captures if e.key.arm == MAIN and e.response.status == 200
        ),
        runs=frozenset(exchange.key.run for exchange in captures),
        planted=planted,
        copies=copies,
        swapped=swapped(facts.swaps, read.session, read.evidence.answers.scores, floor),
        planted_calls=tuple(_planted_calls(turns, captures)),
        score_shifts=tuple(_score_shifts(turns, read.readings[MAIN], shift_of)),
        planted_shifts=tuple(_score_shifts(turns, read.readings[MAIN], planted_shift)),
        rates=tuple(_rates(pairs[MAIN], captures)),
        cuts=cuts,
        delivered=(*delivered, *besides),
        uncut=Counter(fate for one in candidate.values() if (fate := fate_of(one)) is not None),
        scope=scope_of(pairs[MAIN], read.readings[MAIN], parsed)
        + scope_of(
            pairs[SAMPLED], read.readings[SAMPLED], {o.turn for o in besides if o.parsed}, ADDED
        ),
        regrets=_regrets(read, floor),
    )


def _arm(
    read: ReadSession,
    arm: Arm,
    pairs: list[LivePair],
    judged: list[Judgement],
    floor: RunFloor,
    facts: RunFacts,
) -> ArmSums:
    captures, noise = read.evidence.captures, floor.arms[arm.name].noise
    baseline, candidate = captures.of("baseline", arm.name), captures.of("candidate", arm.name)
    results = [judge_one(turn, measured, noise) for turn, measured in read.greedy[arm.name]]
    readings = read.readings[arm.name]
    exact = judge_pairs(pairs, judged, facts.policy)
    found = with_parser_faults(exact.findings, captures, arm, floor.cutter)
    return ArmSums(
        turns=len(candidate),
        drawn=sum(not is_greedy(exchange.request) for exchange in candidate.values()),
        repeated=bool(captures.of("baseline", arm.repeat_name)),
        results=tuple(
            replace(result, findings=at_boundaries(result.findings, readings))
            for result in (labelled(result, captures, arm) for result in results)
        ),
        pairs=len(pairs),
        exact=replace(exact, findings=at_boundaries(found, readings)),
        prompts=tuple(prompt_differences(captures, arm)),
        counters=tuple(_counters(candidate)),
        speed=tuple(
            speed_pair(*turn, baseline[turn].response, exchange.response)
            for turn, exchange in candidate.items()
            if turn in baseline
        ),
        chunks=tuple(chunk_counts(exchange.response) for exchange in baseline.values()),
        changes=tuple(_changes([turn for turn, _ in read.greedy[arm.name]], candidate)),
    )


def _served(
    pairs: Mapping[str, list[LivePair]],
    judged: Mapping[str, list[Judgement]],
    captures: Evidence,
    facts: RunFacts,
    bound: float | None,
) -> PairJudgements:
    """What users' clients get, on every route; stalls of the chat route were sent again."""
    found = PairJudgements()
    for arm in SERVED:
        exact = judge_pairs(pairs[arm], judged[arm], facts.policy)
        found += stalls_labelled(exact, captures, facts, bound) if arm == PLAIN else exact
    return found


def _regrets(read: ReadSession, floor: RunFloor) -> dict[Part, Sums]:
    """Regrets of the main arm by boundary, place in the step, and what stands before the token."""
    readings, noise = read.readings[MAIN], floor.arms[MAIN].noise
    turns = []
    for turn, measured in read.greedy[MAIN]:
        reading = readings[turn.session, turn.turn]
        labels = None if reading.labels is None else reading.labels.labels
        steps = reading.steps if isinstance(reading.steps, Steps) else None
        turns.append(regret_sums(measured, labels, steps, noise))
    return added(turns)


def _added(read: ReadSession, exact: PairJudgements, facts: RunFacts) -> AddedSums:
    """The turns that are sampled besides, judged as those recorded so are."""
    captures, readings = read.evidence.captures, read.readings[SAMPLED]
    drawn = sampled_turns(captures, read.evidence.answers, readings, facts.drafting, SAMPLED)
    candidate = captures.of("candidate", SAMPLED)
    samplings = [sampling_of(turn.request) for turn in drawn]
    return AddedSums(
        turns=len(candidate),
        exact=replace(exact, findings=at_boundaries(exact.findings, readings)),
        scored=tuple(score_turn(turn, facts.seed) for turn in drawn),
        redrawn=tuple(redraw_turn(turn, facts.seed) for turn in drawn),
        whole=tuple(
            of_arm(SAMPLED, finding)
            for finding in (
                *prompt_differences(captures, facts.sampled)[:ONLY_FIRST],
                *_counters(candidate),
            )
        ),
        settings=frozenset((one.temperature, one.top_p, one.top_k) for one in samplings),
    )


def _counters(exchanges: Mapping[TurnId, Exchange]) -> Iterable[Finding]:
    """Speculation counters of answers that contradict their steps."""
    for turn, exchange in exchanges.items():
        for finding in judge_speculation(exchange.response.speculation):
            yield finding.at(*turn)


def _shifts(
    read: ReadSession, floor: RunFloor, facts: RunFacts
) -> dict[str, tuple[ProfileSums, ProfileSums]]:
    """The sums of the main arm and of each arm with other prompts, over the turns of both."""
    main = read.readings[MAIN]
    return {
        arm.name: shared_sums(main, read.readings[arm.name], floor.k)
        for arm in facts.arms
        if not arm.paired
    }


def _outcomes(captures: Evidence) -> Iterable[PairedOutcome]:
    """Tool-call success of every turn that both paths answered and at least one called a tool."""
    baseline = captures.of("baseline")
    for turn, exchange in captures.of("candidate").items():
        if turn in baseline:
            pair = tool_pair(exchange.request, baseline[turn].response, exchange.response)
            if pair is not None:
                yield PairedOutcome(*turn, *pair, seed_sent(exchange.request))


def _changes(
    turns: Iterable[GreedyTurn], candidate: Mapping[TurnId, Exchange]
) -> Iterator[TurnChange]:
    """What became of the calls of every greedy turn that both paths answered."""
    for turn in turns:
        key = turn.session, turn.turn
        request = candidate[key].request
        change = turn_change(key, request, turn.baseline, turn.candidate, turn.repeat)
        if change is not None:
            yield change


def _planted_calls(turns: Iterable[GreedyTurn], captures: Evidence) -> Iterator[PlantedCall]:
    """A copy of every turn with calls, an argument swapped."""
    sent = captures.of("candidate")
    for turn in turns:
        key = turn.session, turn.turn
        planted = planted_turn(key, sent[key].request, turn.baseline, turn.candidate)
        if planted is not None:
            yield planted


def _score_shifts(
    turns: Iterable[GreedyTurn],
    readings: Mapping[TurnId, Reading],
    measure: Callable[[GreedyTurn, Sequence[int] | None], TurnShift | None],
) -> Iterator[TurnShift]:
    """How far the scores of equal tokens lie apart, by place in the step where steps are known."""
    for turn in turns:
        steps = readings[turn.session, turn.turn].steps
        shift = measure(turn, steps.committed.tolist() if isinstance(steps, Steps) else None)
        if shift is not None:
            yield shift


def _rates(pairs: Iterable[LivePair], captures: Evidence) -> Iterator[TurnRates]:
    """What both answers hold of every turn that is not compared word by word."""
    baseline, candidate = captures.of("baseline"), captures.of("candidate")
    for live in pairs:
        if not live.pair.text_comparable:
            sides = baseline[live.turn].response, candidate[live.turn].response
            seed = seed_sent(candidate[live.turn].request)
            found = turn_rates(live.turn[0], *sides, seed)
            if found is not None:
                yield found


def _prints(captures: Evidence) -> dict[str, frozenset[str]]:
    """The fingerprints of each path's servers in the main arm."""
    seen: dict[str, set[str]] = {}
    for exchange in captures:
        if exchange.key.arm == MAIN and (found := exchange.response.system_fingerprint):
            seen.setdefault(exchange.key.path, set()).add(found)
    return {path: frozenset(found) for path, found in seen.items()}


def _cuts(captures: Evidence, floor: RunFloor) -> Iterable[CutOutput]:
    """The drawn outputs of the session, cut."""
    baseline = captures.of("baseline")
    for turn, exchange in captures.of("candidate").items():
        if turn in floor.drawn and not isinstance(floor.cutter, str):
            yield floor.cutter.cut(exchange, baseline.get(turn))


def _delivered(
    pairs: Iterable[LivePair], captures: Evidence, floor: RunFloor, arm: str = MAIN
) -> Iterable[CutOutput]:
    """The outputs of an arm that are not cut, and whose text the baseline's does not decide, parsed
    as they were sent."""
    candidate, baseline = captures.of("candidate", arm), captures.of("baseline", arm)
    cut = floor.drawn if arm == MAIN else ()
    for live in pairs:
        if isinstance(floor.cutter, str) or live.pair.text_comparable or live.turn in cut:
            continue
        if fate_of(candidate[live.turn]) is None:
            found = floor.cutter.deliver(candidate[live.turn], baseline.get(live.turn))
            yield replace(found, findings=tuple(of_arm(arm, one) for one in found.findings))
