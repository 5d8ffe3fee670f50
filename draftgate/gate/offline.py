"""Judging journals without a server: the same judgement, with the evidence that is on file."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from checks.controls.swap import plan_hard_swap, plan_soft_swaps
from checks.equivalence import judge_greedy
from checks.findings import ERROR
from draftgate.config import OWN_ARMS, Config
from draftgate.config_file import read_config
from draftgate.gate.arms import Arm, further_arms
from draftgate.gate.conclusion import counts_of
from draftgate.gate.evidence import Evidence, add_journal, add_samples, most_in_flight
from draftgate.gate.folder import RunFolder
from draftgate.gate.further import judge_arm
from draftgate.gate.judgement import judge
from draftgate.gate.noise_tails import settle_noise_tails
from draftgate.gate.outcome import GateOutcome
from draftgate.gate.plan import Plan
from draftgate.gate.record import Record
from draftgate.gate.sampled import LISTED
from replay.score_file import read_scores
from traces.errors import InputError
from traces.path_facts import PathFacts


def judge_journals(files: Sequence[Path], config_file: Path | None) -> GateOutcome:
    """Judge the captures in `files`, and the other journals and scores that lie beside them.

    Raises InputError where a file is missing, or the captures of one path are not among them.
    What only a live baseline can tell (scores that are not on file) counts as not judged.
    """
    config = _config(config_file)
    evidence = _evidence(files)
    folder = RunFolder(files[0].resolve().parent)
    now = datetime.now(UTC)
    record = Record(config=config, plan=Plan(()), folder=folder, started=now, ended=now)
    record.evidence = evidence
    record.facts = {path: [PathFacts(path, "journal")] for path in ("baseline", "candidate")}
    if folder.scores.exists():
        record.answers.scores = (
            read_scores(folder.scores, "decode")
            | read_scores(folder.scores)
            | read_scores(folder.scores, width=LISTED)
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
    )


def _config(file: Path | None) -> Config:
    """The given configuration; without one, the default policy over what the journals hold."""
    if file is not None:
        return read_config(file)
    return Config.model_construct()


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
    evidence = Evidence()
    named = {file.resolve() for file in files}
    for file in sorted(named):
        if not file.is_file():
            raise InputError(f"{file}: no such journal", "name the journals of a run's folder")
    beside = {other for file in named for other in file.parent.glob("*-*-*.jsonl.zst")}
    for file in sorted(named | beside):
        if not file.name.startswith("scores"):
            add_journal(evidence, file)
    add_samples(evidence, RunFolder(files[0].resolve().parent))
    for path in ("baseline", "candidate"):
        if not evidence.of(path):
            raise InputError(
                f"no capture of the {path} (arm main) in {', '.join(str(f) for f in files)}",
                "name one journal of each path",
            )
    return evidence
