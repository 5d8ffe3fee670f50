"""Rows about what was concluded: pairs, findings, tool calls, bounds, controls."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from checks.acceptance.positions import Boundaries, crossing_name
from checks.bounds import Bound, ControlResult
from checks.calls.behavior import BehaviorJudgement
from checks.calls.call_agreement import TurnChange
from checks.calls.calls import same_calls
from checks.calls.outcomes import tool_pair
from checks.findings import GREEDY_DIVERGENCE, Finding
from checks.greedy.turn import GreedyTurn
from checks.greedy.turn_judgement import TurnJudgement
from checks.sessions.reading import Reading
from checks.tokens.fork import Fork, first_divergence
from reports.rows.redacted import Redact
from traces.boundaries.label import LABELS
from traces.journal.arm import MAIN, Arm
from traces.journal.exchange import Evidence, TurnId


def pair_rows(
    run: str,
    turns: Sequence[GreedyTurn],
    judged: Sequence[TurnJudgement],
    readings: Mapping[TurnId, Reading],
    evidence: Evidence,
    arm: Arm,
    recurs: Mapping[TurnId, str],
    changes: Mapping[TurnId, TurnChange],
) -> Iterator[dict[str, Any]]:
    """One row per greedy turn against the baseline, and one per turn of the baseline's repeat.

    `changes` says what became of the calls of each turn. `recurs` says of turns that were run again
    whether their hard divergence came back.
    """
    requests = {turn: e.request for turn, e in evidence.of("candidate", arm.name).items()}
    by_turn = {(turn.session, turn.turn): turn for turn in turns}
    for result in judged:
        key = (result.session, result.turn)
        turn, change = by_turn[key], changes.get(key)
        row: dict[str, Any] = {
            "run": run,
            "session": result.session,
            "turn": result.turn,
        }
        yield {
            **row,
            "comparison": arm.comparison,
            "recurs": recurs.get(key),
            "calls_change": None if change is None else change.candidate,
            **_candidate(turn, result, readings.get(key), requests[key]),
        }
        if turn.repeat is not None and turn.repeat.token_ids is not None:
            yield {
                **row,
                "comparison": arm.repeat_name,
                "judged": True,
                "tokens": len(turn.repeat.token_ids),
                "equal": result.repeat_divergence is None,
                "fork_index": result.repeat_divergence,
                "max_regret": 0.0 if result.repeat_divergence is None else None,
                "calls_equal": same_calls(turn.baseline.tool_calls, turn.repeat.tool_calls),
                "calls_change": None if change is None else change.repeat,
                **_repeat_fork(result.repeat_fork),
            }
        if turn.verify is not None and turn.verify.token_ids is not None:
            parted = first_divergence(turn.verify.token_ids, turn.baseline.token_ids or ())
            yield {
                **row,
                "comparison": arm.verify_name,
                "judged": True,
                "tokens": len(turn.verify.token_ids),
                "equal": parted is None,
                "fork_index": parted,
            }


def _repeat_fork(fork: Fork | None) -> dict[str, Any]:
    """Where the baseline parts from itself; empty where it does not, or one stream just ends."""
    return {} if fork is None else {**_fork(fork), "max_regret": fork.regret}


def _fork(fork: Fork) -> dict[str, Any]:
    return {
        "fork_index": fork.index,
        "fork_kind": fork.kind,
        "baseline_text": fork.texts[0],
        "candidate_text": fork.texts[1],
        "fork_regret": fork.regret,
        "fork_margin": fork.margin,
        "fork_ulp": fork.ulp,
    }


def _candidate(
    turn: GreedyTurn, result: TurnJudgement, reading: Reading | None, request: dict[str, Any]
) -> dict[str, Any]:
    fork = result.fork
    comparable = result.equal
    calls = tool_pair(request, turn.baseline, turn.candidate)
    row: dict[str, Any] = {
        "judged": result.not_judged is None,
        "not_judged": result.not_judged,
        "tokens": result.tokens,
        "equal": result.equal if result.not_judged is None else None,
        "max_regret": result.max_regret,
        "content_equal": turn.baseline.content == turn.candidate.content if comparable else None,
        "calls_equal": same_calls(turn.baseline.tool_calls, turn.candidate.tool_calls),
        "baseline_calls_ok": calls[0] if calls else None,
        "candidate_calls_ok": calls[1] if calls else None,
    }
    if fork is None:
        return row
    row |= _fork(fork)
    if reading is not None and reading.labels is not None:
        bounds = Boundaries.of(reading.labels)
        label = int(bounds.label[fork.index])
        row["fork_label"] = LABELS[label]
        row["crossing"] = crossing_name(int(bounds.crossed_from[fork.index]), label)
    return row


def recurrence_of(findings: Sequence[Finding], arm: str) -> dict[TurnId, str]:
    """Turns of an arm whose hard divergence was run again -> what its finding says of that."""
    return {
        (finding.session, finding.turn): str(finding.detail["recurs"])
        for finding in findings
        if finding.code == GREEDY_DIVERGENCE
        and finding.detail.get("arm", MAIN) == arm
        and "recurs" in finding.detail
        and finding.session is not None
        and finding.turn is not None
    }


def finding_rows(
    run: str, findings: Sequence[Finding], cases: Mapping[int, str], redact: Redact
) -> Iterator[dict[str, Any]]:
    """One row per finding; `cases` maps a finding's place to its case file."""
    for ordinal, finding in enumerate(findings):
        yield {
            "run": run,
            "ordinal": ordinal,
            "code": finding.code,
            "severity": finding.severity,
            "session": finding.session,
            "turn": finding.turn,
            "arm": finding.detail.get("arm"),
            "token_index": finding.token,
            "boundary": finding.boundary,
            "message": redact(finding.message),
            "cause": finding.cause,
            "baseline": None if finding.baseline is None else redact(finding.baseline),
            "candidate": None if finding.candidate is None else redact(finding.candidate),
            "baseline_too": finding.baseline_too,
            "detail": _redacted(finding.detail, redact) or None,
            "case_file": cases.get(ordinal),
        }


