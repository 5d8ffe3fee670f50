"""Runs that are killed, and journals with flipped bytes: nothing is lost, doubled or judged anew.

    python -m evidence.attacks.chaos --kills 60 --flips 200

A gate over the stand-in servers of the tests (a sound candidate, and one that tears call arguments)
is ended by ``kill -9`` at random moments and at named points, up to three times, and resumed. Then
every turn must be in the journals once, and verdict and rows be those of a run nobody disturbed.
Flipped bytes must be named with file and byte, or cost a turn that is named, or change nothing.
Ends with 1 where one of these does not hold.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from evidence.attacks.flipped_bytes import FATES, flip_and_judge
from evidence.attacks.killed_runs import POINTS, Killed, Servers, killed_run, undisturbed
from evidence.markdown import table
from tests.support.paper.gate import K
from tests.support.paper.model import HashedVocabulary
from tests.support.paper.server import Faults, PaperServer, served
from tests.support.paper.spoiled import torn_arguments

PHASES = ("before the first turn", "candidate's turns", "baseline's turns", "judging and storing")


def _serve(torn: bool, said: Connection) -> None:
    """In a process of its own: both servers, until it is ended."""
    words = HashedVocabulary()
    faults = Faults(drafts=K, spoil=torn_arguments) if torn else Faults(drafts=K)
    pair = PaperServer(words), PaperServer(words, faults)
    with served(*pair):
        said.send((pair[0].url, pair[1].url))
        time.sleep(1e9)


@contextmanager
def servers(torn: bool) -> Iterator[Servers]:
    """The URLs of a baseline and a candidate that run meanwhile."""
    context = get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(torn, there), daemon=True)
    process.start()
    try:
        yield Servers(*here.recv())
    finally:
        process.kill()
        process.join()


@dataclass(frozen=True, slots=True)
class Sums:
    """What came of all kills or flips: how often each happened, and what must not happen."""

    counts: Counter[str]
    wrong: list[str]


def kill_runs(kills: int, home: Path, chance: random.Random) -> Sums:
    """So many runs are killed and resumed, half of them over a candidate with a fault."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for torn in (False, True):
        with servers(torn) as pair:
            reference = undisturbed(home / f"whole-{torn}", pair)
            wanted = kills // 2 + (kills % 2 if torn else 0)
            number = hit = 0
            while hit < wanted:
                point = chance.choice(["", "", *POINTS])
                place = home / f"kill-{torn}-{number}"
                found = killed_run(place, pair, reference, point, chance)
                number += 1
                hit += bool(found.killed)
                _count(found, point, counts)
                wrong += [f"{place.name} ({point or 'random'}): {what}" for what in found.wrong]
                shutil.rmtree(place)
                _say(f"{hit} of {wanted} runs killed, {len(wrong)} wrong")
    return Sums(counts, wrong)


def _count(found: Killed, point: str, counts: Counter[str]) -> None:
    counts["kills"] += len(found.killed)
    counts["runs"] += bool(found.killed)
    counts["runs that ended first"] += not found.killed
    for place, phase in enumerate(found.killed):
        counts[f"at: {point}" if point and place == 0 else f"in: {PHASES[phase]}"] += 1


def flip_bytes(flips: int, home: Path, chance: random.Random) -> Sums:
    """So many journals with one byte changed, each judged offline."""
    with servers(torn=True) as pair:
        whole = undisturbed(home / "flips", pair)
    fates: Counter[str] = Counter()
    wrong: list[str] = []
    for number in range(flips):
        fate, what = flip_and_judge(whole, home / "flipped", chance)
        fates[fate] += 1
        wrong += [f"flip {number}: {what}"] if fate == "silent" else []
        _say(f"{number + 1} of {flips} flips, {len(wrong)} wrong")
    return Sums(fates, wrong)


def _say(text: str) -> None:
    print(f"\r{text}   ", end="", file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Kill, flip, and print two tables."""
    parser = argparse.ArgumentParser(prog="python -m evidence.attacks.chaos", description=__doc__)
    parser.add_argument("--kills", type=int, default=60, help="runs that are killed")
    parser.add_argument("--flips", type=int, default=200, help="bytes that are flipped")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    chance = random.Random(given.seed)
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        for title, names, make, count in _parts(given.kills, given.flips):
            if count:
                sums = make(count, Path(folder), chance)
                rows = [(name, sums.counts[name]) for name in names if sums.counts[name]]
                print(f"\n{table((title, 'times'), rows)}\n")
                wrong += sums.wrong
    print(f"{len(wrong)} wrong")
    print(*wrong[:20], sep="\n")
    return 1 if wrong else 0


Make = Callable[[int, Path, random.Random], Sums]


def _parts(kills: int, flips: int) -> list[tuple[str, list[str], Make, int]]:
    of_kills = ["runs", "kills", *(f"in: {phase}" for phase in PHASES)]
    of_kills += [*(f"at: {point}" for point in POINTS), "runs that ended first"]
    return [
        ("killed runs", of_kills, kill_runs, kills),
        ("flipped bytes", list(FATES), flip_bytes, flips),
    ]


if __name__ == "__main__":
    sys.exit(main())
