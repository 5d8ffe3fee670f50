"""NO_DRAFTS: did the candidate draft in this run, and was anything accepted?

Answers say so step by step, where the server is started with --per-request-spec-decode-metrics.
Where some do not, the server's own counters decide; a flag left out is no drafter that does
nothing. Where neither speaks, it is not known, and a run that may not have drafted is no pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from checks.bounds import Bound
from checks.findings import NO_DRAFTS, Finding
from checks.servers.server_counters import growth
from traces.journal.server_sample import ServerSample

LEAST = 100
"""So many drafts without one accepted token mean that the drafter does nothing."""

DRAFTED = "drafted"
FLAG = "--per-request-spec-decode-metrics=detailed"


@dataclass(frozen=True, slots=True)
class DraftCounts:
    """Drafts and accepted draft tokens; `None` where it is not known."""

    drafts: float | None = None
    accepted: float | None = None


@dataclass(frozen=True, slots=True)
class Drafts:
    """What is to be said of a run's drafts: NO_DRAFTS, that it is not known, or a missing flag."""

    findings: tuple[Finding, ...] = ()
    bounds: tuple[Bound, ...] = ()
    notes: tuple[str, ...] = ()


def counted(samples: Sequence[ServerSample]) -> DraftCounts:
    """What the candidate's servers counted while an arm ran.

    vLLM has no counters of speculation where no drafter is configured: none are zero, as long as
    the server counts anything.
    """
    silent = [sample.drafts is None for sample in samples]
    if silent and all(silent) and all(s.generation_tokens is not None for s in samples):
        return DraftCounts(0.0, 0.0)
    return DraftCounts(growth(samples, "drafts"), growth(samples, "accepted_tokens"))


def judge_drafts(answers: DraftCounts, silent: int, counters: DraftCounts) -> Drafts:
    """`answers` are the sums of those that show their drafts; `silent` ones, by number, do not."""
    known = counters if silent else DraftCounts(answers.drafts, answers.accepted)
    drafts = max(answers.drafts or 0, known.drafts or 0)
    if not drafts:
        if known.drafts is None:
            return Drafts(bounds=(_unknown(silent),))
        return _nothing("the candidate drafted nothing in the whole run")
    if drafts >= LEAST and not answers.accepted and known.accepted == 0:
        return _nothing(f"none of {drafts:,.0f} drafts was accepted")
    return Drafts(notes=_notes(silent, counters))


def _nothing(message: str) -> Drafts:
    return Drafts(findings=(Finding(NO_DRAFTS, message),))


def _unknown(silent: int) -> Bound:
    return Bound(
        DRAFTED,
        "inconclusive",
        f"whether the candidate drafted is not known: {silent:,} answers do not show it, and no "
        "counter was read",
        n=silent,
        needed=f"a candidate started with {FLAG}, or its /metrics",
    )


def _notes(silent: int, counters: DraftCounts) -> tuple[str, ...]:
    if not silent:
        return ()
    seen = "" if counters.drafts is None else f"; its counters show {_said(counters)}"
    return (
        f"{silent:,} answers of the candidate do not show their drafts step by step{seen}: their "
        f"acceptance is not judged; start it with {FLAG}",
    )


def _said(counters: DraftCounts) -> str:
    accepted = "" if counters.accepted is None else f", {counters.accepted:,.0f} tokens accepted"
    return f"{counters.drafts:,.0f} drafts{accepted}"
