"""What `draftgate record` adds to each request and event, beside a direct connection.

python -m benchmarks.recorder [--rounds 9]

Upstream, recorder and client are processes of their own; what passes is recorded. Direct and
recorded requests take turns one by one, streams in short runs. A quantile is that of one round;
shown are medians over the rounds, of both sides and of their differences, and the round in which
the direct side was quickest: on a machine that does other work too, the quantiles of the others are
partly that work's, and CPU time is what can be compared. An event holds the moment at which the
upstream wrote it, on the clock that all processes share. CPU is that of the forwarding process.
"""

import argparse
import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

STAMP = re.compile(rb'"t":(\d+)')
BODY_BYTES = 100_000
REQUESTS, PAUSE_S = 100, 0.02
SHORT_RUNS, EVENTS, GAP_US = 4, 60, 5000
BUSY_STREAMS, BUSY_EVENTS, BUSY_GAP_US = 32, 200, 8000


@dataclass
class Seen:
    """What one connection measured: ms to the first byte of each answer, ms of each event."""

    first_ms: list[float] = field(default_factory=list)
    event_ms: list[float] = field(default_factory=list)
    reads: int = 0


class Client:
    """One connection, on which requests follow each other."""

    def __init__(self, port: int, seen: Seen) -> None:
        self.port, self.seen = port, seen

    async def __aenter__(self) -> "Client":
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    async def __aexit__(self, *error: object) -> None:
        self.writer.close()

    async def ask(self, events: int, gap_us: int) -> None:
        """One request of `BODY_BYTES`, answered by so many events."""
        content = os.urandom(8).hex() + "x" * BODY_BYTES
        body = b'{"model":"m","messages":[{"role":"user","content":"%s"}]}' % content.encode()
        target = f"/v1/chat/completions?events={events}&gap_us={gap_us}"
        head = f"POST {target} HTTP/1.1\r\nHost: h\r\nContent-Length: {len(body)}\r\n\r\n"
        start, tail, first = time.perf_counter_ns(), b"", True
        self.writer.write(head.encode() + body)
        while not tail.endswith(b"0\r\n\r\n"):
            read = await self.reader.read(1 << 16)
            now = time.perf_counter_ns()
            if first:
                self.seen.first_ms.append((now - start) / 1e6)
                first = False
            self.seen.reads += 1
            self.seen.event_ms += [(now - int(stamp)) / 1e6 for stamp in STAMP.findall(read)]
            tail = (tail + read)[-16:]


async def streams(port: int, count: int, events: int, gap_us: int) -> Seen:
    """So many streams side by side."""
    seen = Seen()

    async def one() -> None:
        async with Client(port, seen) as client:
            await client.ask(events, gap_us)

    await asyncio.gather(*(one() for _ in range(count)))
    return seen


async def alternating(direct: int, proxied: int) -> list[Seen]:
    """`REQUESTS` of one event each, direct and recorded in turns."""
    found = [Seen(), Seen()]
    async with Client(direct, found[0]) as one, Client(proxied, found[1]) as other:
        for _ in range(REQUESTS):
            await one.ask(1, 0)
            await other.ask(1, 0)
            await asyncio.sleep(PAUSE_S)
    return found


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def cpu_s(pid: int) -> float:
    """Time that a process was on a CPU, in seconds: what others do on the machine is not in it."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def in_turns(direct: int, proxied: int, count: int) -> list[Seen]:
    """Short runs of streams, direct and recorded in turns."""
    found = [Seen(), Seen()]
    for _ in range(SHORT_RUNS):
        for port, seen in zip((direct, proxied), found, strict=True):
            seen.event_ms += asyncio.run(streams(port, count, EVENTS, GAP_US)).event_ms
    return found


def shown(name: str, unit: str, rows: list[tuple[float, float]]) -> None:
    direct, proxied = (median(row[side] for row in rows) for side in (0, 1))
    added = median(row[1] - row[0] for row in rows)
    calm = min(rows)
    print(
        f"{name:24} direct {direct:7.3f}  recorded {proxied:7.3f}  added {added:7.3f} {unit}"
        f"   calmest round: {calm[0]:.3f} and {calm[1]:.3f}"
    )


def quantiles(name: str, rounds: list[list[list[float]]]) -> None:
    """Lines for one measure, of which each round gives the values of both sides."""
    for share in (0.5, 0.99):
        rows = [(quantile(one, share), quantile(other, share)) for one, other in rounds]
        shown(f"{name}, p{share * 100:.0f}", "ms", rows)


def run(direct: int, proxied: int, pid: int, rounds: int) -> None:
    for port in (direct, proxied):
        asyncio.run(streams(port, 4, 50, 0))
    before = cpu_s(pid)
    found = [asyncio.run(alternating(direct, proxied)) for _ in range(rounds)]
    per_request = (cpu_s(pid) - before) / (rounds * REQUESTS)
    quantiles("request", [[seen.first_ms for seen in pair] for pair in found])
    for count in (1, 8):
        pairs = [in_turns(direct, proxied, count) for _ in range(rounds)]
        name = f"event of {count} stream{'s' * (count > 1)}"
        quantiles(name, [[seen.event_ms for seen in pair] for pair in pairs])
    per_event, rates, joined = [], [], []
    for _ in range(rounds):
        before, start = cpu_s(pid), time.perf_counter()
        seen = asyncio.run(streams(proxied, BUSY_STREAMS, BUSY_EVENTS, BUSY_GAP_US))
        took = time.perf_counter() - start
        per_event.append((cpu_s(pid) - before) / len(seen.event_ms))
        rates.append(len(seen.event_ms) / took)
        joined.append(len(seen.event_ms) / seen.reads)
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    print(f"CPU of a request         {per_request * 1e3:8.3f} ms")
    print(
        f"CPU of an event           {median(per_event) * 1e6:7.1f} us: "
        f"{1 / median(per_event):,.0f} events/s on one core "
        f"(measured at {median(rates):,.0f} events/s, {median(joined):.2f} events a read)"
    )
    print(f"processes that wanted a core at the end: {load:.1f} for each")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    server = [sys.executable, str(Path(__file__).with_name("stamped_server.py"))]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(server, stdout=subprocess.PIPE, text=True) as upstream,
    ):
        assert upstream.stdout is not None
        direct = int(upstream.stdout.readline())
        command = [sys.executable, "-m", "draftgate", "record", "-o", folder]
        command += ["--upstream", f"http://127.0.0.1:{direct}", "--listen", "127.0.0.1:0"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as recorder:
            assert recorder.stderr is not None
            url = recorder.stderr.readline().split()[0]
            try:
                run(direct, int(url.rpartition(":")[2]), recorder.pid, options.rounds)
            finally:
                recorder.send_signal(signal.SIGTERM)
                recorder.wait()
                upstream.kill()


if __name__ == "__main__":
    main()
