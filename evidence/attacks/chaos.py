"""Runs that are killed or disturbed, damaged files: nothing is lost, doubled or judged otherwise.

    python -m evidence.attacks.chaos --kills 60 --flips 200 --disturbed 5 --cuts 60 --pairs 10

A gate over the stand-in servers of the tests (a sound candidate, and one that tears call arguments)
is ended by ``kill -9`` at random moments and at named points, up to three times, and resumed. Then
every turn must be in the journals once, and verdict and rows be those of a run nobody disturbed.
The same after each disturbance of `bad_machines`, which must end in a verdict or in an error with
its fix; of two gates at once; and of a store that is cut off. Flipped bytes of a journal must be
named with file and byte, or cost a turn that is named, or change nothing. Ends with 1 where one of
these does not hold.
"""

import argparse
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evidence.attacks.bad_machines import NAMES, disturbed_run
from evidence.attacks.commands import prepared, whole_run
from evidence.attacks.cut_stores import STORE, cut_store, lengths
from evidence.attacks.flipped_bytes import FATES, flip_and_judge
from evidence.attacks.killed_runs import POINTS, Killed, killed_run, undisturbed
from evidence.attacks.served_pair import servers
from evidence.attacks.side_by_side import one_run, one_store
from evidence.attacks.snapshot import Undisturbed
from evidence.markdown import table

ENDINGS = {2: "error with its fix", 130: "interrupted", 141: "reader gone", None: "hung"}
"""Exit code -> how a disturbed run ended; every other code must be that of its verdict."""

PHASES = ("before the first turn", "candidate's turns", "baseline's turns", "judging and storing")


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


def disturb_runs(each: int, home: Path, chance: random.Random) -> Sums:
    """Every disturbance so many times: how the run ended, and what it was when it had gone on."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    with servers(torn=True) as pair:
        whole = _whole(prepared(home / "undisturbed", pair))
        for number in range(each):
            for place, name in enumerate(NAMES):
                folder = home / f"disturbed-{number}-{place}"
                found = disturbed_run(folder, pair, whole, name, chance)
                counts[f"{name}: {ENDINGS.get(found.code, 'verdict')}"] += 1
                wrong += [f"{name}, {number}: {what}" for what in found.wrong]
                shutil.rmtree(folder)
                _say(f"{number + 1} of {each}, {name}, {len(wrong)} wrong")
    return Sums(counts, wrong)


def cut_stores(cuts: int, home: Path, chance: random.Random) -> Sums:
    """A store cut at so many lengths."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    with servers(torn=True) as pair:
        whole = _whole(prepared(home / "stored", pair))
        size = (home / "stored" / STORE).stat().st_size
        for length in lengths(size, cuts, chance):
            found = cut_store(whole, home / "cut", length)
            counts["lengths"] += 1
            counts["questions refused"] += found.refused
            counts["questions answered as before"] += found.answered
            wrong += found.wrong
            _say(f"{counts['lengths']} of {cuts} cuts, {len(wrong)} wrong")
    return Sums(counts, wrong)


def run_pairs(pairs: int, home: Path, chance: random.Random) -> Sums:
    """So many times two gates at once, on one store and on one run."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    with servers(torn=True) as pair:
        whole = _whole(prepared(home / "alone", pair))
        for number in range(pairs):
            for name, attempt in (("one store", one_store), ("one run", one_run)):
                folder = home / f"{name}-{number}"
                folder.mkdir()
                counts[name] += 1
                wrong += [f"{name}: {what}" for what in attempt(folder, pair, whole, chance)]
                shutil.rmtree(folder)
            _say(f"{number + 1} of {pairs} pairs, {len(wrong)} wrong")
    return Sums(counts, wrong)


def _whole(home: Path) -> Undisturbed:
    whole, ended = whole_run(home)
    if whole is None:
        raise RuntimeError(f"the undisturbed run ended with {ended.code}: {ended.err}")
    return whole


def _say(text: str) -> None:
    print(f"\r{text}   ", end="", file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Kill, flip, disturb, cut, and print a table of each."""
    parser = argparse.ArgumentParser(prog="python -m evidence.attacks.chaos", description=__doc__)
    parser.add_argument("--kills", type=int, default=60, help="runs that are killed")
    parser.add_argument("--flips", type=int, default=200, help="bytes that are flipped")
    parser.add_argument("--disturbed", type=int, default=5, help="runs of each disturbance")
    parser.add_argument("--cuts", type=int, default=60, help="lengths at which a store is cut")
    parser.add_argument("--pairs", type=int, default=10, help="times two gates run at once")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    chance = random.Random(given.seed)
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        for title, names, make, count in _parts(given):
            if count:
                sums = make(count, Path(folder), chance)
                rows = [(name, sums.counts[name]) for name in names or sorted(sums.counts)]
                rows = [row for row in rows if row[1]]
                print(f"\n{table((title, 'times'), rows)}\n")
                wrong += sums.wrong
    print(f"{len(wrong)} wrong")
    print(*wrong[:20], sep="\n")
    return 1 if wrong else 0


Make = Callable[[int, Path, random.Random], Sums]


def _parts(given: argparse.Namespace) -> list[tuple[str, Sequence[str], Make, int]]:
    """(title, rows of its table in order or none, what makes it, how often)."""
    of_kills = ["runs", "kills", *(f"in: {phase}" for phase in PHASES)]
    of_kills += [*(f"at: {point}" for point in POINTS), "runs that ended first"]
    return [
        ("killed runs", of_kills, kill_runs, given.kills),
        ("flipped bytes", list(FATES), flip_bytes, given.flips),
        ("disturbed runs", (), disturb_runs, given.disturbed),
        ("stores cut off", (), cut_stores, given.cuts),
        ("two gates at once", (), run_pairs, given.pairs),
    ]


if __name__ == "__main__":
    sys.exit(main())
