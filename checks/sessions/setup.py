"""What the two paths are, and whether they differ in more than speculation."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from checks.acceptance.drafter_config import judge_drafter_config
from checks.findings import Finding, NotJudged
from checks.servers.paths import (
    PathComparison,
    compare_fingerprints,
    compare_paths,
    compare_prompts,
    compare_repeats,
)
from checks.servers.same_request import compare_requests
from checks.sessions.evidence import RunFacts
from traces.journal.arm import Arm
from traces.journal.exchange import Evidence

ONLY_FIRST = 3
"""So many turns with other prompts are shown; the rest say nothing more."""


@dataclass(frozen=True, slots=True)
class SetUp:
    """How the two paths and the drafter's two configs compare."""

    comparison: PathComparison
    findings: tuple[Finding, ...]
    not_judged: tuple[NotJudged, ...]
    unverified: tuple[str, ...] = field(default=())


def judge_setup(
    facts: RunFacts,
    prints: Mapping[str, Collection[str]],
    prompts: Sequence[Finding],
    runs: Collection[str],
) -> SetUp:
    """PATHS_DIFFER and DRAFTER_CONFIG_LOST, with what could not be verified.

    `prints` are the fingerprints of each path's servers, `prompts` the differences of prompts in
    the main arm, `runs` those that the captures are of.
    """
    servers, drafter = facts.servers, facts.drafter
    comparison = compare_paths(servers["baseline"], servers["candidate"])
    findings = list(comparison.findings)
    not_judged: list[NotJudged] = []
    for path in servers:
        changed = compare_fingerprints(path, sorted(prints.get(path, ())))
        findings += [changed] if changed else []
    findings += prompts[:ONLY_FIRST]
    if facts.drafter_known:
        for item in judge_drafter_config(drafter.checkpoint, drafter.effective):
            (findings if isinstance(item, Finding) else not_judged).append(item)  # type: ignore[arg-type]
    unverified = list(comparison.unverified)
    if len(runs) > 1:
        unverified.append(f"the captures are of different runs: {', '.join(sorted(runs))}")
    if drafter.error:
        unverified.append(f"drafter config: {drafter.error}")
    return SetUp(comparison, tuple(findings), tuple(not_judged), tuple(unverified))


def prompt_differences(evidence: Evidence, arm: Arm) -> list[Finding]:
    """Turns of an arm whose requests or prompt token ids are not the same everywhere."""
    baseline, again = evidence.of("baseline", arm.name), evidence.of("baseline", arm.repeat_name)
    found = []
    for turn, exchange in evidence.of("candidate", arm.name).items():
        if turn not in baseline:
            continue
        found.append(compare_requests(*turn, baseline[turn].request, exchange.request))
        first = baseline[turn].response.prompt_token_ids
        found.append(compare_prompts(*turn, first, exchange.response.prompt_token_ids))
        if turn in again:
            found.append(compare_repeats(*turn, first, again[turn].response.prompt_token_ids))
    return [finding for finding in found if finding is not None]
