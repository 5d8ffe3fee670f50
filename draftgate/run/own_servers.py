"""Arms on servers of their own: with a small KV cache, and the noise floor in verify shape.

small-kv    room for little more than its longest turn, so that turns preempt each other; both
            servers are launched, one after the other, and the baseline of the pair also scores
verify      the baseline's model with every draft rejected, right or not; it runs before either
            path is up, so that one model at a time is enough; its captures become the noise of
            decode shape in the main arm
"""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace

from checks.sessions.evidence import RunFacts
from draftgate.config.config import Config
from draftgate.judging.captures import FiledCaptures
from draftgate.run.collection import Collector
from draftgate.run.folder import captures_of
from draftgate.run.paths import open_paths
from draftgate.run.plan import Fitting, Plan
from draftgate.run.questions import Asked, Questioner, ask_arm, scorer_method
from replay.launch.command import ServerSpec
from replay.launch.gpu import GpuReader
from replay.launch.small_kv import with_small_kv
from replay.launch.verify_shape import in_verify_shape
from replay.sending.fit import SCORER_ROOM
from traces.errors import ServerError
from traces.journal.arm import MAIN, VERIFY, Arm
from traces.journal.exchange import TurnId


def run_small_kv(
    arm: Arm, collector: Collector, plan: Plan, asked: Asked, facts: RunFacts
) -> tuple[Asked, RunFacts]:
    """Replay and score `arm` on both paths; what keeps it from running becomes a note, and the
    run goes without the arm."""
    config, folder, reporter = collector.config, collector.folder, collector.reporter
    with captures_of(folder, facts.arms) as captures:
        lengths = turn_lengths(captures, facts.limits)
    chats = [[j for j in jobs if (j.session, j.turn) in lengths] for jobs in plan.jobs]
    chosen = collector.sessions_of(arm, chats)
    block = facts.servers["candidate"][0].block_size
    if not chosen or block is None:
        why = "no turn was answered" if not chosen else "the server does not tell its block size"
        notes = (*facts.notes, f"arm {arm.name} did not run: {why}")
        others = tuple(other for other in facts.arms if other != arm)
        return asked, replace(facts, notes=notes, arms=others)
    longest = max(lengths[job.session, job.turn] for jobs in chosen for job in jobs) + SCORER_ROOM

    def small(spec: ServerSpec) -> ServerSpec:
        return with_small_kv(spec, longest, block)

    with open_paths(config, ["candidate"], folder, reporter, small) as paths:
        collector.warm_up(paths["candidate"])
        collector.run_further(paths["candidate"], arm, chats, facts.limits)
    with ExitStack() as opened:
        with open_paths(config, ["baseline"], folder, reporter, small) as paths:
            collector.warm_up(paths["baseline"])
            collector.run_further(paths["baseline"], arm, chats, facts.limits)
            captures = opened.enter_context(captures_of(folder, facts.arms))
            method = scorer_method(config, facts.servers["baseline"])
            questioner = Questioner(paths["baseline"], folder, reporter, method)
            asked = ask_arm(captures, facts, asked, arm, questioner)
        if asked.diverged[arm]:
            with open_paths(config, ["candidate"], folder, reporter, small) as paths:
                path = paths["candidate"]
                suspicious = {arm: asked.diverged[arm]}
                collector.run_again(path, plan.jobs, facts.limits, captures, suspicious)
    return asked, facts


def turn_lengths(captures: FiledCaptures, limits: Mapping[TurnId, int]) -> dict[TurnId, int]:
    """Most tokens (prompt and output) of each turn that the candidate's server counted."""
    found = {}
    for evidence in captures.of(("candidate", MAIN)):
        for turn, exchange in evidence.of("candidate").items():
            usage = exchange.response.usage
            if usage is not None and usage.prompt is not None and turn in limits:
                found[turn] = usage.prompt + limits[turn]
    return found


def wants_verify_floor(config: Config, gpu: GpuReader) -> bool:
    """Whether to measure it: ``on``, or ``auto`` for heavy tails, launched paths and a GPU."""
    if config.run.verify_floor != "auto":
        return config.run.verify_floor == "on"
    return config.policy.noise_tails == "heavy" and config.launched and gpu.read() is not None


def measure_verify_floor(
    config: Config, collector: Collector, plan: Plan
) -> tuple[Fitting | None, tuple[str, ...]]:
    """Replay the greedy turns in verify shape; the answer is which turns fit, and notes.

    A server that cannot do so ends the run where `run.verify_floor` is ``on``; under ``auto`` it
    becomes a note, and heavy tails stay what they are without it.
    """
    fitting = None
    try:
        opened = open_paths(
            config, ["candidate"], collector.folder, collector.reporter, in_verify_shape
        )
        with opened as paths:
            floor = replace(paths["candidate"], name="baseline")
            fitting = Fitting.of(collector.fit(floor, plan.jobs))
            collector.warm_up(floor)
            collector.run_arm(floor, VERIFY, plan.jobs, fitting.limits, config.run.concurrency)
    except ServerError as error:
        if config.run.verify_floor == "on":
            raise
        said = str(error).splitlines()[0]
        return fitting, (f"the noise floor in verify shape was not measured: {said}",)
    return fitting, ()
