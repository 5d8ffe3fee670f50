"""How fast recordings are imported, per format, against plain parsing of the same bytes.

    python -m benchmarks.readers                                    made-up conversations
    python -m benchmarks.readers traces/samples ../shared/sessions  recorded files

Made-up conversations are measured with messages of about 1 kB, as agents write them, and of about
5 kB. Speeds are by CPU seconds, the best of `ROUNDS`; files are in the page cache. Ratios, to
orjson and to the json of the standard library, are the middle ones of those of each round, in which
all are measured side by side: so they hold on a machine that others use too.
"""

import argparse
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import orjson

from tests.support.spellings import SPELLINGS, conversations
from traces.importing.importer import import_files

ROUNDS = 7
PARSINGS = 5
"""Times that the bytes are parsed in a round: once takes too little time to be measured well."""

LEAST_BYTES = 100_000
"""Smaller files measure what opening a file costs (0.2 ms), not the speed of its reader."""

PARSERS: tuple[Callable[[bytes], Any], ...] = (orjson.loads, json.loads)
LENGTHS = (1, 5)
"""How long the made-up files are."""


def parse_plainly(loads: Callable[[bytes], Any], file: Path) -> None:
    """Parse every line, or the whole file if it is one value; no use is made of the result."""
    data = file.read_bytes()
    try:
        loads(data)
    except ValueError:
        for line in data.split(b"\n"):
            try:
                loads(line)
            except ValueError:
                continue


def import_one(file: Path) -> None:
    """Import a file and drop its sessions."""
    for found in import_files([file]):
        found.drain()


def seconds(action: Callable[[Path], None], files: list[Path], times: int = 1) -> float:
    """CPU seconds of an action on all files, done `times` times."""
    begin = time.process_time()
    for _ in range(times):
        for file in files:
            action(file)
    return (time.process_time() - begin) / times


def speed(files: list[Path]) -> tuple[float, list[str]]:
    """MB/s of importing, and how many times longer it takes than each parser, if it is JSON."""
    size = sum(file.stat().st_size for file in files) / 1e6
    is_json = all(file.open("rb").read(1) in (b"{", b"[") for file in files)
    importing: list[float] = []
    ratios: list[list[float]] = [[] for _ in PARSERS]
    for _ in range(ROUNDS):
        importing.append(seconds(import_one, files))
        for loads, found in zip(PARSERS if is_json else (), ratios, strict=False):
            parsing = seconds(partial(parse_plainly, loads), files, PARSINGS)
            found.append(importing[-1] / parsing)
    shown = [f"{median(found):.1f}" if found else "n/a" for found in ratios]
    return size / min(importing), shown


def made_up(folder: Path) -> Iterable[tuple[str, list[list[Path]]]]:
    """The files of every spelling, one per length of messages."""
    for name, spelling in SPELLINGS.items():
        files = []
        for length in LENGTHS:
            if spelling.repeats:
                talks = conversations(7, 12 // length + 1, 12, length)
            elif spelling.many:
                talks = conversations(7, 20, 40 // length, length)
            else:
                talks = conversations(7, 1, 800 // length, length)
            files.append([folder / f"{name}-{length}"])
            files[-1][0].write_bytes(spelling.write(talks))
        yield name, files


def recorded(folders: list[Path]) -> Iterable[tuple[str, list[list[Path]]]]:
    """The files large enough to measure, by the format they are in."""
    found: dict[str, list[Path]] = defaultdict(list)
    for file in import_files(folders):
        if file.format and Path(file.file).stat().st_size >= LEAST_BYTES:
            found[file.format].append(Path(file.file))
    for name, files in sorted(found.items()):
        yield name, [files]


def main() -> None:
    """Print a line per format."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, help="recorded files to measure instead")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        rows = recorded(given.folders) if given.folders else made_up(Path(name))
        for title, sizes in rows:
            shown = []
            for files in sizes:
                importing, ratios = speed(files)
                shown.append(" | ".join([f"{importing:4.0f}", *(f"{r:>4}" for r in ratios)]))
            print(f"| {title:15} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    main()
