"""The main job, start to end.

    plan -> (noise floor in verify shape) -> candidate's arms -> baseline's arms
         -> questions to the baseline -> re-runs -> (arms with a small KV cache) -> judge -> store

The candidate runs first and the baseline last, because the baseline also scores. With
``order = "together"`` both servers are up at once; the arms still run one after the other, so that
neither path's timing suffers from the other's load.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from checks.controls.swap import plan_hard_swap, plan_soft_swaps
from checks.greedy.judge import judge_greedy
from draftgate.config.config import Config
from draftgate.progress import Reporter
from draftgate.run.collection import Collector
from draftgate.run.conclusion import conclude
from traces.journal.exchange import PATHS
from draftgate.run.fitting import fit_record
from draftgate.run.folder import RunFolder
from draftgate.run.further import judge_arm
from draftgate.run.interruption import resumable
from draftgate.run.target import settle_noise_tails
from draftgate.run.outcome import GateOutcome
from draftgate.run.paths import OpenPath, check_reachable, open_paths
from draftgate.run.plan import Plan, make_plan
from draftgate.run.questions import Questioner, scorer_method
from draftgate.run.record import Record
from draftgate.run.reference import reference_rows
from draftgate.run.reruns import run_again, suspicious_turns
from draftgate.run.run_file import changes_since, write_facts, write_run
from checks.run.sampled import LISTED, sampled_requests
from draftgate.run.scoring import scoring_requests
from checks.run.setup import read_drafter_configs
from draftgate.run.own_servers import run_small_kv
from draftgate.run.stored import stored_outcome
from draftgate.run.verify_floor import measure_verify_floor, wants_verify_floor
from reports.store.store import Store
from traces.counted import counted


def run_gate(config: Config, reporter: Reporter, resume: str | None = None) -> GateOutcome:
    """Replay, judge, store and report one run.

    `resume` names an interrupted run: turns its journals already hold are not sent again, and of
    one that has ended only the report is written again. Raises a DraftgateError where the run
    cannot be carried out, Interrupted where the user ends it; what was captured until then is kept.
    """
    started = datetime.now(UTC)
    if resume is not None:
        ended = stored_outcome(config, _folder(config, resume))
        if ended is not None:
            reporter.note(f"run {ended.run} has ended; its report is written again from the store")
            return ended
    check_reachable(config)
    plan = make_plan(config)
    folder = _folder(config, resume)
    notes = changes_since(folder, config)
    sessions, turns = counted(len(plan.sessions), "session"), counted(plan.turns, "turn")
    reporter.note(f"run {folder.run}: {sessions}, {turns} to replay")
    for note in notes:
        reporter.note(note)
    with resumable(folder):
        return _run(config, plan, folder, started, notes, reporter)


def _run(
    config: Config,
    plan: Plan,
    folder: RunFolder,
    started: datetime,
    notes: list[str],
    reporter: Reporter,
) -> GateOutcome:
    Store.open(Path(config.run.db), write=True).close()  # before hours are spent
    write_run(folder, config, plan, started, {}, {})
    collector = Collector(config, folder, reporter)
    record = Record(
        config=config,
        plan=plan,
        folder=folder,
        started=started,
        reference=reference_rows(config),
        arms=collector.arms,
        notes=notes,
    )
    if config.server.model:
        settle_noise_tails(record)
    if wants_verify_floor(record.config, collector.gpu):
        measure_verify_floor(collector, record, reporter)
    with _paths(record, reporter) as opener:
        _run_candidate(opener, collector, plan, record)
        with opener.open("baseline") as baseline:
            record.facts["baseline"] = collector.facts(baseline)
            write_facts(folder, record.facts)
            collector.run_path(baseline, plan.jobs, record.limits)
            record.drafter = read_drafter_configs(config)
            method = scorer_method(config, record.facts["baseline"])
            _ask(record, Questioner(baseline, folder, reporter, method), reporter)
        suspicious = suspicious_turns(record)
        if suspicious:
            with opener.open("candidate") as candidate:
                run_again(collector, candidate, record, suspicious)
    for arm in collector.arms:
        if arm.small_kv:
            run_small_kv(arm, collector, record, reporter)
    record.read()
    record.ended = datetime.now(UTC)
    return conclude(record, reporter)


def _folder(config: Config, resume: str | None) -> RunFolder:
    output = Path(config.run.output)
    return RunFolder.new(output) if resume is None else RunFolder.existing(output, resume)


def _run_candidate(opener: "_Opener", collector: Collector, plan: Plan, record: Record) -> None:
    with opener.open("candidate") as candidate:
        record.facts["candidate"] = collector.facts(candidate)
        settle_noise_tails(record)
        fit_record(collector, record, candidate)
        write_run(
            record.folder, record.config, plan, record.started, record.limits, record.too_long
        )
        collector.run_path(candidate, plan.jobs, record.limits)


def _ask(record: Record, questioner: Questioner, reporter: Reporter) -> None:
    """Everything the baseline must be asked before its server is given up."""
    seed, policy = record.config.run.seed, record.config.policy
    record.read()
    answers = record.answers
    turns = record.turns()
    questioner.score(scoring_requests(turns, seed), answers, "scoring")
    wide = sampled_requests(record.evidence)
    questioner.score(wide, answers, "scoring sampled turns", width=LISTED)
    turns = record.turns()
    judged = judge_greedy(turns, policy, seed)
    if judged.suspects:
        suspects = counted(len(judged.suspects), "token")
        reporter.note(f"baseline: asking about {suspects} above the hard bound")
        questioner.ask_suspects(turns, judged.suspects, answers)
        turns = record.turns()
        judged = judge_greedy(turns, policy, seed)
    record.swaps = (plan_hard_swap(turns, judged), plan_soft_swaps(turns, judged, policy, seed))
    requests = [request for plan in record.swaps for request in plan.to_score]
    questioner.score(requests, answers, "scoring planted faults")
    record.greedy_turns, record.greedy = turns, judged
    for arm in record.arms:
        if arm.paired and not arm.small_kv:
            judge_arm(record, arm, questioner)


class _Opener:
    """Opens paths one at a time, or hands out those that are kept up until the end."""

    def __init__(self, record: Record, reporter: Reporter) -> None:
        self.record, self.reporter = record, reporter
        self.kept: dict[str, OpenPath] = {}

    @contextmanager
    def open(self, name: str) -> Iterator[OpenPath]:
        if name in self.kept:
            yield self.kept[name]
            return
        record = self.record
        with open_paths(record.config, [name], record.folder, self.reporter) as paths:
            yield paths[name]


@contextmanager
def _paths(record: Record, reporter: Reporter) -> Iterator[_Opener]:
    opener = _Opener(record, reporter)
    if record.config.run.order == "in-turn":
        yield opener
        return
    with open_paths(record.config, PATHS, record.folder, reporter) as paths:
        opener.kept = paths
        yield opener
