"""How quick and how small the store is: loads made-up runs and asks every named question.

    python tools/benchmark_store.py --positions 50000000 --db /tmp/benchmark.duckdb

Prints the rows inserted per second from ready Arrow, and how many that are where checks and a
digest are made of them too, as a load does (half of the rows are draft positions); bytes per draft
position (whole file: steps and tokens included), seconds per named query, and the peak of
memory. CPU seconds stand beside wall seconds: on a busy machine only they mean something.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from reports.schema import ENUMS
from reports.schema.records import RunTables
from reports.sql.query import answer, queries
from reports.sql.sql import open_sealed
from reports.store.loading import insert
from reports.store.store import Store

SESSIONS, TURNS, STEPS, K = 50, 20, 167, 3
POSITIONS_PER_RUN = SESSIONS * TURNS * STEPS * K
LABELS = ENUMS["label_name"]
Row = dict[str, Any]


def made_up_run(number: int) -> RunTables:
    """A run of 501,000 draft positions in 1,000 captures; values differ from run to run."""
    rng = np.random.default_rng(number)
    run = f"run-{number:04}"
    captures = SESSIONS * TURNS
    steps = captures * STEPS
    of_step = np.repeat(np.arange(captures), STEPS)
    accepted = np.minimum(rng.geometric(0.4, steps) - 1, K)
    committed = accepted + 1
    first = 1 + np.cumsum(committed).reshape(captures, STEPS)
    first = (first - first[:, :1] + 1).ravel()
    token_label = rng.integers(0, len(LABELS), captures * 40)
    step_label = token_label[of_step * 40 + np.minimum(first // 18, 39)]
    tokens = np.bincount(of_step, committed).astype(int)
    of_token = np.repeat(np.arange(captures), tokens)
    token_index = np.arange(tokens.sum()) - np.repeat(np.cumsum(tokens) - tokens, tokens)
    vocabulary = [f" w{i}" for i in range(2000)]
    ids = rng.zipf(1.3, len(of_token)) % 2000
    key = _capture_columns(run)
    profile, places = _profile(run, rng)
    return RunTables(
        **_rows(run, number),
        captures=_captures(rng, key, tokens),
        acceptance=profile,
        acceptance_positions=places,
        tokens=pa.table(
            {
                **key(of_token),
                "token_index": pa.array(token_index),
                "id": pa.array(ids),
                "text": _words(vocabulary, ids),
                "label": _words(LABELS, rng.integers(0, 16, captures * 40)[of_token * 40]),
                "logprob": pa.array(-rng.exponential(0.5, len(of_token)).astype(np.float32)),
                "regret": pa.array(np.zeros(len(of_token), np.float32)),
            }
        ),
        steps=pa.table(
            {
                **key(of_step),
                "step": pa.array(np.tile(np.arange(1, STEPS + 1), captures)),
                "drafted": pa.array(np.full(steps, K)),
                "accepted": pa.array(accepted),
                "committed": pa.array(committed),
                "first_token": pa.array(first),
                "label": _words(LABELS, step_label),
            }
        ),
        draft_positions=_positions(key, first, accepted, of_step, token_label, number),
    )


def _positions(
    key: Any, first: Any, accepted: Any, of_step: Any, token_label: Any, number: int
) -> pa.Table:
    """Every position of every draft; arrays have one entry per step, labels 40 per capture."""
    steps = len(of_step)
    position = np.tile(np.arange(K, dtype=np.uint8), steps)
    of_position = np.repeat(np.arange(steps), K)
    reached = position <= accepted[of_position]
    index = first[of_position] + position
    capture = of_step[of_position]
    label = token_label[capture * 40 + np.minimum(index // 18, 39)]
    band = capture % TURNS // 5
    return pa.table(
        {
            **key(capture),
            "step": pa.array(np.tile(np.repeat(np.arange(1, STEPS + 1), K), steps // STEPS)),
            "position": pa.array(position),
            "token_index": pa.array(index, mask=~reached),
            "label": _words(LABELS, label, ~reached),
            "reached": pa.array(reached),
            "accepted": pa.array(position < accepted[of_position]),
            "distance": _words(ENUMS["distance_name"], np.digitize(index % 18, [1, 2, 3, 8])),
            "crossing": _words(
                [f"{a}>{b}" for a in LABELS for b in LABELS],
                (label * 16 + (label * 7 + number) % 16),
            ),
            "context_band": _words(ENUMS["context_name"], band),
            "template": _words([f"t{i}" for i in range(4)], (capture // TURNS) % 4),
            "tool": _words(["bash", "edit", "read"], label % 3, label < 7),
            "cached": pa.array(capture % TURNS > 0),
        }
    )


def _captures(rng: np.random.Generator, key: Any, tokens: Any) -> pa.Table:
    """The captures of both paths; `tokens` are the output lengths."""
    captures = len(tokens)
    return pa.concat_tables(
        pa.table(
            {
                **key(np.arange(captures), path),
                "ended": pa.array(["done"] * captures),
                "finish_reason": pa.array(["stop"] * captures),
                "status": pa.array(np.full(captures, 200)),
                "completion_tokens": pa.array(tokens),
                "prompt_tokens": pa.array(rng.integers(100, 30000, captures)),
                "ttft_ms": pa.array(rng.gamma(5, 20, captures)),
                "tpot_ms": pa.array(rng.gamma(50, pace, captures)),
                "max_gap_ms": pa.array(rng.gamma(5, 10, captures)),
                "aligned": pa.array([True] * captures),
            }
        )
        for path, pace in (("candidate", 0.2), ("baseline", 0.3))
    )


def _rows(run: str, number: int) -> dict[str, list[dict[str, Any]]]:
    """The small tables: the run, its paths, sessions, turns and pairs."""
    turns = [
        ({"run": run, "session": f"s{s:03}", "turn": f"{t:03}"}, t)
        for s in range(SESSIONS)
        for t in range(TURNS)
    ]
    judged = {"comparison": "candidate", "judged": True, "tokens": 400, "baseline_calls_ok": True}
    bands = ENUMS["context_name"]
    return {
        "runs": [_run(run, number)],
        "paths": [
            {"run": run, "path": "candidate", "model": "m", "method": "eagle3"},
            {"run": run, "path": "baseline", "model": "m"},
        ],
        "sessions": [
            {"run": run, "session": f"s{s:03}", "template": f"t{s % 4}"} for s in range(SESSIONS)
        ],
        "turns": [
            {**key, "turn_index": t, "context_band": bands[t // 5], "replayable": True}
            for key, t in turns
        ],
        "pairs": [{**key, **judged, "candidate_calls_ok": t > 0} for key, t in turns],
    }


def _run(run: str, number: int) -> dict[str, Any]:
    start = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=number)
    return {
        "run": run,
        "started_at": start,
        "verdict": "pass",
        "reasons": ["made up"],
        "tool_version": "0",
    }


def _profile(run: str, rng: np.random.Generator) -> tuple[list[Row], list[Row]]:
    """As many slices as a run of all labels and crossings has; their numbers are made up."""
    slices = [("all", "all"), *(("boundary", label) for label in LABELS)]
    slices += [("crossing", f"{a}>{b}") for a in LABELS for b in LABELS]
    slices += [("context", band) for band in ENUMS["context_name"][:4]]
    slices += [("distance", name) for name in ENUMS["distance_name"]]
    slices += [("template", f"t{i}") for i in range(4)]
    slices += [("tool", name) for name in ("bash", "edit", "read")]
    rows: list[Row] = []
    places: list[Row] = []
    for dimension, name in slices:
        key = {"run": run, "path": "candidate", "arm": "main", "dimension": dimension}
        key |= {"slice": name}
        length = 1 + float(rng.random()) * K
        counts = {"sessions": SESSIONS, "requests": SESSIONS * TURNS, "steps": 10_000}
        counts |= {"draft_tokens": 30_000, "accepted_tokens": 12_000, "empty_steps": 4_000}
        limits = {"low": length - 0.1, "high": length + 0.1, "request_mean": length}
        rows.append({**key, **counts, "acceptance_length": length, **limits, "drift": -0.1})
        for place in range(K):
            counts = {"accepted_steps": 5_000, "reached_steps": 8_000, "reached": 8_000}
            rates = {"acceptance_rate": 0.5, "conditional_acceptance": 0.625}
            where = {"position": place, "accepted": 5_000, "sessions": SESSIONS}
            places.append({**key, **where, **counts, **rates})
    return rows, places


def _words(words: Any, codes: Any, missing: Any = None) -> pa.Array:
    return pa.DictionaryArray.from_arrays(
        pa.array(codes.astype(np.int32), mask=missing), pa.array(list(words))
    )


def _capture_columns(run: str) -> Any:
    sessions = [f"s{s:03}" for s in range(SESSIONS)]
    turns = [f"{t:03}" for t in range(TURNS)]

    def columns(capture: Any, path: str = "candidate") -> dict[str, pa.Array]:
        zero = np.zeros(len(capture), np.int32)
        return {
            "run": _words([run], zero),
            "path": _words([path], zero),
            "arm": _words(["main"], zero),
            "session": _words(sessions, capture // TURNS),
            "turn": _words(turns, capture % TURNS),
            "attempt": pa.array(zero),
        }

    return columns


def insert_run(db: Path) -> tuple[float, float, int]:
    """(wall seconds, CPU seconds, rows) of the inserts alone, of one run into an empty store."""
    arrow = made_up_run(0).arrow()
    rows = sum(table.num_rows for table in arrow.values())
    with Store.open(db, write=True) as store:
        wall, cpu = time.perf_counter(), time.process_time()
        store.connection.execute("begin")
        insert(store.connection, arrow)
        store.connection.execute("commit")
        return time.perf_counter() - wall, time.process_time() - cpu, rows


def load_runs(db: Path, runs: int) -> Iterator[tuple[float, float]]:
    """(wall, CPU) seconds each load took."""
    for number in range(runs):
        tables = made_up_run(number)
        wall, cpu = time.perf_counter(), time.process_time()
        with Store.open(db, write=True) as store:
            store.load(tables)
        yield time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--positions", type=int, default=5_010_000)
    parser.add_argument("--db", type=Path, required=True)
    parser.add_argument("--keep", action="store_true", help="ask an existing file, load nothing")
    arguments = parser.parse_args()
    db, runs = arguments.db, max(1, arguments.positions // POSITIONS_PER_RUN)
    if not arguments.keep:
        with tempfile.TemporaryDirectory(dir=db.parent) as folder:
            *took, rows = min(insert_run(Path(folder) / f"{i}.duckdb") for i in range(3))
        wall, cpu = rows / np.array(took)
        print(f"insert: {wall:,.0f} rows/s, {cpu:,.0f} per CPU second (quickest of 3)")
        took = np.median(list(load_runs(db, runs)), axis=0)
        wall, cpu = rows / took
        print(f"load: {wall:,.0f} rows/s, {cpu:,.0f} per CPU second (median of {runs} runs)")
    size = db.stat().st_size
    with open_sealed(db) as store:
        (counted,) = store.rows("select count(*) as n from draft_positions")
        print(f"size: {size / 1e6:,.0f} MB, {size / counted['n']:.1f} bytes a position")
        for name in queries():
            started = time.perf_counter()
            cpu = time.process_time()
            answer(store, name)
            wall = time.perf_counter() - started
            print(f"{name:24} {wall:6.2f} s  (CPU {time.process_time() - cpu:.2f} s)")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"peak memory: {peak:.2f} GB")


if __name__ == "__main__":
    main()
