"""How fast recordings are imported, per format, against plain orjson parsing of the same bytes.

    python benchmarks/readers.py traces/samples ../shared/sessions
    python benchmarks/readers.py traces/samples --folder-mb 2048

The second form fills a folder with copies up to that size, imports it in a process of its own, and
reports that process's peak memory. Times are CPU seconds, the best of `ROUNDS`; files are in the
page cache.
"""

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import orjson

from traces.importer import import_files

ROUNDS = 3
LEAST_BYTES = 20_000
"""Smaller files measure the start-up of a reader, not its speed."""


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


def by_format(folders: list[Path]) -> dict[str, list[Path]]:
    """The files large enough to measure, by the format they are in."""
    found: dict[str, list[Path]] = defaultdict(list)
    for file in import_files(folders):
        path = Path(file.file)
        if file.format and path.stat().st_size >= LEAST_BYTES and path.suffix != ".parquet":
            found[file.format].append(path)
    return found


def measure(folders: list[Path]) -> None:
    """Print one line per format."""
    print(f"{'format':16} {'files':>5} {'MB':>7} {'MB/s':>7} {'orjson MB/s':>12} {'ratio':>6}")
    for name, files in sorted(by_format(folders).items()):
        size = sum(file.stat().st_size for file in files) / 1e6
        importing, parsing = best(import_one, files), best(parse_plainly, files)
        print(
            f"{name:16} {len(files):5} {size:7.2f} {size / importing:7.1f}"
            f" {size / parsing:12.1f} {importing / parsing:6.1f}"
        )


def measure_folder(folders: list[Path], megabytes: int) -> None:
    """Fill a folder with copies, import it in another process, print its speed and peak memory."""
    sources = [path for files in by_format(folders).values() for path in files]
    with tempfile.TemporaryDirectory() as name:
        written, number = 0, 0
        while written < megabytes * 1e6:
            source = sources[number % len(sources)]
            shutil.copyfile(source, Path(name) / f"{number:06}-{source.name}")
            written += source.stat().st_size
            number += 1
        code = "import sys; from benchmarks.readers import import_one as f; f(sys.argv[1])"
        subprocess.run([sys.executable, "-c", code, name], check=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    speed = written / 1e6 / (used.ru_utime + used.ru_stime)
    peak = used.ru_maxrss / 1024
    print(f"{number} files, {written / 1e6:.0f} MB: {speed:.1f} MB/s, {peak:.0f} MB peak")


def main() -> None:
    """Parse the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--folder-mb", type=int, help="fill a folder of this size and import it")
    given = parser.parse_args()
    if given.folder_mb:
        measure_folder(given.folders, given.folder_mb)
    else:
        measure(given.folders)


if __name__ == "__main__":
    main()
