"""A pool of real A/A turns: only their regrets, session by session, without any text.

    python -m evidence.simulated.pool mixed=.draftgate/runs/2026… …      # writes pool.jsonl.gz
    python -m evidence.simulated.pool --add more=.draftgate/runs/2026…   # and keeps its other runs

Each run is an A/A gate of `evidence.live.twins`, or one with a drafter, of which only the baseline
counts. A turn is one line::

    {"s": "mixed/chat-00", "t": "t1", "fork": 12, "again": null, "unscored": 0,
     "candidate": [["decode", 0, 13, {"12": 0.125}], ["prefill", 13, 51, {}]], "noise": [...]}

A part is shape, first token, tokens, and the regrets (nat) that are not zero. A regret of which
only a lower bound is known is negative.
"""

import argparse
import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from checks.greedy.turn import GreedyTurn, TurnRegrets, measure_turn
from checks.sessions.evidence import Answers
from checks.sessions.turns import greedy_turns
from checks.tokens.regret import Regrets
from draftgate.run.folder import RunFolder, read_evidence
from replay.scoring.score_file import read_scores
from traces.journal.arm import MAIN, Arm
from traces.wire.response import Response

MAIN_ARM = Arm(MAIN, 1)
POOL = Path(__file__).with_name("pool.jsonl.gz")
Run = tuple[list[GreedyTurn], list[TurnRegrets]]


def turns_of(folder: Path) -> Iterator[TurnRegrets]:
    """The regrets of every greedy turn of a finished run, from its journals and scores.

    Of an A/A gate all three captures of a turn are the baseline's: the other two take each other's
    part in a second round, as far as the first stream scores them. Of a gate with a drafter only
    the baseline's repeat is taken.
    """
    run = RunFolder(folder)
    answers = Answers(scores=read_scores(run.scores) if run.scores.exists() else {})
    for turn in greedy_turns(read_evidence(run), answers, MAIN_ARM, processed_logprobs=False):
        drafted = turn.candidate.speculation is not None
        if not drafted:
            yield from _judged(turn)
        if turn.repeat is not None:
            again = replace(
                turn,
                session=f"{turn.session}/again",
                candidate=turn.repeat,
                repeat=None if drafted else turn.candidate,
                scored_candidate=None,
            )
            yield from _judged(again)


def _judged(turn: GreedyTurn) -> Iterator[TurnRegrets]:
    measured = measure_turn(turn)
    if measured.not_judged is None:
        yield measured


def pack(turns: Iterable[TurnRegrets]) -> bytes:
    """One line per turn, compressed; the same turns give the same bytes."""
    lines = [json.dumps(_row(turn), separators=(",", ":")) for turn in turns]
    # A fixed time stamp: the same turns give the same bytes.
    return gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0)


def unpack(packed: bytes) -> Run:
    """The turns as `checks.greedy.judge.judge_measured` takes them; their streams are empty.

    So a regret far beyond the noise is never excused by what the baseline shows there itself.
    """
    measured = [_turn(json.loads(line)) for line in gzip.decompress(packed).splitlines()]
    return [GreedyTurn(turn.session, turn.turn, EMPTY, EMPTY) for turn in measured], measured


def read(file: Path = POOL) -> Run:
    """The pool in `file`."""
    return unpack(file.read_bytes())


def _row(turn: TurnRegrets) -> dict[str, Any]:
    return {
        "s": turn.session,
        "t": turn.turn,
        "fork": turn.divergence,
        "again": turn.repeat_divergence,
        "unscored": turn.unscored,
        "candidate": [_part(part) for part in turn.candidate],
        "noise": [_part(part) for part in turn.noise],
    }


def _part(part: Regrets) -> list[Any]:
    stored = np.flatnonzero((part.values > 0) | part.bounded)
    values = {
        str(i): round(float(-part.values[i] if part.bounded[i] else part.values[i]), 6)
        for i in stored
    }
    return [part.shape, part.start, len(part), values]


def _turn(row: dict[str, Any]) -> TurnRegrets:
    repeated = any(shape == "decode" and start == 0 for shape, start, *_ in row["noise"])
    return TurnRegrets(
        session=row["s"],
        turn=row["t"],
        candidate=tuple(_regrets(part) for part in row["candidate"]),
        noise=tuple(_regrets(part) for part in row["noise"]),
        divergence=row["fork"],
        repeat_divergence=row["again"],
        unscored=row["unscored"],
        noise_forked=row["again"] is not None if repeated else None,
    )


def _regrets(part: list[Any]) -> Regrets:
    shape, start, count, stored = part
    values = np.zeros(count)
    for place, value in stored.items():
        values[int(place)] = value
    return Regrets(shape, start, np.abs(values), values < 0)


EMPTY = Response(
    status=200,
    content="",
    reasoning="",
    tool_calls=(),
    finish_reason="stop",
    tokens=None,
    prompt_token_ids=None,
    usage=None,
    speculation=None,
    chunks=(),
    done=True,
)


def tokens(measured: Iterable[TurnRegrets]) -> int:
    """Candidate tokens with a regret."""
    return sum(turn.tokens for turn in measured)


def others(file: Path, runs: Iterable[str]) -> list[TurnRegrets]:
    """The turns in `file` of runs that are not among `runs` (NAME=FOLDER)."""
    named = {run.split("=", 1)[0] for run in runs}
    return [turn for turn in read(file)[1] if turn.session.split("/")[0] not in named]


def main() -> None:
    """Write the pool of the runs named; sessions of different runs stay apart."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("runs", nargs="+", help="NAME=FOLDER of finished runs")
    parser.add_argument("--out", type=Path, default=POOL)
    parser.add_argument("--add", action="store_true", help="keep the pool's other runs")
    arguments = parser.parse_args()
    turns = others(arguments.out, arguments.runs) if arguments.add else []
    turns += [
        replace(turn, session=f"{name}/{turn.session}")
        for name, folder in (run.split("=", 1) for run in arguments.runs)
        for turn in turns_of(Path(folder))
    ]
    arguments.out.write_bytes(pack(turns))
    print(f"{arguments.out}: {len(turns)} turns, {tokens(turns):,} candidate tokens")


if __name__ == "__main__":
    main()
