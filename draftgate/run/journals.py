"""Reading a run's folder of journals: the last settled exchange of every turn of every arm."""

from collections.abc import Sequence
from pathlib import Path

from draftgate.run.folder import RunFolder
from replay.facts.sampler import read_samples
from traces.collection import collector_paused
from traces.journal.arm import MAIN, PLAIN, VERIFY, Arm
from traces.journal.exchange import PATHS, ArmKey, Evidence, Stray, exchange_of
from traces.journal.journal import JournalReader

_MAIN, _PLAIN = Arm(MAIN, 1), Arm(PLAIN, 1)

ARMS: tuple[ArmKey, ...] = (
    ("candidate", MAIN),
    ("baseline", MAIN),
    ("baseline", _MAIN.repeat_name),
    ("baseline", VERIFY),
    ("candidate", PLAIN),
    ("baseline", PLAIN),
    *_MAIN.rerun_keys,
    *_PLAIN.rerun_keys,
)
"""The arms that every run may hold; further ones are read after them."""


@collector_paused()
def add_journal(evidence: Evidence, journal: Path) -> None:
    """Add the captures of one journal; of several attempts at a turn the last one counts."""
    for number, capture in enumerate(JournalReader(journal), start=1):
        key = capture.key
        if key.path not in PATHS:
            evidence.strays.append(Stray(journal, number, key.path))
            continue
        found = evidence.arms.setdefault((key.path, key.arm), {})
        known = found.get((key.session, key.turn))
        if known is None or known.key.attempt <= key.attempt:
            found[key.session, key.turn] = exchange_of(capture)


def add_samples(evidence: Evidence, folder: RunFolder) -> None:
    """Add the readings of the servers' metrics of every arm the evidence holds."""
    for path, arm in evidence.arms:
        file = folder.samples(path, arm)
        if file.exists():
            evidence.samples[path, arm] = read_samples(file)


def read_evidence(folder: RunFolder, further: Sequence[Arm] = ()) -> Evidence:
    """All arms of a run; `further` are those that not every run has."""
    evidence = Evidence()
    for path, arm in (*ARMS, *(key for one in further for key in one.keys)):
        journal = folder.journal(path, arm)
        if journal.exists():
            add_journal(evidence, journal)
    add_samples(evidence, folder)
    return evidence
