"""Judging journals without a server: the same judgement, with the evidence that is on file."""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

from checks.findings import ERROR
from checks.run.answered import lone_arm_notes
from checks.run.judge import judge_all
from checks.sessions.evidence import Answers, RunFacts, with_evidence
from checks.sessions.in_flight import Span, span_of
from checks.sessions.turns import LISTED
from draftgate.config.config import Config
from draftgate.config.file import read_config
from draftgate.judging.sessions import FiledSessions
from draftgate.judging.spool import Spool
from draftgate.run.arms import further_arms
from draftgate.run.conclusion import counts_of
from draftgate.run.folder import RunFolder, add_samples
from draftgate.run.outcome import GateOutcome
from draftgate.run.plan import Fitting
from draftgate.run.run_file import RunFile, begun_config, begun_fitting, read_facts, read_run
from draftgate.run.target import Servers, run_facts, settle_noise_tails
from replay.scoring.score_file import ScoresOnFile, Way
from traces.errors import InputError
from traces.journal.arm import OWN_NAMES, Arm
from traces.journal.exchange import PATHS
from traces.journal.frames import FrameReader
from traces.journal.index import JournalIndex
from traces.journal.path_facts import PathFacts

WAYS: tuple[Way, ...] = (("decode", 1), ("prefill", 1), ("prefill", LISTED))
"""How a run's baseline scores; the later one says more."""

NO_POLICY = (
    "no run.json of their run lies beside the journals, so the policy of that run is missing: the "
    "default policy judges; name a configuration with -c, or put run.json back"
)

NO_FACTS = (
    "the run.json beside the journals does not say how faithful each prompt is: no bounds of exact "
    "and rebuilt turns alone, and no slices by tag; a gate of this version writes it"
)


def judge_journals(files: Sequence[Path], config_file: Path | None) -> GateOutcome:
    """Judge the captures in `files`, and the other journals and scores that lie beside them; of a
    folder, every journal in it.

    Raises InputError where a file is missing, or the captures of one path are not among them.
    What only a live baseline can tell (scores that are not on file) counts as not judged. One
    session is in memory at a time.
    """
    files = journals_in(files)
    index = _index(files)
    folder = RunFolder(files[0].resolve().parent)
    begun = _begun(files, index)
    facts = _facts(_config(config_file, begun), folder, begun, index)
    facts = with_evidence(facts, index.samples, index.losses, index.strays)
    answers = Answers(scores=_scores(files))
    with closing(Spool()) as spool, closing(index):
        sessions = FiledSessions(index, answers, facts, spool)
        judged = judge_all(sessions, facts, answers).judgement
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
            *lone_arm_notes(index.arms, {arm.name for arm in facts.arms}),
        ),
    )


def journals_in(named: Sequence[Path]) -> list[Path]:
    """The journals `named`, and all those of the folders among them. Raises InputError where a
    folder holds none."""
    found: list[Path] = []
    for path in named:
        if path.is_dir() and not (inside := RunFolder(path).journals()):
            raise InputError(f"{path}: no journal there", "name the folder of a run")
        found += inside if path.is_dir() else [path]
    return found


def _facts(
    config: Config, folder: RunFolder, begun: RunFile | None, index: JournalIndex
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
        run_facts(settled.config, folder.run, servers, _further(config, index)),
        sessions=tuple(begun.facts) if begun else (),
        limits=fitting.limits,
        too_long=fitting.too_long,
        notes=settled.notes,
        unverified=settled.unverified,
    )


def _scores(files: Sequence[Path]) -> ScoresOnFile:
    """The scores that lie beside the journals."""
    beside = sorted({RunFolder(file.resolve().parent).scores for file in files})
    return ScoresOnFile([scores for scores in beside if scores.exists()], WAYS)


def _begun(files: Sequence[Path], index: JournalIndex) -> RunFile | None:
    """What the gate that took all these journals wrote of its plan; None where they are of several
    folders, or no gate's."""
    folders = {file.resolve().parent for file in files}
    begun = read_run(RunFolder(folders.pop())) if len(folders) == 1 else None
    if begun is None or begun.run not in {place.run for place in index.places()}:
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


def _further(config: Config, index: JournalIndex) -> tuple[Arm, ...]:
    """The further arms that both paths replayed, and those with other prompts, which only a
    configuration tells; what it does not tell of one is read off its captures."""
    known = {arm.name: arm for arm in further_arms(config)}
    sent = {arm for path, arm in index.arms if path == "candidate"}
    both = sent & {arm for path, arm in index.arms if path == "baseline"}
    alone = {name for name in sent if name in known and not known[name].paired}

    def seen(name: str) -> Arm:
        places = index.of("candidate", name).values()
        return Arm(name, most_in_flight(span_of(index.read(place)) for place in places))

    return tuple(known.get(name) or seen(name) for name in sorted((both | alone) - OWN_NAMES))


def most_in_flight(spans: Iterable[Span]) -> int:
    """Most requests that were in flight at the same time."""
    events = [event for span in spans for event in ((span.ended_at, -1), (span.sent_at, 1))]
    return max(accumulate(step for _, step in sorted(events)), default=1)


def _index(files: Sequence[Path]) -> JournalIndex:
    """The named journals, and what lies beside them: a folder speaks for the paths whose journals
    were named in it, and for the paths of which none was named anywhere.
    """
    named = {file.resolve(): JournalIndex() for file in files}
    for file, held in named.items():
        if not file.is_file():
            raise InputError(f"{file}: no such journal", "name the journals of a run's folder")
        held.add(file)
    homes: dict[str, set[Path]] = {}
    for file, held in named.items():
        for path, _ in held.arms:
            homes.setdefault(path, set()).add(file.parent)
    index = JournalIndex()
    for held in named.values():
        for key, places in held.arms.items():
            index.arms.setdefault(key, {}).update(places)
        index.strays.extend(held.strays)
        index.losses.extend(held.losses)
    owned = set(index.arms)
    for folder in sorted({file.parent for file in named}):
        for file in RunFolder(folder).journals():
            if file in named:
                continue
            beside = JournalIndex()
            beside.add(file)
            index.strays.extend(beside.strays)
            for key, places in beside.arms.items():
                if key not in owned and folder in homes.get(key[0], {folder}):
                    index.arms.setdefault(key, {}).update(places)
                    index.losses.extend(one for one in beside.losses if one.arm == key)
        add_samples(index, RunFolder(folder))
    for path in ("baseline", "candidate"):
        if not index.of(path):
            raise InputError(
                f"no capture of the {path} (arm main) in {', '.join(str(f) for f in files)}",
                "name one journal of each path",
            )
    return index
