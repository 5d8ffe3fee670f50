"""The rows that the judgement makes of a run's raw rows, for made-up runs that have only these."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from checks.acceptance.positions import DISTANCES, NO_LABEL, DraftPositions
from checks.acceptance.profile import profile
from checks.acceptance.profile_sums import ProfileSums
from checks.acceptance.steps import Steps
from checks.calls.behavior import PairedOutcome, judge_behavior
from checks.policy import Policy
from checks.servers.speed import compare_speed, compare_speed_by_context, speed_pair
from reports.rows.acceptance import acceptance_rows, position_rows
from reports.rows.judgement import tool_rows
from reports.rows.speed import speed_rows
from tests.support.synthetic_model import response_of
from traces.bands import BANDS
from traces.boundaries.label import INDEX
from traces.coded import Coded
from traces.wire.response import Chunk, Response, Usage

Row = Mapping[str, Any]


def acceptance_of(
    run: str,
    steps: Sequence[Row],
    positions: Sequence[Row],
    tags: Mapping[str, Mapping[str, str]],
    arm: str = "main",
) -> dict[str, list[dict[str, Any]]]:
    """The tables `acceptance` and `acceptance_positions` of an arm."""
    k = max((row["drafted"] for row in steps), default=1)
    sums = ProfileSums(k)
    by_capture: dict[tuple[str, str], tuple[list[Row], list[Row]]] = {}
    for place, rows in enumerate((steps, positions)):
        for row in rows:
            if row["arm"] == arm:
                key = (row["session"], row["turn"])
                by_capture.setdefault(key, ([], []))[place].append(row)
    for (session, _), (mine, drafted) in by_capture.items():
        sums.add(session, _positions(drafted), _steps(mine))
    cells = profile(sums, tags)
    return {
        "acceptance": list(acceptance_rows(run, arm, cells)),
        "acceptance_positions": list(position_rows(run, arm, cells)),
    }


def speed_of(run: str, captures: Sequence[Row]) -> list[dict[str, Any]]:
    """The metrics of speed, whole and by context band: of the main arm's captures."""
    main = [row for row in captures if row["arm"] == "main"]
    streams = {
        path: {(row["session"], row["turn"]): _stream(row) for row in main if row["path"] == path}
        for path in ("baseline", "candidate")
    }
    pairs = [
        speed_pair(*turn, streams["baseline"][turn], stream)
        for turn, stream in streams["candidate"].items()
        if turn in streams["baseline"]
    ]
    return [
        *speed_rows(run, compare_speed(pairs, 0)),
        *(
            row
            for band, speed in compare_speed_by_context(pairs, 0).items()
            for row in speed_rows(run, speed, "context", band)
        ),
    ]


def _stream(row: Row) -> Response:
    """A stream of the times of a capture: its first token, then all others at its end."""
    first, tokens = row.get("ttft_ms") or 1.0, row["completion_tokens"]
    last = first + row["tpot_ms"] * (tokens - 1)
    chunks = (Chunk(first, 1, 1, True), Chunk(last, tokens - 1, tokens - 1, True))
    usage = Usage(row.get("prompt_tokens") or 1, tokens)
    return replace(response_of((1,), ()), chunks=chunks, usage=usage)


def tools_of(run: str, pairs: Sequence[Row]) -> list[dict[str, Any]]:
    """The table `tool_success`."""
    outcomes = [
        PairedOutcome(
            row["session"], row["turn"], row["baseline_calls_ok"], row["candidate_calls_ok"]
        )
        for row in pairs
        if row["comparison"] == "candidate" and row["baseline_calls_ok"] is not None
    ]
    return list(tool_rows(run, judge_behavior(outcomes, Policy(), 0)))


def _steps(rows: Sequence[Row]) -> Steps:
    last = max(row["step"] for row in rows)
    drafted, accepted = np.zeros(last + 1, np.int64), np.zeros(last + 1, np.int64)
    for row in rows:
        drafted[row["step"]], accepted[row["step"]] = row["drafted"], row["accepted"]
    return cast(Steps, SimpleNamespace(drafted=drafted, accepted=accepted))


def _positions(rows: Sequence[Row]) -> DraftPositions:
    def column(name: str) -> list[Any]:
        return [row.get(name) for row in rows]

    tools = Coded.of(column("tool"))
    crossed = [None if text is None else text.split(">")[0] for text in column("crossing")]
    return DraftPositions(
        np.array(column("step"), np.int32),
        np.array(column("position"), np.uint8),
        np.array([-1 if token is None else token for token in column("token_index")], np.int32),
        np.array(column("reached"), bool),
        np.array(column("accepted"), bool),
        np.array([-1 if name is None else INDEX[name] for name in column("label")], np.int8),
        np.array([-1 if d is None else DISTANCES.index(d) for d in column("distance")], np.int8),
        np.array([-1 if c is None else INDEX.get(c, NO_LABEL) for c in crossed], np.int8),
        np.array([BANDS.index(band) for band in column("context_band")], np.int8),
        np.array(tools.codes, np.int32),
        np.full(len(rows), -1, np.int64),
        tools.names,
        rows[0].get("template"),
        rows[0].get("cached"),
    )
