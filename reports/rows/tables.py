"""A judged run as the tables of the store."""

from collections.abc import Iterator, Mapping
from typing import Any

from checks.greedy.turn import measure_turn
from checks.tokens.regret import Regrets
from checks.run.arms import ArmJudgement
from draftgate.run.arms import MAIN, Arm
from traces.journal.exchange import TurnId
from checks.run.judge import Conclusion
from checks.run.reading import Reading, read_exchange
from draftgate.run.record import Record
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
from checks.run.setup import tool_parser
from draftgate.version import VERSION
from reports.store.records import RunTables
from traces.redaction.redaction import Redactor


def run_tables(
    record: Record,
    conclusion: Conclusion,
    counts: dict[str, int],
    cases: Mapping[int, str],
) -> RunTables:
    """Every table's rows for `Store.load`."""
    run, evidence = record.folder.run, record.evidence
    greedy = record.greedy
    assert greedy is not None
    redactor: Redact = Redactor() if record.config.run.redact else str
    rows = _exchange_rows(record, conclusion, redactor)
    return RunTables(
        runs=[_run_row(record, conclusion, counts)],
        paths=list(
            path_rows(
                run,
                record.facts,
                conclusion.setup.served,
                record.config.candidate.speculative_config,
                record.drafter.effective,
                evidence,
            )
        ),
        path_differences=list(difference_rows(run, conclusion.setup.comparison)),
        sessions=list(session_rows(run, record.plan, evidence)),
        turns=list(turn_rows(run, record.plan, evidence, record.too_long)),
        arms=list(arm_rows(run, _arms(record), conclusion.curve, evidence)),
        captures=rows.captures,
        tokens=rows.tokens.table(),
        steps=rows.steps.table(),
        draft_positions=rows.positions.table(),
        tool_calls=[row for exchange in evidence for row in call_rows(exchange, redactor)],
        server_samples=list(sample_rows(run, evidence.samples)),
        pairs=[
            *pair_rows(run, record.greedy_turns, greedy.turns, conclusion.readings, evidence),
            *(row for arm in conclusion.further for row in _arm_pairs(record, arm)),
        ],
        findings=list(finding_rows(run, conclusion.findings, cases, redactor)),
        metrics=[
            *acceptance_rows(run, conclusion.acceptance.cells),
            *speed_rows(run, conclusion.speed),
            *(curve_rows(run, conclusion.curve) if conclusion.further else ()),
        ],
        template_shifts=[
            row
            for changed in conclusion.perturbed
            for row in shift_rows(run, changed.arm.name, changed.shifts)
        ],
        slices=list(slice_rows(run, conclusion.slices)),
        bounds=list(bound_rows(run, conclusion.verdict.bounds)),
        controls=list(control_rows(run, conclusion.controls)),
    )


def _run_row(record: Record, conclusion: Conclusion, counts: dict[str, int]) -> dict[str, Any]:
    config, verdict = record.config, conclusion.verdict
    not_judged = [
        f"{code}: {reason} ({n} turns)" for (code, reason), n in conclusion.pairs.not_judged.items()
    ]
    not_judged += [
        f"arm {arm.arm.name}: {code}: {reason} ({n} turns)"
        for arm in conclusion.further
        for (code, reason), n in arm.pairs.not_judged.items()
    ]
    not_judged += [
        f"{item.code}: {item.reason}"
        for item in (
            *conclusion.setup.not_judged,
            *conclusion.acceptance.not_judged,
            *conclusion.splits.not_judged,
        )
    ]
    return {
        "run": record.folder.run,
        "started_at": record.started,
        "ended_at": record.ended,
        "verdict": verdict.verdict,
        "reasons": list(verdict.reasons),
        "tool_version": VERSION,
        "config": Redactor().value(config.model_dump(mode="json", exclude={"policy"})),
        "policy": config.policy.model_dump(mode="json"),
        "seed": config.run.seed,
        "concurrency": config.run.concurrency,
        "counts": counts,
        "unverified": [*conclusion.setup.unverified, *record.unverified],
        "not_judged": not_judged,
        "power": "; ".join([*verdict.power, *verdict.needed]),
        "notes": list(conclusion.notes),
    }


def _arms(record: Record) -> tuple[Arm, ...]:
    return (*record.judged_arms, *record.perturbed_arms)


def _arm_pairs(record: Record, judged: ArmJudgement) -> Iterator[dict[str, Any]]:
    found = record.further[judged.arm.name]
    return pair_rows(
        record.folder.run,
        found.turns,
        found.greedy.turns,
        judged.readings,
        record.evidence,
        judged.arm.name,
    )


def _exchange_rows(record: Record, conclusion: Conclusion, redact: Redact) -> ExchangeRows:
    """Rows of every capture, with the regrets the judgement used."""
    rows = ExchangeRows(redact)
    family = conclusion.setup.served["candidate"].family
    turns = {MAIN: record.greedy_turns} | {f.arm.name: f.turns for f in record.further.values()}
    measured = {
        (arm, t.session, t.turn): measure_turn(t) for arm, found in turns.items() for t in found
    }
    readings: dict[str, Mapping[TurnId, Reading]] = {MAIN: conclusion.readings}
    readings |= {a.arm.name: a.readings for a in conclusion.further}
    readings |= {a.arm.name: a.readings for a in conclusion.perturbed}
    for exchange in record.evidence:
        path, arm = exchange.key.path, exchange.key.arm
        regrets: tuple[Regrets, ...] = ()
        if path == "candidate" and arm in readings:
            reading = readings[arm][exchange.turn]
            known = measured.get((arm, *exchange.turn))
            regrets = known.candidate if known else ()
        else:
            template = record.plan.template_of(exchange.key.session)
            reading = read_exchange(exchange, family, None, template)
        rows.add(reading, regrets)
    return rows
