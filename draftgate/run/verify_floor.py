"""The noise floor in verify shape: the arm ``verify`` of the baseline, on a server of its own.

It runs first, before either path is up, so that one model at a time is enough; its captures become
the noise of decode shape in the main arm.
"""

from dataclasses import replace

from draftgate.config.config import Config
from draftgate.progress import Reporter
from draftgate.run.collection import Collector
from draftgate.run.fitting import fit_record
from draftgate.run.paths import open_paths
from draftgate.run.record import Record
from replay.launch.gpu import GpuReader
from replay.launch.verify_shape import in_verify_shape
from traces.errors import ServerError

ARM = "verify"


def wants_verify_floor(config: Config, gpu: GpuReader) -> bool:
    """Whether to measure it: ``on``, or ``auto`` for heavy tails, launched paths and a GPU."""
    if config.run.verify_floor != "auto":
        return config.run.verify_floor == "on"
    return config.policy.noise_tails == "heavy" and config.launched and gpu.read() is not None


def measure_verify_floor(collector: Collector, record: Record, reporter: Reporter) -> None:
    """Replay the greedy turns in verify shape.

    A server that cannot do so ends the run where `run.verify_floor` is ``on``; under ``auto`` it
    becomes a note, and heavy tails stay what they are without it.
    """
    config, folder = record.config, record.folder
    try:
        with open_paths(config, ["candidate"], folder, reporter, in_verify_shape) as paths:
            floor = replace(paths["candidate"], name="baseline")
            fit_record(collector, record, floor)
            collector.warm_up(floor)
            collector.run_arm(floor, ARM, record.plan.jobs, record.limits, config.run.concurrency)
    except ServerError as error:
        if config.run.verify_floor == "on":
            raise
        record.notes.append(
            "the noise floor in verify shape was not measured: " + str(error).splitlines()[0]
        )
