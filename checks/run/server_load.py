"""What the servers' metrics say about the arms: contradictions, other traffic, a slow client."""

from collections.abc import Sequence

from checks.findings import Finding
from checks.run.evidence import Gathered, RunFacts
from checks.run.exact import of_arm
from checks.servers.server_counters import judge_counters, other_traffic
from checks.servers.speed import saturation
from traces.journal.arm import Arm
from traces.journal.exchange import Exchange
from traces.journal.path_facts import PathFacts
from traces.journal.server_sample import ServerSample
from traces.journal.vllm_flags import parse_flags

UNCOUNTED = ("--data-parallel-size", "--api-server-count", "--disable-log-stats")
"""With several engines or front ends the counters of one are not those of all; without stats there
are none."""


def counter_findings(run: Gathered, facts: RunFacts) -> list[Finding]:
    """METRIC_SUM of every arm on launched servers that was taken in one go."""
    most = max(a.concurrency for a in (*run.judged_arms, *run.perturbed_arms(facts.arms)))
    found = []
    for (path, arm), samples in run.evidence.samples.items():
        exchanges = list(run.evidence.of(path, arm).values())
        if not _alone(facts.servers.get(path, ())) or not _whole(exchanges, samples):
            continue
        responses = [exchange.response for exchange in exchanges]
        findings = judge_counters(path, arm, samples, responses, most)
        found += [of_arm(arm, finding) for finding in findings]
    return found


def load_notes(run: Gathered, facts: RunFacts, arm: Arm) -> list[str]:
    """What a reader of an arm's times should know: other clients' traffic, a saturated client."""
    evidence = run.evidence
    notes = []
    for path in ("baseline", "candidate"):
        exchanges = list(evidence.of(path, arm.name).values())
        samples = evidence.samples.get((path, arm.name), [])
        if not _launched(facts.servers.get(path, ())) and _whole(exchanges, samples):
            responses = [exchange.response for exchange in exchanges]
            notes.append(other_traffic(path, arm.name, samples, responses, arm.concurrency))
    slow = saturation([e.response for e in evidence.of("baseline", arm.name).values()])
    notes.append(None if slow is None else f"arm {arm.name}: {slow}")
    return [note for note in notes if note is not None]


def _launched(facts: Sequence[PathFacts]) -> bool:
    return bool(facts) and all(server.command is not None for server in facts)


def _alone(facts: Sequence[PathFacts]) -> bool:
    """Launched, and with one engine that counts behind one front end."""
    return _launched(facts) and not any(
        flag in parse_flags(server.command or ()) for server in facts for flag in UNCOUNTED
    )


def _whole(exchanges: Sequence[Exchange], samples: Sequence[ServerSample]) -> bool:
    """Every answer came to its end at the first attempt, inside the time that was sampled."""
    if not exchanges or not samples:
        return False
    ended = all(exchange.ended == "done" and not exchange.key.attempt for exchange in exchanges)
    first, last = min(sample.at for sample in samples), max(sample.at for sample in samples)
    return (
        ended
        and first <= min(exchange.sent_at for exchange in exchanges)
        and last >= max(exchange.ended_at for exchange in exchanges)
    )
