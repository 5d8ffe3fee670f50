"""An arm on servers with room for little more than its longest turn, so that turns preempt others.

Both servers are launched for it, one after the other, as the run's own but for the size of their
KV cache; the baseline of the pair also scores.
"""

from draftgate.progress import Reporter
from draftgate.run.arms import Arm
from draftgate.run.collection import Collector
from traces.journal.exchange import Evidence, TurnId
from draftgate.run.further import judge_arm
from draftgate.run.paths import open_paths
from draftgate.run.questions import Questioner, scorer_method
from draftgate.run.record import Record
from draftgate.run.reruns import run_again, suspicious_turns
from replay.launch.command import ServerSpec
from replay.launch.small_kv import with_small_kv
from replay.sending.fit import SCORER_ROOM


def run_small_kv(arm: Arm, collector: Collector, record: Record, reporter: Reporter) -> None:
    """Replay and judge `arm` on both paths; what keeps it from running becomes a note."""
    lengths = turn_lengths(record.evidence, record.limits)
    chats = [[j for j in jobs if (j.session, j.turn) in lengths] for jobs in record.plan.jobs]
    chosen = arm.choose(chats, record.config.run.seed)
    block = (record.facts["candidate"][0].cache or {}).get("block_size", "")
    if not chosen or not block.isdecimal():
        why = "no turn was answered" if not chosen else "the server does not tell its block size"
        record.notes.append(f"arm {arm.name} did not run: {why}")
        return
    longest = max(lengths[job.session, job.turn] for jobs in chosen for job in jobs) + SCORER_ROOM

    def small(spec: ServerSpec) -> ServerSpec:
        return with_small_kv(spec, longest, int(block))

    config, folder = record.config, record.folder
    for name in ("candidate", "baseline"):
        with open_paths(config, [name], folder, reporter, small) as paths:
            collector.warm_up(paths[name])
            collector.run_further(paths[name], arm, chats, record.limits)
            if name == "baseline":
                record.read()
                method = scorer_method(config, record.facts[name])
                judge_arm(record, arm, Questioner(paths[name], folder, reporter, method))
    suspicious = {a: t for a, t in suspicious_turns(record, small_kv=True).items() if a == arm}
    if suspicious:
        with open_paths(config, ["candidate"], folder, reporter, small) as paths:
            run_again(collector, paths["candidate"], record, suspicious)


def turn_lengths(evidence: Evidence, limits: dict[TurnId, int]) -> dict[TurnId, int]:
    """Most tokens (prompt and output) of each turn that the candidate's server counted."""
    found = {}
    for turn, exchange in evidence.of("candidate").items():
        usage = exchange.response.usage
        if usage is not None and usage.prompt is not None and turn in limits:
            found[turn] = usage.prompt + limits[turn]
    return found
