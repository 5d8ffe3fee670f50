"""The main job, start to end.

    plan -> (noise floor in verify shape) -> candidate's arms -> baseline's arms
         -> questions to the baseline -> re-runs -> (arms with a small KV cache) -> judge -> store

The candidate runs first and the baseline last, because the baseline also scores. With
``order = "together"`` both servers are up at once; the arms still run one after the other, so that
neither path's timing suffers from the other's load.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from checks.findings import CHUNK_STALL, ERROR
from checks.run.floor import gap_p99
from checks.run.reruns import MOST_TURNS, stall_bound_of, stalled_turns
from checks.servers.drafting_state import idle_notes
from checks.sessions.evidence import Answers, RunFacts, with_evidence
from draftgate.config.config import Config
from draftgate.config.overrides import Overrides
from draftgate.judging.captures import FiledCaptures
from draftgate.judging.sessions import FiledSessions
from draftgate.judging.spool import Spool
from draftgate.preflight.servers import ask_paths
from draftgate.preflight.start import Start, prepare, start_notes
from draftgate.progress import Reporter
from draftgate.run.arms import further_arms
from draftgate.run.collection import Collector
from draftgate.run.conclusion import conclude
from draftgate.run.folder import RunFolder, captures_of, read_index, resumable
from draftgate.run.outcome import GateOutcome
from draftgate.run.own_servers import measure_verify_floor, run_small_kv, wants_verify_floor
from draftgate.run.paths import OpenPath, open_paths
from draftgate.run.plan import Fitting, altered, left_out
from draftgate.run.questions import Asked, Questioner, ask_arm, ask_main, scorer_method
from draftgate.run.run_file import changes_since, write_facts, write_run
from draftgate.run.stored import stored_outcome
from draftgate.run.target import (
    Servers,
    Settled,
    read_drafter_configs,
    run_facts,
    settle_logprobs_mode,
    settle_noise_tails,
    settle_sampling,
)
from traces.clock import utc
from traces.counted import counted
from traces.journal.arm import PLAIN, Arm
from traces.journal.exchange import PATHS, TurnId


def run_gate(
    config: Config,
    reporter: Reporter,
    resume: str | None = None,
    options: Overrides | None = None,
) -> GateOutcome:
    """Replay, judge, store and report one run.

    `resume` names an interrupted run: turns its journals already hold are not sent again, and of
    one that has ended only the report is written again. `options` are those of `config` that were
    given beside a file; a resumed run finds them in `run.json`. Raises a DraftgateError where the
    run cannot be carried out, Interrupted where the user ends it; what was captured until then is
    kept.
    """
    started = utc()
    notes: list[str] = []
    begun: RunFolder | None = None
    if resume is not None:
        begun = RunFolder.existing(Path(config.run.output), resume)
        if (ended := _ended(config, begun, reporter)) is not None:
            return ended
        notes = changes_since(begun, config)
    start = prepare(config)
    folder = begun or RunFolder.new(Path(config.run.output))
    sessions = counted(len(start.plan.sessions), "session")
    reporter.note(f"run {folder.run}: {sessions}, {counted(start.plan.turns, 'turn')} to replay")
    for note in (*notes, *start_notes(config, start)):
        reporter.note(note)
    with resumable(folder):
        # Another process may have ended it since, and given up its lock.
        ended = _ended(config, begun, reporter) if begun is not None else None
        begin = _Begun(config, start, folder, started, tuple(notes), options or {})
        return ended or _run(begin, reporter)


def _ended(config: Config, begun: RunFolder, reporter: Reporter) -> GateOutcome | None:
    """The outcome of a run that has ended, its report written again; None of one that has not."""
    ended = stored_outcome(config, begun)
    if ended is not None:
        reporter.note(f"run {ended.run} has ended; its report is written again from the store")
    return ended


@dataclass(frozen=True, slots=True)
class _Begun:
    """What a run was begun with; `notes` say what a resumed one sets otherwise."""

    config: Config
    start: Start
    folder: RunFolder
    started: datetime
    notes: tuple[str, ...]
    options: Overrides

    def write(self, fitting: Fitting, noise_tails: str = "") -> None:
        """Keep it in the run's folder."""
        write_run(
            self.folder,
            self.config,
            self.start.plan,
            self.started,
            fitting,
            options=self.options,
            noise_tails=noise_tails,
        )


