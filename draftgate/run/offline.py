"""Judging journals without a server: the same judgement, with the evidence that is on file."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from checks.controls.swap import plan_hard_swap, plan_soft_swaps
from checks.findings import ERROR
from checks.greedy.judge import judge_greedy
from draftgate.config.config import OWN_ARMS, Config
from draftgate.config.file import read_config
from draftgate.run.arms import Arm, further_arms
from draftgate.run.conclusion import counts_of
from traces.journal.exchange import Evidence, add_journal, add_samples, most_in_flight
from draftgate.run.folder import RunFolder
from draftgate.run.further import judge_arm
from checks.run.judge import judge
from draftgate.run.target import settle_noise_tails
from draftgate.run.outcome import GateOutcome
from draftgate.run.plan import Plan
from draftgate.run.record import Record
from draftgate.run.run_file import RunFile, begun_config, read_facts, read_run
from checks.run.sampled import LISTED
from checks.run.notes import lone_arm_notes
from replay.score_file import read_scores
from traces.errors import InputError
from traces.journal.frames import FrameReader
from traces.journal.path_facts import PathFacts


def judge_journals(files: Sequence[Path], config_file: Path | None) -> GateOutcome:
    """Judge the captures in `files`, and the other journals and scores that lie beside them.

    Raises InputError where a file is missing, or the captures of one path are not among them.
    What only a live baseline can tell (scores that are not on file) counts as not judged.
    """
    evidence = _evidence(files)
    folder = RunFolder(files[0].resolve().parent)
    begun = _begun(files, evidence)
    config = _config(config_file, begun)
    now = datetime.now(UTC)
    record = Record(config=config, plan=Plan(()), folder=folder, started=now, ended=now)
    record.evidence = evidence
    record.facts = {path: [PathFacts(path, "journal")] for path in ("baseline", "candidate")}
    if begun is not None:
        _know_the_run(record, begun)
    for scores in sorted({RunFolder(file.resolve().parent).scores for file in files}):
        if scores.exists():
            record.answers.scores |= (
                read_scores(scores, "decode")
                | read_scores(scores)
                | read_scores(scores, width=LISTED)
            )
    settle_noise_tails(record)
    seed, policy = config.run.seed, record.config.policy
    record.greedy_turns = record.turns()
    record.greedy = judge_greedy(record.greedy_turns, policy, seed)
    record.swaps = (
        plan_hard_swap(record.greedy_turns, record.greedy),
        plan_soft_swaps(record.greedy_turns, record.greedy, policy, seed),
    )
    record.arms = _further(config, evidence)
    for arm in record.arms:
        if arm.paired:
            judge_arm(record, arm)
    conclusion = judge(record)
    return GateOutcome(
        run=folder.run,
        verdict=conclusion.verdict,
        codes=Counter(f.code for f in conclusion.findings if f.severity == ERROR),
        counts=counts_of(record, conclusion),
        store=None,
        report=None,
        folder=folder.root,
        notes=(*conclusion.notes, *lone_arm_notes(evidence, {arm.name for arm in record.arms})),
    )


def _begun(files: Sequence[Path], evidence: Evidence) -> RunFile | None:
    """What the gate that took all these journals wrote of its plan; None where they are of several
    folders, or no gate's."""
    folders = {file.resolve().parent for file in files}
    begun = read_run(RunFolder(folders.pop())) if len(folders) == 1 else None
    if begun is None or begun.run not in {exchange.key.run for exchange in evidence}:
        return None
    return begun


def _know_the_run(record: Record, begun: RunFile) -> None:
    """What was planned, and what the servers said, where that is on file."""
    record.limits = {(session, turn): limit for session, turn, limit in begun.limits}
    record.too_long = {(session, turn): reason for session, turn, reason in begun.too_long}
    facts = read_facts(record.folder)
    if {"baseline", "candidate"} <= facts.keys():
        record.facts = dict(facts)


def torn_tails(files: Sequence[Path]) -> list[tuple[Path, int]]:
    """The journals among `files` whose writer was killed inside a record, with its bytes."""
    torn = []
    for file in files:
        reader = FrameReader(file)
        for _ in reader:
            pass
        if reader.torn_bytes:
            torn.append((file, reader.torn_bytes))
    return torn


def _config(file: Path | None, begun: RunFile | None) -> Config:
    """The given configuration; without one, that of the run; of no run, the default policy."""
    if file is not None:
        return read_config(file)
    if begun is None:
        return Config.model_construct()
    return begun_config(begun)


def _further(config: Config, evidence: Evidence) -> tuple[Arm, ...]:
    """The further arms that both paths replayed, and those with other prompts, which only a
    configuration tells; what it does not tell of one is read off its captures."""
    known = {arm.name: arm for arm in further_arms(config)}
    ours = {arm for path, arm in evidence.arms if path == "candidate"}
    both = ours & {arm for path, arm in evidence.arms if path == "baseline"}
    alone = {name for name in ours if name in known and not known[name].paired}
    return tuple(
        known.get(name) or Arm(name, most_in_flight(evidence.of("candidate", name).values()))
        for name in sorted((both | alone) - OWN_ARMS)
    )


def _evidence(files: Sequence[Path]) -> Evidence:
    """The named journals, and what lies beside them: a folder speaks for the paths whose journals
    were named in it, and for the paths of which none was named anywhere.
    """
    named = {file.resolve(): Evidence() for file in files}
    for file, held in named.items():
        if not file.is_file():
            raise InputError(f"{file}: no such journal", "name the journals of a run's folder")
        add_journal(held, file)
    homes: dict[str, set[Path]] = {}
    for file, held in named.items():
        for path, _ in held.arms:
            homes.setdefault(path, set()).add(file.parent)
    evidence = Evidence()
    for held in named.values():
        for key, exchanges in held.arms.items():
            evidence.arms.setdefault(key, {}).update(exchanges)
        evidence.strays += held.strays
    owned = set(evidence.arms)
    for folder in sorted({file.parent for file in named}):
        for file in sorted(folder.glob("*-*-*.jsonl.zst")):
            if file.name.startswith("scores") or file in named:
                continue
            beside = Evidence()
            add_journal(beside, file)
            evidence.strays += beside.strays
            for key, exchanges in beside.arms.items():
                if key not in owned and folder in homes.get(key[0], {folder}):
                    evidence.arms.setdefault(key, {}).update(exchanges)
        add_samples(evidence, RunFolder(folder))
    for path in ("baseline", "candidate"):
        if not evidence.of(path):
            raise InputError(
                f"no capture of the {path} (arm main) in {', '.join(str(f) for f in files)}",
                "name one journal of each path",
            )
    return evidence