def _redacted(value: Any, redact: Redact) -> Any:
    """JSON without secrets; `detail` may quote what a model wrote."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {redact(str(name)): _redacted(part, redact) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_redacted(part, redact) for part in value]
    return value


def bound_rows(
    run: str, bounds: Sequence[Bound], faithful: Sequence[Bound]
) -> Iterator[dict[str, Any]]:
    """One row per bound, in report order; those of the faithful turns alone come last."""
    scoped = [*(("all", bound) for bound in bounds), *(("faithful", bound) for bound in faithful)]
    for ordinal, (turns, bound) in enumerate(scoped):
        yield {
            "run": run,
            "ordinal": ordinal,
            "turns": turns,
            "name": bound.name,
            "state": bound.state,
            "value": bound.value,
            "low": bound.low,
            "high": bound.high,
            "margin": bound.margin,
            "noise_floor": bound.noise_floor,
            "unit": bound.unit,
            "n": bound.n,
            "sessions": bound.sessions,
            "needed": bound.needed,
            "message": bound.message,
        }


def control_rows(run: str, controls: Sequence[ControlResult]) -> Iterator[dict[str, Any]]:
    """One row per control."""
    for ordinal, control in enumerate(controls):
        yield {
            "run": run,
            "ordinal": ordinal,
            "kind": control.kind,
            "expected": control.expected,
            "state": control.state,
            "fired": list(control.fired),
            "detail": control.detail,
        }


def tool_rows(run: str, behavior: BehaviorJudgement) -> Iterator[dict[str, Any]]:
    """Tool-call success of both paths; nothing where no turn calls a tool."""
    table, rates = behavior.table, behavior.rates
    if table is None or rates is None:
        return
    row: dict[str, Any] = {
        "run": run,
        "pairs": table.pairs,
        "sessions": behavior.bound.sessions,
        "both_ok": table.both,
        "only_baseline_ok": table.only_baseline,
        "only_candidate_ok": table.only_candidate,
        "neither_ok": table.neither,
        "difference": table.difference,
        "mcnemar_p": behavior.p,
    }
    for path, rate in zip(("baseline", "candidate"), rates, strict=True):
        row |= {f"{path}_rate": rate.value, f"{path}_low": rate.low, f"{path}_high": rate.high}
    yield row
