"""CPU time of the streaming client per turn, beside a bare aiohttp loop on the same server.

python benchmarks/client.py [--turns 400] [--concurrency 4] [--journal]

per-event  draftgate 3.54 ms   bare aiohttp 3.58 ms   reads 63.7
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiohttp

from replay.sending.client import StreamClient
from traces.journal.journal import JournalWriter
from traces.wire.capture import CaptureKey

EVENTS = 64
REQUEST = {"model": "m", "messages": [{"role": "user", "content": "x" * 2000}], "stream": True}
Turn = Callable[[], Awaitable[int]]


async def cpu_ms(turn: Turn, turns: int, concurrency: int) -> tuple[float, float]:
    """(CPU milliseconds per turn, network reads per turn)."""
    await turn()
    waiting = iter(range(turns))
    reads = 0

    async def work() -> None:
        nonlocal reads
        for _ in waiting:
            count = await turn()
            reads += count

    start = time.process_time()
    await asyncio.gather(*(work() for _ in range(concurrency)))
    return (time.process_time() - start) / turns * 1000, reads / turns


async def measure(url: str, turns: int, concurrency: int, journal: bool) -> None:
    with tempfile.TemporaryDirectory() as folder, JournalWriter(Path(folder) / "j.zst") as writer:
        async with StreamClient(url) as client, aiohttp.ClientSession() as http:

            async def gate_client() -> int:
                capture = await client.send(CaptureKey("r", "p", "a", "s", "t"), REQUEST)
                if journal:
                    writer.add(capture)
                return len(capture.events)

            async def bare() -> int:
                reads = []
                async with http.post(url + "/v1/chat/completions", json=REQUEST) as answer:
                    async for read in answer.content.iter_any():
                        reads.append((time.perf_counter(), read))
                return len(reads)

            own, reads = await cpu_ms(gate_client, turns, concurrency)
            plain, _ = await cpu_ms(bare, turns, concurrency)
    print(f"draftgate {own:.2f} ms   bare aiohttp {plain:.2f} ms   reads {reads:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=400)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--journal", action="store_true", help="write each capture to a journal")
    options = parser.parse_args()
    server = Path(__file__).with_name("event_server.py")
    for mode in ("per-event", "one-write"):
        command = [sys.executable, str(server), str(EVENTS), mode]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            url = f"http://127.0.0.1:{int(process.stdout.readline())}"
            print(f"{mode:10} ", end="", flush=True)
            try:
                asyncio.run(measure(url, options.turns, options.concurrency, options.journal))
            finally:
                process.kill()


if __name__ == "__main__":
    main()
