"""Judging journals without a server: the same judgement, with the evidence that is on file."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

from checks.findings import ERROR
from checks.run.answered import lone_arm_notes
from checks.run.judge import judge_all
from checks.sessions.evidence import Answers, RunFacts, sessions_of, with_evidence
from checks.sessions.turns import LISTED
from draftgate.config.config import Config
from draftgate.config.file import read_config
from draftgate.run.arms import further_arms
from draftgate.run.conclusion import counts_of
from draftgate.run.folder import RunFolder, add_journal, add_samples
from draftgate.run.outcome import GateOutcome
from draftgate.run.plan import Fitting
from draftgate.run.questions import ask_main
from draftgate.run.run_file import RunFile, begun_config, begun_fitting, read_facts, read_run
from draftgate.run.target import Servers, run_facts, settle_noise_tails
from replay.scoring.score_file import read_scores
from traces.errors import InputError
from traces.journal.arm import OWN_NAMES, Arm
from traces.journal.exchange import PATHS, Evidence, Exchange
from traces.journal.frames import FrameReader
from traces.journal.path_facts import PathFacts
from traces.journal.score import Score

NO_POLICY = (
    "no run.json of their run lies beside the journals, so the policy of that run is missing: the "
    "default policy judges; name a configuration with -c, or put run.json back"
)

NO_FACTS = (
    "the run.json beside the journals does not say how faithful each prompt is: no bounds of exact "
    "and rebuilt turns alone, and no slices by tag; a gate of this version writes it"
)


def judge_journals(files: Sequence[Path], config_file: Path | None) -> GateOutcome:
    """Judge the captures in `files`, and the other journals and scores that lie beside them.

    Raises InputError where a file is missing, or the captures of one path are not among them.
    What only a live baseline can tell (scores that are not on file) counts as not judged.
    """
    evidence = _evidence(files)
    folder = RunFolder(files[0].resolve().parent)
    begun = _begun(files, evidence)
    facts = _facts(_config(config_file, begun), folder, begun, evidence)
    answers = Answers(scores=_scores(files))
    facts = with_evidence(facts, evidence, ask_main(evidence, facts, answers).swaps)
    judged = judge_all(sessions_of(evidence, answers, facts), facts).judgement
    return GateOutcome(
        run=folder.run,
        verdict=judged.verdict,
        codes=Counter(f.code for f in judged.findings if f.severity == ERROR),
        counts=counts_of(judged, facts),
        store=None,
        report=None,
        folder=folder.root,
        faithful=judged.faithful,
        notes=(
            *([] if config_file or begun else [NO_POLICY]),
            *([NO_FACTS] if begun and not begun.facts else []),
            *judged.notes,
            *lone_arm_notes(evidence, {arm.name for arm in facts.arms}),
        ),
    )


def _facts(
    config: Config, folder: RunFolder, begun: RunFile | None, evidence: Evidence
) -> RunFacts:
    """What was planned, and what the servers said, where that is on file."""
    servers: Servers = {path: [PathFacts(path, "journal")] for path in PATHS}
    fitting = Fitting()
    if begun is not None:
        fitting = begun_fitting(begun)
        on_file = read_facts(folder)
        servers = on_file if set(PATHS) <= on_file.keys() else servers
    settled = settle_noise_tails(config, servers)
    return replace(
        run_facts(settled.config, folder.run, servers, _further(config, evidence)),
        sessions=tuple(begun.facts) if begun else (),
        limits=fitting.limits,
        too_long=fitting.too_long,
        notes=settled.notes,
        unverified=settled.unverified,
    )


def _scores(files: Sequence[Path]) -> dict[str, Score]:
    """The scores that lie beside the journals."""
    found: dict[str, Score] = {}
    for scores in sorted({RunFolder(file.resolve().parent).scores for file in files}):
        if scores.exists():
            found |= (
                read_scores(scores, "decode")
                | read_scores(scores)
                | read_scores(scores, width=LISTED)
            )
    return found


def _begun(files: Sequence[Path], evidence: Evidence) -> RunFile | None:
    """What the gate that took all these journals wrote of its plan; None where they are of several
    folders, or no gate's."""
    folders = {file.resolve().parent for file in files}
    begun = read_run(RunFolder(folders.pop())) if len(folders) == 1 else None
    if begun is None or begun.run not in {exchange.key.run for exchange in evidence}:
        return None
    return begun


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
    sent = {arm for path, arm in evidence.arms if path == "candidate"}
    both = sent & {arm for path, arm in evidence.arms if path == "baseline"}
    alone = {name for name in sent if name in known and not known[name].paired}
    return tuple(
        known.get(name) or Arm(name, most_in_flight(evidence.of("candidate", name).values()))
        for name in sorted((both | alone) - OWN_NAMES)
    )


def most_in_flight(exchanges: Collection[Exchange]) -> int:
    """Most requests that were in flight at the same time."""
    ends = [(e.ended_at, -1) for e in exchanges]
    events = sorted([*ends, *((e.sent_at, 1) for e in exchanges)])
    return max(accumulate(step for _, step in events), default=1)


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
        evidence.strays.extend(held.strays)
    owned = set(evidence.arms)
    for folder in sorted({file.parent for file in named}):
        for file in sorted(folder.glob("*-*-*.jsonl.zst")):
            if file.name.startswith("scores") or file in named:
                continue
            beside = Evidence()
            add_journal(beside, file)
            evidence.strays.extend(beside.strays)
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
    return evidence.in_order()
