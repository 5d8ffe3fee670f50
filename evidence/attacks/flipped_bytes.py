"""One byte of a run's journals changed, and what an offline judgement makes of it."""

import random
import shutil
from pathlib import Path
from typing import Any

from draftgate.run.offline import judge_journals
from draftgate.run.outcome import GateOutcome
from evidence.attacks.snapshot import Undisturbed
from traces.errors import DraftgateError

FATES = {
    "refused": "an error that names the file and the byte",
    "torn": "taken for the tail of a killed writer: the turn or score is missing, and that is said",
    "same": "the same verdict, codes and counts",
    "silent": "judged otherwise, and nothing says so",
}
"""What may come of a flipped byte; the last must not."""


def flip_and_judge(whole: Undisturbed, home: Path, chance: random.Random) -> tuple[str, str]:
    """(fate, what happened) of one byte, drawn from all journals by their size."""
    shutil.rmtree(home, ignore_errors=True)
    folder = shutil.copytree(whole.folder, home / whole.folder.name)
    files = sorted(folder.glob("*.zst"))
    file = chance.choices(files, [file.stat().st_size for file in files])[0]
    data = bytearray(file.read_bytes())
    place = chance.randrange(len(data))
    data[place] ^= chance.randrange(1, 256)
    file.write_bytes(data)
    return _fate(whole, folder, file.name, f"{file.name}, byte {place} of {len(data)}")


def cut_and_judge(whole: Undisturbed, home: Path, name: str, lost: int) -> tuple[str, str]:
    """(fate, what happened) where a journal lacks so many bytes at its end."""
    shutil.rmtree(home, ignore_errors=True)
    folder = shutil.copytree(whole.folder, home / whole.folder.name)
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[: len(data) - lost])
    return _fate(whole, folder, name, f"{name}, without its last {lost} bytes")


def _fate(whole: Undisturbed, folder: Path, name: str, where: str) -> tuple[str, str]:
    sound = _judged(whole.folder)
    try:
        outcome = judge_journals(sorted(folder.glob("*-main-0.jsonl.zst")), None)
    except DraftgateError as error:
        named = name in str(error) and "byte" in str(error)
        return ("refused" if named else "silent"), f"{where}: {error}"
    if _shown(outcome) == _shown(sound):
        return "same", where
    missing = _says_what_is_missing(outcome, sound)
    return ("torn" if missing else "silent"), f"{where}: {_shown(outcome)}"


_SOUND: dict[Path, GateOutcome] = {}


def _judged(folder: Path) -> GateOutcome:
    if folder not in _SOUND:
        _SOUND[folder] = judge_journals(sorted(folder.glob("*-main-0.jsonl.zst")), None)
    return _SOUND[folder]


def _shown(outcome: GateOutcome) -> dict[str, Any]:
    return {
        "verdict": outcome.verdict.verdict,
        "codes": dict(outcome.codes),
        "counts": dict(outcome.counts),
        "bounds": {bound.name: bound.state for bound in outcome.verdict.bounds},
    }


def _says_what_is_missing(outcome: GateOutcome, sound: GateOutcome) -> bool:
    """Whether a note or a bound says of something that it is not there."""
    before = {bound.message for bound in sound.verdict.bounds} | set(sound.notes)
    said = {bound.message for bound in outcome.verdict.bounds} | set(outcome.notes)
    words = ("lack an answer", "lack a score", "torn", "cut off")
    return any(word in text for text in said - before for word in words)
