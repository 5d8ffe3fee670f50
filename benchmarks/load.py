"""How fast a run's journal becomes rows of the store, stage by stage.

python benchmarks/load.py [--captures 1000]            made-up captures, as vLLM streams them
python benchmarks/load.py --journal FILE --k 3         the candidate's journal of a run

Made-up captures hold 500 output tokens each in engine steps of k = 3, one event a step, with token
ids and five alternatives a token. Prints draft positions per second of wall and of CPU time: on a
busy machine only the latter means something. `floor` is what no reader of these bytes can do
without: decompress, decode the record, decode every event into types, and drop it all.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import orjson
from msgspec.json import Decoder

from checks.acceptance.drafting import Drafting
from checks.sessions.reading import Reading, read_exchange
from draftgate.run.folder import add_journal
from reports.rows.exchanges import ExchangeRows
from reports.schema.records import RunTables
from reports.store.store import Store
from traces.journal.exchange import Evidence, Exchange
from traces.journal.frames import FrameReader
from traces.journal.journal import JournalWriter
from traces.wire.capture import Capture, CaptureKey
from traces.wire.chunk import WireChunk

TOKENS, K, RUN = 500, 3, "benchmark"
ANSWER = (
    "The price is summed without tax; the test expects it with tax.\n\n```python\n"
    "def total(prices):\n    return sum(price * 1.2 for price in prices)\n```\n"
    '<tool_call>\n{"name": "write", "arguments": {"path": "shop.py", "content": "x = 1", "n": 3}}\n'
    "</tool_call>\n"
)
Stage = tuple[str, float, float]
"""(name, seconds of wall time, seconds of CPU time)."""


def capture_of(number: int) -> Capture:
    """One capture; sessions of ten turns."""
    rng = np.random.default_rng(number)
    pieces = [ANSWER[i : i + 4] for i in range(0, len(ANSWER), 4)]
    committed, accepted = [1], []
    while (left := TOKENS - sum(committed)) > 0:
        accepted.append(int(min(rng.geometric(0.4) - 1, K, left - 1)))
        committed.append(accepted[-1] + 1)
    events, at = [], 0
    for step, count in enumerate(committed):
        places = range(at, at + count)
        choice = {
            "index": 0,
            "delta": {"content": "".join(pieces[i % len(pieces)] for i in places)},
            "token_ids": [i % len(pieces) for i in places],
            "logprobs": {"content": [_entry(i % len(pieces), pieces) for i in places]},
            "finish_reason": "stop" if step == len(committed) - 1 else None,
        }
        chunk = {"object": "chat.completion.chunk", "choices": [choice]}
        events.append((10.0 * step, _data(chunk)))
        at += count
    usage = {
        "usage": {"prompt_tokens": 5000, "completion_tokens": TOKENS},
        "metrics": {
            "speculative_decoding": {
                "per_step_accepted": accepted,
                "per_step_drafted": [K] * len(accepted),
                "num_spec_steps": len(accepted),
            }
        },
        "choices": [],
    }
    events += [(10.0 * len(committed), _data(usage)), (10.0 * len(committed), "data: [DONE]\n\n")]
    key = CaptureKey(RUN, "candidate", "main", f"s{number // 10:04}", f"t{number % 10}")
    return Capture(key, {"messages": []}, 200, 1.7e9 + number, tuple(events), "done")


def _data(chunk: dict[str, object]) -> str:
    head = {"id": "chatcmpl-acf884566f89483d", "object": "chat.completion.chunk"}
    whole = {**head, "created": 1795992839, "model": "draftgate-pair", **chunk}
    return f"data: {orjson.dumps(whole).decode()}\n\n"


def _entry(token: int, pieces: list[str]) -> dict[str, object]:
    listed = [_listed(token + 7 * i, -0.10656742961145937 - i) for i in range(5)]
    own = {**_listed(token, -0.10656742961145937), "bytes": list(pieces[token].encode())}
    return {**own, "top_logprobs": listed}


def _listed(token: int, logprob: float) -> dict[str, object]:
    name = f"token_id:{token}"
    return {"token": name, "logprob": logprob, "bytes": list(name.encode())}


def floor(journal: Path) -> None:
    """Decode every byte of the journal once, into types, and keep nothing."""
    event = Decoder(WireChunk).decode
    for line in FrameReader(journal):
        for _, read in orjson.loads(line)["events"]:
            for part in read.split("\n"):
                if part.startswith("data: {"):
                    event(part[6:])


@contextmanager
def timed(name: str, stages: list[Stage]) -> Iterator[None]:
    """Add a stage."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    stages.append((name, time.perf_counter() - wall, time.process_time() - cpu))


def load(journal: Path, db: Path, k: int, stages: list[Stage]) -> int:
    """Every stage from the journal to the store; returns the draft positions loaded."""
    with timed("journal read and reassembled", stages):
        evidence = Evidence()
        add_journal(evidence, journal)
        exchanges = list(evidence)
    with timed("labeled, steps reconciled, joined", stages):
        drafting = Drafting("eagle3", k)
        readings = [read_exchange(e, "hermes", drafting, "template") for e in exchanges]
    with timed("as Arrow", stages):
        tables = tables_of(exchanges, readings)
    with timed("into the store", stages), Store.open(db, write=True) as store:
        store.load(tables)
    return len(tables.draft_positions)


def tables_of(exchanges: list[Exchange], readings: list[Reading]) -> RunTables:
    """The rows of a run that holds these captures and nothing else."""
    rows = ExchangeRows(str)
    for reading in readings:
        rows.add(reading, (), 1e-5)
    keys = [exchange.key for exchange in exchanges]
    run = keys[0].run
    facts = {"run": run, "started_at": 1.7e9, "verdict": "pass", "reasons": [], "tool_version": "0"}
    turn = {"run": run, "turn_index": 0, "replayable": True}
    return RunTables(
        runs=[facts],
        sessions=[{"run": run, "session": name} for name in dict.fromkeys(k.session for k in keys)],
        turns=[{**turn, "session": key.session, "turn": key.turn} for key in keys],
        captures=rows.captures,
        tokens=rows.tokens.table(),
        steps=rows.steps.table(),
        draft_positions=rows.positions.table(),
    )


def made_up(folder: Path, captures: int) -> Path:
    """A journal of as many captures."""
    journal = folder / "candidate-main-0.jsonl.zst"
    with JournalWriter(journal) as writer:
        for number in range(captures):
            writer.add(capture_of(number))
    return journal


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--captures", type=int, default=1000, help="turns in a made-up journal")
    parser.add_argument("--journal", type=Path, help="a candidate's journal instead")
    parser.add_argument("--k", type=int, default=K, help="num_speculative_tokens of its run")
    arguments = parser.parse_args()
    stages: list[Stage] = []
    with tempfile.TemporaryDirectory() as folder:
        journal = arguments.journal or made_up(Path(folder), arguments.captures)
        with timed("floor", stages):
            floor(journal)
        db = Path(folder) / "store.duckdb"
        Store.open(db, write=True).close()
        positions = load(journal, db, arguments.k, stages)
    least, *stages = stages
    total = ("end to end", *np.sum([stage[1:] for stage in stages], axis=0).tolist())
    for name, wall, cpu in [least, *stages, total]:
        print(f"{name:36}{positions / wall:12,.0f} a second{positions / cpu:12,.0f} a CPU second")
    print(f"{positions:,} positions; end to end takes {total[2] / least[2]:.1f} times the floor")


if __name__ == "__main__":
    main()
