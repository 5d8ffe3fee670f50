"""How much memory an import of a large folder takes.

    python -m benchmarks.reader_memory --mb 2048 traces/samples

A folder is filled with copies of the recordings named and with made-up ones of every format, up to
that size; `draftgate import` and `draftgate inspect` run over it in processes of their own.
"""

import argparse
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.support.spellings import SPELLINGS, conversations


def sources(folder: Path, recordings: list[Path]) -> list[Path]:
    """The recordings, and a file of about 1 MB in every format."""
    made = []
    for name, spelling in SPELLINGS.items():
        number, responses = (4, 12) if spelling.repeats else (10, 40) if spelling.many else (1, 400)
        made.append(folder / name)
        made[-1].write_bytes(spelling.write(conversations(11, number, responses)))
    return made + [file for path in recordings for file in path.rglob("*") if file.is_file()]


def fill(folder: Path, files: list[Path], size: int) -> tuple[int, int]:
    """Copy `files` in turn until there are `size` bytes; number of copies, bytes."""
    written = 0
    for number in itertools.count(1):
        source = files[number % len(files)]
        shutil.copyfile(source, folder / f"{number:06}-{source.name}")
        written += source.stat().st_size
        if written >= size:
            return number, written
    raise AssertionError


def run(title: str, command: list[str]) -> None:
    """Run a command and print what it took."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    print(
        f"{title}: {used.ru_maxrss / 1024:.0f} MB peak, {time.monotonic() - begin:.0f} s,"
        f" {used.ru_utime + used.ru_stime:.0f} s CPU, exit code {os.waitstatus_to_exitcode(status)}"
    )


def main() -> None:
    """Fill a folder and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recordings", nargs="*", type=Path, help="folders of recorded files")
    parser.add_argument("--mb", type=int, default=2048)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        (work / "sources").mkdir()
        (work / "logs").mkdir()
        files = sources(work / "sources", given.recordings)
        number, size = fill(work / "logs", files, given.mb * 1_000_000)
        print(f"{number} files, {size / 1e6:.0f} MB")
        draftgate = [sys.executable, "-m", "draftgate"]
        out = ["-o", str(work / "sessions.jsonl")]
        run("import", [*draftgate, "import", str(work / "logs"), *out, "--json"])
        run("inspect", [*draftgate, "inspect", str(work / "logs"), "--json"])
        sample = [*out, "--sample", "100", "--json"]
        run("import --sample 100", [*draftgate, "import", str(work / "logs"), *sample])


if __name__ == "__main__":
    main()
