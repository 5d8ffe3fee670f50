"""A store cut off at some length, as a broken copy leaves it, and what is read of it.

Every command must say what is wrong and how to go on, or answer as from the whole file; and a run
that is resumed with that file moved away must store the same rows again.
"""

import random
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evidence.attacks.commands import Ended, command, whole_run
from evidence.attacks.snapshot import Undisturbed, differences
from traces.errors import StoreError

STORE = "store.duckdb"

READ = (
    ["sql", "--json", "select count(*) from tokens"],
    ["query", "--json", "verdicts"],
    ["report", "--json", "last", "--markdown", "report.md"],
)
"""Commands that read a store."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Commands that refused the file, commands that answered as from the whole one, and what is
    wrong."""

    refused: int
    answered: int
    wrong: tuple[str, ...]


def lengths(size: int, count: int, chance: random.Random) -> list[int]:
    """So many lengths below `size`: the ends of the file's headers and blocks first, then any."""
    edges = [0, 1, 4095, 4096, 8192, 12287, 12288, 12289, size - 1, size // 2]
    more = (chance.randrange(size) for _ in range(max(0, count - len(edges))))
    return sorted({*edges[:count], *more})


def cut_store(whole: Undisturbed, home: Path, length: int) -> Cut:
    """Cut a copy of a run's store at `length` bytes, ask it, and let the run go on."""
    shutil.rmtree(home, ignore_errors=True)
    source = whole.folder.parents[2]
    shutil.copytree(source, home)
    with (home / STORE).open("r+b") as file:
        file.truncate(length)
    refused, wrong = 0, []
    for words in READ:
        found, sound = command(home, [*words, "--db", STORE]), _sound(source, words)
        refused += found.code == 2
        if found.code == 2:
            wrong += [f"{words[0]}: {what}" for what in _unclear(found)]
        elif (found.code, found.out) != (sound.code, sound.out):
            wrong.append(f"{words[0]}: {found.code}, another answer: {found.out or found.err}")
    found = command(home, ["gate", "--json", "--resume", whole.said["run"]])
    if found.verdict and found.code != whole.said["verdict"][0]:
        wrong.append(f"gate: ended with {found.code}")
    if not found.verdict:
        wrong += [f"gate: {what}" for what in _unclear(found)]
        (home / STORE).unlink()
    wrong += _as_before(home, whole)
    return Cut(
        refused, len(READ) - refused, tuple(f"cut at {length}: {what}"[:600] for what in wrong)
    )


_SOUND: dict[tuple[str, ...], Ended] = {}


def _sound(source: Path, words: Sequence[str]) -> Ended:
    """What the whole file answers."""
    key = (str(source), *words)
    if key not in _SOUND:
        _SOUND[key] = command(source, [*words, "--db", STORE])
    return _SOUND[key]


def _unclear(found: Ended) -> list[str]:
    """What is missing in an error, or must not be in it."""
    wrong = [] if found.code == 2 else [f"ended with {found.code}"]
    if "Traceback" in found.err or "draftgate itself failed" in found.err:
        wrong.append(f"an accident: {found.err[-400:]}")
    if STORE not in found.err or "\nfix: " not in found.err:
        wrong.append(f"no error that names the file, with its fix: {found.err[-300:]}")
    return wrong


def _as_before(home: Path, whole: Undisturbed) -> list[str]:
    try:
        again, last = whole_run(home)
    except StoreError as error:  # the verdict could be read, and not all rows
        if STORE not in str(error):
            return [f"an error that does not name the file: {error}"]
        (home / STORE).unlink()
        again, last = whole_run(home)
    if again is None:
        return [f"cannot go on: {last.err[-300:]}"]
    return differences(again, whole)
