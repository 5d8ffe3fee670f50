"""Streams of real vLLM 0.32 on every route, taken from the journals of a run of the embedded pair.

    python -m tests.support.recorded_streams RUN_FOLDER     # writes tests/traces/routes/streams.zst

The run asked for all routes: ``routes = ["messages", "responses", "completions"]``,
``plain_share = 1``.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import zstandard

from traces.journal.arm import SERVED
from traces.journal.journal import JournalReader
from traces.wire.route import Route

FILE = Path(__file__).parents[1] / "traces" / "routes" / "streams.zst"


def recorded_streams() -> Iterator[tuple[Route, bytes]]:
    """(route, body) of each."""
    with zstandard.open(FILE, "rt", encoding="utf-8") as lines:
        for line in lines:
            route, body = json.loads(line)
            yield route, body.encode()


def write_streams(folder: Path) -> int:
    """Take every answered stream of the served arms of a run; how many there are."""
    found = [
        (capture.route, capture.body.decode())
        for arm in SERVED
        for journal in sorted(folder.glob(f"*-{arm}-0.jsonl.zst"))
        for capture in JournalReader(journal)
        if capture.status == 200
    ]
    text = "".join(json.dumps(stream) + "\n" for stream in found)
    FILE.write_bytes(zstandard.ZstdCompressor(level=19).compress(text.encode()))
    return len(found)


if __name__ == "__main__":
    print(write_streams(Path(sys.argv[1])), "streams")
