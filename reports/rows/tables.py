"""A judged run as the tables of the store."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from checks.greedy.turn import measure_turn
from checks.run.evidence import Gathered, JudgedTurns, RunFacts
from checks.run.judge import Conclusion
from checks.run.reading import Reading, read_exchange
from checks.tokens.regret import Regrets
from reports.rows.arms import arm_rows, curve_rows, sample_rows, shift_rows
from reports.rows.calls import call_rows
from reports.rows.exchanges import ExchangeRows
from reports.rows.judgement import (
    acceptance_rows,
    bound_rows,
    control_rows,
    finding_rows,
    pair_rows,
    speed_rows,
)
from reports.rows.redacted import Redact
from reports.rows.setup import difference_rows, path_rows, session_rows, turn_rows
from reports.rows.slices import slice_rows
from reports.schema.records import RunTables
from traces.journal.exchange import TurnId


@dataclass(frozen=True, slots=True)
class RunDescription:
    """What the store keeps of a run beside its judgement; `config` is without its policy."""

    started: datetime
    ended: datetime | None
    tool_version: str
    config: Mapping[str, Any]
    counts: Mapping[str, int]


def run_tables(
    run: Gathered,
    facts: RunFacts,
    conclusion: Conclusion,
    about: RunDescription,
    cases: Mapping[int, str],
    redact: Redact,
) -> RunTables:
    """Every table's rows for `Store.load`; `redact` takes the secrets out of texts."""
    name, evidence = facts.run, run.evidence
    rows = _exchange_rows(run, facts, conclusion, redact)
    arms = (*run.judged_arms, *run.perturbed_arms(facts.arms))
    readings: dict[str, Mapping[TurnId, Reading]] = {run.main.arm.name: conclusion.readings}
    readings |= {arm.arm.name: arm.readings for arm in conclusion.further}
    return RunTables(
        runs=[_run_row(facts, conclusion, about)],
        paths=list(
            path_rows(
                name,
                facts.servers,
                facts.served,
                facts.speculative_config,
                facts.drafter.effective,
                evidence,
            )
        ),
        path_differences=list(difference_rows(name, conclusion.setup.comparison)),
        sessions=list(session_rows(name, facts.sessions, evidence)),
        turns=list(turn_rows(name, facts.sessions, evidence, facts.too_long)),
        arms=list(arm_rows(name, arms, conclusion.curve, evidence)),
        captures=rows.captures,
        tokens=rows.tokens.table(),
        steps=rows.steps.table(),
        draft_positions=rows.positions.table(),
        tool_calls=[row for exchange in evidence for row in call_rows(exchange, redact)],
        server_samples=list(sample_rows(name, evidence.samples)),
        pairs=[
            row
            for found in (run.main, *run.further)
            for row in _pairs(name, found, readings[found.arm.name], run)
        ],
        findings=list(finding_rows(name, conclusion.findings, cases, redact)),
        metrics=[
            *acceptance_rows(name, conclusion.acceptance.cells),
            *speed_rows(name, conclusion.speed),
            *(curve_rows(name, conclusion.curve) if conclusion.further else ()),
        ],
        template_shifts=[
            row
            for changed in conclusion.perturbed
            for row in shift_rows(name, changed.arm.name, changed.shifts)
        ],
        slices=list(slice_rows(name, conclusion.slices)),
        bounds=list(bound_rows(name, conclusion.verdict.bounds)),
        controls=list(control_rows(name, conclusion.controls)),
    )


def _pairs(
    name: str, found: JudgedTurns, readings: Mapping[TurnId, Reading], run: Gathered
) -> Iterator[dict[str, Any]]:
    judged = found.greedy.turns
    return pair_rows(name, found.turns, judged, readings, run.evidence, found.arm)


def _run_row(facts: RunFacts, conclusion: Conclusion, about: RunDescription) -> dict[str, Any]:
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
        "unverified": [*conclusion.setup.unverified, *facts.unverified],
        "not_judged": list(_not_judged(conclusion)),
        "power": "; ".join([*verdict.power, *verdict.needed]),
        "notes": list(conclusion.notes),
    }


def _not_judged(conclusion: Conclusion) -> Iterator[str]:
    """What could not be judged, by code and reason."""
    for (code, reason), n in conclusion.pairs.not_judged.items():
        yield f"{code}: {reason} ({n} turns)"
    for arm in conclusion.further:
        for (code, reason), n in arm.pairs.not_judged.items():
            yield f"arm {arm.arm.name}: {code}: {reason} ({n} turns)"
    for item in (
        *conclusion.setup.not_judged,
        *conclusion.acceptance.not_judged,
        *conclusion.splits.not_judged,
    ):
        yield f"{item.code}: {item.reason}"


def _exchange_rows(
    run: Gathered, facts: RunFacts, conclusion: Conclusion, redact: Redact
) -> ExchangeRows:
    """Rows of every capture, with the regrets the judgement used."""
    rows = ExchangeRows(redact)
    family, templates = facts.family, facts.templates
    measured = {
        (found.arm.name, turn.session, turn.turn): measure_turn(turn)
        for found in (run.main, *run.further)
        for turn in found.turns
    }
    readings: dict[str, Mapping[TurnId, Reading]] = {run.main.arm.name: conclusion.readings}
    readings |= {a.arm.name: a.readings for a in conclusion.further}
    readings |= {a.arm.name: a.readings for a in conclusion.perturbed}
    for exchange in run.evidence:
        path, arm = exchange.key.path, exchange.key.arm
        regrets: tuple[Regrets, ...] = ()
        if path == "candidate" and arm in readings:
            reading = readings[arm][exchange.turn]
            known = measured.get((arm, *exchange.turn))
            regrets = known.candidate if known else ()
        else:
            template = templates.get(exchange.key.session)
            reading = read_exchange(exchange, family, None, template)
        rows.add(reading, regrets)
    return rows
