"""A judged run as the tables of the store."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from checks.greedy.judge import GreedyJudgement
from checks.run.judge import JudgedRun, RunJudgement
from checks.run.read import ReadSession
from checks.run.sums import ArmSums
from checks.sessions.evidence import RunFacts
from checks.sessions.reading import read_exchange
from reports.rows.acceptance import acceptance_rows, position_rows
from reports.rows.arms import arm_rows, sample_rows, shift_rows
from reports.rows.calls import call_rows
from reports.rows.exchanges import ExchangeRows
from reports.rows.judgement import (
    bound_rows,
    control_rows,
    finding_rows,
    pair_rows,
    recurrence_of,
    tool_rows,
)
from reports.rows.redacted import Redact
from reports.rows.scores import rate_rows, score_rows
from reports.rows.setup import difference_rows, path_rows, session_rows, turn_rows
from reports.rows.slices import regret_rows, route_rows, scope_rows, slice_rows
from reports.rows.speed import curve_rows, gap_rows, speed_rows
from reports.schema.records import RunTables
from traces.journal.arm import Arm
from traces.journal.exchange import PATHS, TurnId


@dataclass(frozen=True, slots=True)
class RunDescription:
    """What the store keeps of a run beside its judgement; `config` is without its policy."""

    started: datetime
    ended: datetime | None
    tool_version: str
    config: Mapping[str, Any]
    counts: Mapping[str, int]


def run_tables(
    run: JudgedRun,
    facts: RunFacts,
    about: RunDescription,
    cases: Mapping[int, str],
    redact: Redact,
) -> RunTables:
    """Every table's rows for `Store.load`, sessions in the order of their ids; `redact` takes the
    secrets out of texts."""
    name, judged = facts.run, run.judgement
    rows = _SessionRows.of(run, facts, redact)
    return RunTables(
        runs=[_run_row(facts, judged, about)],
        paths=list(_paths(run, facts)),
        path_differences=list(difference_rows(name, judged.parts.setup.comparison)),
        sessions=rows.sessions,
        turns=rows.turns,
        arms=list(arm_rows(name, run.sums, judged.curve, facts)),
        captures=rows.exchanges.captures,
        tokens=rows.exchanges.tokens.table(),
        steps=rows.exchanges.steps.table(),
        draft_positions=rows.exchanges.positions.table(),
        tool_calls=rows.calls,
        server_samples=list(sample_rows(name, facts.samples)),
        pairs=[row for arm in facts.judged_arms for row in rows.pairs[arm.name]],
        findings=list(finding_rows(name, judged.findings, cases, redact)),
        metrics=[
            *_speed(name, judged),
            *gap_rows(name, rows.exchanges.captures),
            *score_rows(name, judged.parts.scores.places),
            *rate_rows(name, judged.parts.rates.differences),
        ],
        acceptance=[
            row
            for arm, cells in judged.profiles.items()
            for row in acceptance_rows(name, arm, cells)
        ],
        acceptance_positions=[
            row for arm, cells in judged.profiles.items() for row in position_rows(name, arm, cells)
        ],
        tool_success=list(tool_rows(name, judged.parts.behavior)),
        template_shifts=[
            row
            for changed in judged.parts.perturbed
            for row in shift_rows(name, changed.arm.name, changed.shifts)
        ],
        slices=list(slice_rows(name, judged.slices)),
        regret_slices=list(regret_rows(name, judged.regrets)),
        routes=list(route_rows(name, judged.routes)),
        scope=list(scope_rows(name, judged.scope)),
        bounds=list(bound_rows(name, judged.verdict.bounds, judged.faithful)),
        controls=list(control_rows(name, judged.verdict.controls)),
    )


def _paths(run: JudgedRun, facts: RunFacts) -> Iterator[dict[str, Any]]:
    prints = {
        path: {p for sums in run.sums.ordered for p in sums.prints.get(path, ())} for path in PATHS
    }
    return path_rows(
        facts.run,
        facts.servers,
        facts.served,
        facts.speculative_config,
        facts.drafter.effective,
        prints,
    )


def _speed(name: str, judged: RunJudgement) -> Iterator[dict[str, Any]]:
    """Speed of the main arm, of its context bands, and over concurrency where it was varied."""
    yield from speed_rows(name, judged.speed)
    for band, speed in judged.speed_by_context.items():
        yield from speed_rows(name, speed, "context", band)
    if judged.parts.further:
        yield from curve_rows(name, judged.curve)


def _halves(greedy: GreedyJudgement) -> dict[str, str]:
    """What the greedy turns of each session served."""
    judged = {turn.session for turn in greedy.turns if turn.not_judged is None}
    return {s: "test" if s in greedy.tested else "calibration" for s in judged}


def _pairs(
    one: ReadSession, sums: ArmSums, arm: Arm, facts: RunFacts, recurs: Mapping[TurnId, str]
) -> Iterator[dict[str, Any]]:
    turns = [turn for turn, _ in one.greedy[arm.name]]
    judged = [result.judgement for result in sums.results]
    changes = {(change.session, change.turn): change for change in sums.changes}
    readings, captures = one.readings[arm.name], one.evidence.captures
    return pair_rows(facts.run, turns, judged, readings, captures, arm, recurs, changes)


def _run_row(facts: RunFacts, conclusion: RunJudgement, about: RunDescription) -> dict[str, Any]:
    verdict = conclusion.verdict
    return {
        "run": facts.run,
        "started_at": about.started,
        "ended_at": about.ended,
        "verdict": verdict.verdict,
        "reasons": list(verdict.reasons),
        "tool_version": about.tool_version,
        "config": about.config,
        "policy": facts.policy.model_dump(mode="json"),
        "seed": facts.seed,
        "concurrency": facts.concurrency,
        "counts": about.counts,
        "unverified": [*conclusion.parts.setup.unverified, *facts.unverified],
        "not_judged": list(_not_judged(conclusion)),
        "power": "; ".join([*verdict.power, *verdict.needed]),
        "scope": verdict.scope,
        "notes": list(conclusion.notes),
    }


def _not_judged(conclusion: RunJudgement) -> Iterator[str]:
    """What could not be judged, by code and reason."""
    for (code, reason), n in conclusion.parts.pairs.not_judged.items():
        yield f"{code}: {reason} ({n} turns)"
    for arm in conclusion.parts.further:
        for (code, reason), n in arm.pairs.not_judged.items():
            yield f"arm {arm.arm.name}: {code}: {reason} ({n} turns)"
    for item in (
        *conclusion.parts.setup.not_judged,
        *conclusion.parts.scores.not_judged,
        *conclusion.parts.rates.not_judged,
        *conclusion.parts.acceptance.not_judged,
        *conclusion.parts.splits.not_judged,
    ):
        yield f"{item.code}: {item.reason}"


@dataclass(slots=True)
class _SessionRows:
    """Rows that are made session by session; `pairs` are by arm."""

    exchanges: ExchangeRows
    sessions: list[dict[str, Any]] = field(default_factory=list)
    turns: list[dict[str, Any]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    pairs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    @classmethod
    def of(cls, run: JudgedRun, facts: RunFacts, redact: Redact) -> "_SessionRows":
        """The rows of all sessions, one of which is in memory at a time."""
        rows, halves = cls(ExchangeRows(redact)), _halves(run.judgement.parts.greedy)
        arms = facts.judged_arms
        recurs = {arm.name: recurrence_of(run.judgement.findings, arm.name) for arm in arms}
        rows.pairs = {arm.name: [] for arm in arms}
        for one in run.sessions:
            rows.sessions += session_rows(facts.run, one.evidence, halves.get(one.session))
            rows.turns += turn_rows(facts.run, one.evidence)
            rows.calls += [r for e in one.evidence.captures for r in call_rows(e, redact)]
            _add_exchanges(rows.exchanges, one, facts)
            for arm in arms:
                sums = run.sums.sessions[one.session].arms[arm.name]
                rows.pairs[arm.name] += _pairs(one, sums, arm, facts, recurs[arm.name])
        return rows


def _add_exchanges(rows: ExchangeRows, one: ReadSession, facts: RunFacts) -> None:
    """Rows of every capture of a session, with the regrets the judgement used."""
    template = None if one.evidence.facts is None else one.evidence.facts.template
    measured = {
        (arm, turn.session, turn.turn): regrets.candidate
        for arm, found in one.greedy.items()
        for turn, regrets in found
    }
    for exchange in one.evidence.captures:
        path, arm = exchange.key.path, exchange.key.arm
        if path == "candidate" and arm in one.readings:
            rows.add(one.readings[arm][exchange.turn], measured.get((arm, *exchange.turn), ()))
        else:
            rows.add(read_exchange(exchange, facts.family, None, template), ())
