"""Rows about the arms: what ran, how quick it was at which load, and what the servers said."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from checks.acceptance.template_shift import Shift
from checks.run.sums import RunSums, SessionSums
from checks.servers.speed_curve import CurvePoint
from checks.sessions.evidence import RunFacts
from traces.journal.arm import SAMPLED, Arm
from traces.journal.exchange import ArmKey
from traces.journal.server_sample import ServerSample


def arm_rows(
    run: str, sums: RunSums, curve: Sequence[CurvePoint], facts: RunFacts
) -> Iterator[dict[str, Any]]:
    """One row per judged arm, and per arm with other prompts that the candidate answered."""
    points = {point.arm: point for point in curve}
    changed = [arm for arm in facts.arms if not arm.paired]
    yield from _sampled(run, sums, facts)
    for arm in (*facts.judged_arms, *changed):
        answered = [turns for one in sums.ordered if (turns := _turns(one, arm))]
        if not arm.paired and not answered:
            continue
        point = points.get(arm.name)
        yield {
            "run": run,
            "arm": arm.name,
            "concurrency": arm.concurrency,
            "sessions": len(answered),
            "turns": sum(answered),
            "baseline_in_flight": point.baseline_in_flight if point else None,
            "candidate_in_flight": point.candidate_in_flight if point else None,
            "repeated": arm.paired and any(one.arms[arm.name].repeated for one in sums.ordered),
            "prefix_cache": arm.prefix_cache,
            "small_kv": arm.small_kv,
            "abort": arm.abort,
            "grammar": arm.grammar,
            "perturb": list(arm.perturb),
        }


def _sampled(run: str, sums: RunSums, facts: RunFacts) -> Iterator[dict[str, Any]]:
    """The turns sampled besides, where there are any."""
    if answered := [one.added.turns for one in sums.ordered if one.added.turns]:
        yield {
            "run": run,
            "arm": SAMPLED,
            "concurrency": facts.concurrency,
            "sessions": len(answered),
            "turns": sum(answered),
            "repeated": False,
            "prefix_cache": True,
            "small_kv": False,
            "abort": False,
            "grammar": False,
            "perturb": [],
        }


def _turns(session: SessionSums, arm: Arm) -> int:
    """Turns of a session that the candidate answered in an arm."""
    return session.arms[arm.name].turns if arm.paired else session.changed.get(arm.name, 0)


def shift_rows(run: str, arm: str, shifts: Sequence[Shift]) -> Iterator[dict[str, Any]]:
    """One row per slice that an arm with other prompts shares with the main arm."""
    for shift in shifts:
        yield {
            "run": run,
            "arm": arm,
            "dimension": shift.dimension,
            "slice": shift.slice,
            "main_length": shift.main,
            "changed_length": shift.changed,
            "difference": shift.length.value,
            "low": shift.length.low,
            "high": shift.length.high,
            "change": shift.change,
            "accepted_share": shift.share.value,
            "accepted_share_low": shift.share.low,
            "accepted_share_high": shift.share.high,
            "conditional_acceptance": [estimate.value for estimate in shift.conditional],
            "drift": shift.drift.value,
            "drift_low": shift.drift.low,
            "drift_high": shift.drift.high,
            "steps": shift.length.count,
            "sessions": shift.length.sessions,
        }


def sample_rows(
    run: str, samples: Mapping[ArmKey, Sequence[ServerSample]]
) -> Iterator[dict[str, Any]]:
    """One row per reading of a server's metrics."""
    for readings in samples.values():
        for reading in readings:
            row = asdict(reading)
            del row["part"]
            yield {"run": run, "sampled_at": row.pop("at"), **row}
