"""Capturing one path alone, for a judgement made elsewhere or later."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from draftgate.config.config import Config
from draftgate.preflight.paths import check_paths
from draftgate.preflight.places import check_output
from draftgate.preflight.servers import ask_attached, ask_paths
from draftgate.progress import Reporter
from draftgate.run.collection import Collector
from draftgate.run.folder import RunFolder, resumable
from draftgate.run.paths import open_paths
from draftgate.run.plan import Fitting, Plan, left_out, make_plan
from draftgate.run.target import Servers
from traces.journal.arm import MAIN


@dataclass(frozen=True, slots=True)
class Replayed:
    """One captured path: turns answered (now or in an earlier part of the run), and not."""

    run: str
    path: str
    journal: Path
    answered: int
    failed: int
    too_long: int

    def as_json(self) -> dict[str, Any]:
        """The object ``draftgate replay --json`` prints."""
        return {
            "run": self.run,
            "path": self.path,
            "journal": str(self.journal),
            "answered": self.answered,
            "failed": self.failed,
            "too_long": self.too_long,
        }


def replay_path(config: Config, name: str, reporter: Reporter, resume: str | None) -> Replayed:
    """Replay the sessions of `config` through path `name`, arm ``main``."""
    output = Path(config.run.output)
    begun = None if resume is None else RunFolder.existing(output, resume)
    check_paths(config, [name])
    plan = make_plan(config)
    check_output(config)
    servers = ask_attached(config, [name])
    folder = begun or RunFolder.new(output)
    with resumable(folder):
        return _run(config, name, plan, servers, folder, reporter)


def _run(
    config: Config, name: str, plan: Plan, servers: Servers, folder: RunFolder, reporter: Reporter
) -> Replayed:
    collector = Collector(config, folder, reporter)
    with open_paths(config, [name], folder, reporter) as paths:
        path = paths[name]
        ask_paths(config, servers, path)
        fitting = Fitting.of(collector.fit(path, plan.jobs))
        if fitting.too_long:
            reporter.note(left_out(fitting))
        collector.warm_up(path)
        collector.run_arm(path, MAIN, plan.jobs, fitting.limits, config.run.concurrency)
    result = collector.results[name, MAIN]
    return Replayed(
        run=folder.run,
        path=name,
        journal=folder.journal(name, MAIN),
        answered=result.sent + result.resumed,
        failed=result.failed,
        too_long=len(fitting.too_long),
    )