def _run(begun: _Begun, reporter: Reporter) -> GateOutcome:
    folder, plan = begun.folder, begun.start.plan
    config = settle_logprobs_mode(begun.config, plan.jobs)
    servers = begun.start.servers
    begun.write(Fitting())
    collector = Collector(config, folder, reporter)
    settled = settle_noise_tails(config, {}) if config.server.model else Settled(config)
    fitting: Fitting | None = None
    of_floor: tuple[str, ...] = ()
    if wants_verify_floor(settled.config, collector.gpu):
        fitting, of_floor = measure_verify_floor(settled.config, collector, plan)
    with ExitStack() as opened, _paths(config, folder, reporter) as opener:
        for path in opener.kept.values():
            servers = ask_paths(config, servers, path)
        with opener.open("candidate") as candidate:
            servers = ask_paths(config, servers, candidate)
            late = settle_sampling(settle_noise_tails(settled.config, servers), servers)
            config = collector.config = late.config
            fitting = fitting or Fitting.of(collector.fit(candidate, plan.jobs))
            begun.write(fitting, config.policy.noise_tails)
            if fitting.too_long:
                reporter.note(left_out(fitting))
            collector.run_path(candidate, plan.jobs, fitting.limits)
        with opener.open("baseline") as baseline:
            servers = ask_paths(config, servers, baseline)
            write_facts(folder, servers)
            collector.run_path(baseline, plan.jobs, fitting.limits)
            facts = replace(
                _facts(begun, config, servers, fitting),
                notes=(
                    *_notes(begun, servers, fitting),
                    *settled.notes,
                    *of_floor,
                    *late.notes,
                    *collector.abort_notes(),
                ),
                unverified=(*settled.unverified, *late.unverified),
            )
            captures = opened.enter_context(captures_of(folder, facts.arms))
            asked = _ask(baseline, captures, facts, collector)
        suspicious = _suspicious(captures, asked, facts)
        if suspicious:
            with opener.open("candidate") as candidate:
                collector.run_again(candidate, plan.jobs, facts.limits, captures, suspicious)
    for arm in collector.arms:
        if arm.small_kv:
            asked, facts = run_small_kv(arm, collector, plan, asked, facts)
    index = read_index(folder, facts.arms)
    facts = replace(facts, notes=(*facts.notes, *collector.notes))
    facts = with_evidence(facts, index.samples, index.losses, index.strays, asked.swaps)
    time = begun.started, utc()
    with closing(Spool()) as spool, closing(index):
        sessions = FiledSessions(index, asked.answers, facts, spool)
        return conclude(sessions, facts, config, folder, time, reporter)


def _facts(begun: _Begun, config: Config, servers: Servers, fitting: Fitting) -> RunFacts:
    """What is known of the run beside its captures; `config` has its noise tails settled."""
    plan = begun.start.plan
    return replace(
        run_facts(config, begun.folder.run, servers, further_arms(config)),
        drafter=read_drafter_configs(config),
        reference=begun.start.reference,
        pinned=begun.start.pinned,
        sessions=plan.facts,
        limits=fitting.limits,
        too_long=fitting.too_long,
        unread=sum(plan.unread.values()),
    )


def _notes(begun: _Begun, servers: Servers, fitting: Fitting) -> list[str]:
    changed = ", ".join(altered(begun.start.plan, fitting.limits))
    said = [f"the main arm asks otherwise than the recordings: {changed}"] if changed else []
    return [*begun.notes, *begun.start.notes, *idle_notes(servers, begun.config.run.kind), *said]


def _ask(
    baseline: OpenPath, captures: FiledCaptures, facts: RunFacts, collector: Collector
) -> Asked:
    """Everything the baseline must be asked before its server is given up."""
    method = scorer_method(collector.config, facts.servers["baseline"])
    questioner = Questioner(baseline, collector.folder, collector.reporter, method)
    asked = ask_main(captures, facts, Answers(), questioner)
    for arm in facts.arms:
        if arm.paired and not arm.small_kv:
            asked = ask_arm(captures, facts, asked, arm, questioner)
    return asked


def _suspicious(
    captures: FiledCaptures, asked: Asked, facts: RunFacts
) -> dict[Arm, Sequence[TurnId]]:
    """Turns with a hard divergence, and as users send them with a stall that the policy makes an
    error of, by arm."""
    found = {arm: turns for arm, turns in asked.diverged.items() if turns}
    if facts.policy.severity.get(CHUNK_STALL, ERROR) == ERROR:
        plain = tuple((path, PLAIN) for path in PATHS)
        bound = stall_bound_of(gap_p99(captures.of(*plain)))
        stalled = [turn for one in captures.of(*plain) for turn in stalled_turns(one, bound)]
        found |= {facts.plain: stalled[:MOST_TURNS]} if stalled else {}
    return found


class _Opener:
    """Opens paths one at a time, or hands out those that are kept up until the end."""

    def __init__(
        self, config: Config, folder: RunFolder, reporter: Reporter, kept: dict[str, OpenPath]
    ) -> None:
        self.config, self.folder, self.reporter, self.kept = config, folder, reporter, kept

    @contextmanager
    def open(self, name: str) -> Iterator[OpenPath]:
        if name in self.kept:
            yield self.kept[name]
            return
        with open_paths(self.config, [name], self.folder, self.reporter) as paths:
            yield paths[name]


@contextmanager
def _paths(config: Config, folder: RunFolder, reporter: Reporter) -> Iterator[_Opener]:
    if config.run.order == "in-turn":
        yield _Opener(config, folder, reporter, {})
        return
    with open_paths(config, PATHS, folder, reporter) as paths:
        yield _Opener(config, folder, reporter, paths)
