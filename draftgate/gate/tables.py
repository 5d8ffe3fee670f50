"""A judged run as the tables of the store."""

from collections.abc import Mapping
from typing import Any

from checks.greedy_turn import measure_turn
from checks.regret import Regrets
from draftgate.gate.judgement import Conclusion
from draftgate.gate.reading import read_exchange
from draftgate.gate.record import Record
from draftgate.gate.rows.calls import call_rows
from draftgate.gate.rows.exchanges import ExchangeRows
from draftgate.gate.rows.judgement import (
    acceptance_rows,
    bound_rows,
    control_rows,
    finding_rows,
    pair_rows,
    speed_rows,
)
from draftgate.gate.rows.redacted import Redact
from draftgate.gate.rows.setup import difference_rows, path_rows, session_rows, turn_rows
from draftgate.gate.setup import tool_parser
from draftgate.version import VERSION
from reports.records import RunTables
from traces.redaction import Redactor


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
                record.config.candidate.speculative_config,
                record.drafter.effective,
                evidence,
            )
        ),
        path_differences=list(difference_rows(run, conclusion.setup.comparison)),
        sessions=list(session_rows(run, record.plan, evidence)),
        turns=list(turn_rows(run, record.plan, evidence, record.too_long)),
        captures=rows.captures,
        tokens=rows.tokens.table(),
        steps=rows.steps.table(),
        draft_positions=rows.positions.table(),
        tool_calls=[row for exchange in evidence for row in call_rows(exchange, redactor)],
        pairs=list(
            pair_rows(run, record.greedy_turns, greedy.turns, conclusion.readings, evidence)
        ),
        findings=list(finding_rows(run, conclusion.findings, cases, redactor)),
        metrics=[
            *acceptance_rows(run, conclusion.acceptance.cells),
            *speed_rows(run, conclusion.speed),
        ],
        bounds=list(bound_rows(run, conclusion.verdict.bounds)),
        controls=list(control_rows(run, conclusion.controls)),
    )


def _run_row(record: Record, conclusion: Conclusion, counts: dict[str, int]) -> dict[str, Any]:
    config, verdict = record.config, conclusion.verdict
    not_judged = [
        f"{code}: {reason} ({n} turns)" for (code, reason), n in conclusion.pairs.not_judged.items()
    ]
    not_judged += [
        f"{item.code}: {item.reason}"
        for item in (
            *conclusion.setup.not_judged,
            *conclusion.acceptance.not_judged,
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
        "unverified": list(conclusion.setup.unverified),
        "not_judged": not_judged,
        "power": "; ".join([*verdict.power, *verdict.needed]),
    }


def _exchange_rows(record: Record, conclusion: Conclusion, redact: Redact) -> ExchangeRows:
    """Rows of every capture, with the regrets the judgement used."""
    rows = ExchangeRows(redact)
    tolerance = record.config.policy.argmax_tolerance
    family = tool_parser(record.config, record.facts)
    measured = {(t.session, t.turn): measure_turn(t) for t in record.greedy_turns}
    for exchange in record.evidence:
        path, arm = exchange.key.path, exchange.key.arm
        regrets: tuple[Regrets, ...] = ()
        if (path, arm) == ("candidate", "main"):
            reading = conclusion.readings[exchange.turn]
            known = measured.get(exchange.turn)
            regrets = known.candidate if known else ()
        else:
            template = record.plan.template_of(exchange.key.session)
            reading = read_exchange(exchange, family, None, template)
        rows.add(reading, regrets, tolerance)
    return rows
