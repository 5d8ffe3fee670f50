"""Rows about what was concluded: pairs, findings, metrics, bounds, controls."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from checks.acceptance.profile import Cell
from checks.bounds import Bound, ControlResult
from checks.calls.outcomes import tool_pair
from checks.findings import Finding
from checks.greedy.turn import GreedyTurn
from checks.greedy.turn_judgement import TurnJudgement
from checks.run.reading import Reading
from checks.servers.speed import SpeedEstimate
from checks.stats.session_interval import Estimate
from checks.tokens.fork import Fork, first_divergence
from reports.rows.redacted import Redact
from traces.boundaries.label import LABELS
from traces.journal.arm import Arm
from traces.journal.exchange import Evidence, TurnId


def pair_rows(
    run: str,
    turns: Sequence[GreedyTurn],
    judged: Sequence[TurnJudgement],
    readings: Mapping[TurnId, Reading],
    evidence: Evidence,
    arm: Arm,
) -> Iterator[dict[str, Any]]:
    """One row per greedy turn against the baseline, and one per turn of the baseline's repeat."""
    requests = {turn: e.request for turn, e in evidence.of("candidate", arm.name).items()}
    by_turn = {(turn.session, turn.turn): turn for turn in turns}
    for result in judged:
        key = (result.session, result.turn)
        turn = by_turn[key]
        row: dict[str, Any] = {
            "run": run,
            "session": result.session,
            "turn": result.turn,
        }
        yield {
            **row,
            "comparison": arm.comparison,
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
        "baseline_calls_ok": calls[0] if calls else None,
        "candidate_calls_ok": calls[1] if calls else None,
    }
    if fork is None:
        return row
    row |= _fork(fork)
    if reading is not None and reading.labels is not None:
        row["fork_label"] = LABELS[reading.labels.labels[fork.index]]
    return row


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
            "baseline": None if finding.baseline is None else redact(finding.baseline),
            "candidate": None if finding.candidate is None else redact(finding.candidate),
            "baseline_too": finding.baseline_too,
            "case_file": cases.get(ordinal),
        }


def bound_rows(run: str, bounds: Sequence[Bound]) -> Iterator[dict[str, Any]]:
    """One row per bound, in report order."""
    for ordinal, bound in enumerate(bounds):
        yield {
            "run": run,
            "ordinal": ordinal,
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


def acceptance_rows(run: str, cells: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """Acceptance lengths, conditional acceptance and drift per slice, as metrics."""
    for cell in cells:
        named: list[tuple[str, Estimate, str, str]] = [
            (
                "mean_acceptance_length",
                cell.length,
                "tokens per step",
                "1 + Σ accepted / Σ steps with drafts",
            ),
            (
                "mean_request_acceptance_length",
                cell.request_length,
                "tokens per step",
                "mean over requests of 1 + accepted / steps with drafts",
            ),
            ("drift_index", cell.drift, "logit per position", "slope of logit c_i over i"),
        ]
        named += [
            (f"conditional_acceptance_{i}", estimate, "share", f"c_{i} = accepted / reached")
            for i, estimate in enumerate(cell.conditional)
        ]
        for name, estimate, unit, formula in named:
            yield {
                "run": run,
                "name": name,
                "path": "candidate",
                "dimension": cell.dimension,
                "slice": cell.slice,
                "value": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "unit": unit,
                "formula": formula,
                "better": None if name == "drift_index" else "higher",
                "n": estimate.count,
                "sessions": estimate.sessions,
            }


SPEED_UNITS = {
    "ttft_ms": "ms",
    "tpot_ms": "ms",
    "user_tokens_per_s": "tokens/s",
    "ms_per_token": "ms",
}
PER_TURN = ("median over turns", "exp(mean over turns of log(candidate's speed / baseline's))")
PER_TOKEN = ("sum of times / sum of tokens", "baseline's time per token / candidate's")


def speed_rows(run: str, speed: Sequence[SpeedEstimate]) -> Iterator[dict[str, Any]]:
    """What both paths took, and the speed-up with its interval, as metrics."""
    for estimate in speed:
        average, speedup = PER_TOKEN if estimate.metric == "ms_per_token" else PER_TURN
        lower = estimate.metric != "user_tokens_per_s"
        common = {
            "run": run,
            "dimension": "all",
            "slice": "all",
            "n": estimate.turns,
            "sessions": estimate.sessions,
        }
        for path in ("baseline", "candidate"):
            yield {
                **common,
                "name": estimate.metric,
                "path": path,
                "value": getattr(estimate, path),
                "unit": SPEED_UNITS[estimate.metric],
                "formula": average,
                "better": "lower" if lower else "higher",
            }
        yield {
            **common,
            "name": f"speedup_{estimate.metric}",
            "path": "both",
            "value": estimate.speedup,
            "low": estimate.low,
            "high": estimate.high,
            "unit": "ratio",
            "formula": f"{speedup}, by session",
            "better": "higher",
        }
