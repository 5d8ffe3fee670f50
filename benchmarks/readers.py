"""How fast recordings are imported, per format, against plain orjson parsing of the same bytes.

    python -m benchmarks.readers                                    made-up conversations
    python -m benchmarks.readers traces/samples ../shared/sessions  recorded files

Made-up conversations are measured with messages of about 1 kB, as agents write them, and of about
5 kB. Times are CPU seconds, the best of `ROUNDS`; files are in the page cache.
"""

import argparse
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import orjson

from benchmarks.spellings import SPELLINGS, conversations
from traces.importer import import_files

ROUNDS = 5
LEAST_BYTES = 100_000
"""Smaller files measure what opening a file costs (0.2 ms), not the speed of its reader."""

LENGTHS = (1, 5)
BYTES = 2_000_000
"""Size of a made-up file, about."""


def parse_plainly(file: Path) -> None:
    """Parse every line, or the whole file if it is one value; no use is made of the result."""
    data = file.read_bytes()
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError:
        for line in data.split(b"\n"):
            try:
                orjson.loads(line)
            except orjson.JSONDecodeError:
                continue


def import_one(file: Path) -> None:
    """Import a file and drop its sessions."""
    for found in import_files([file]):
        found.drain()


def best(action: Callable[[Path], None], files: list[Path]) -> float:
    """CPU seconds of the best round."""
    times = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        for file in files:
            action(file)
        times.append(time.process_time() - begin)
    return min(times)


def speeds(files: list[Path]) -> tuple[float, float]:
    """MB/s of importing and of plain parsing; the latter 0 where the files are no JSON."""
    size = sum(file.stat().st_size for file in files) / 1e6
    is_json = all(file.open("rb").read(1) in (b"{", b"[") for file in files)
    return size / best(import_one, files), size / best(parse_plainly, files) if is_json else 0


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
                importing, parsing = speeds(files)
                ratio = f"{parsing / importing:.1f}" if parsing else "n/a"
                shown.append(f"{importing:4.0f} | {parsing:4.0f} | {ratio:>4}")
            print(f"| {title:15} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    main()
