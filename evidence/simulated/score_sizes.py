"""Log probabilities that stray: how often does LOGPROBS_SHIFTED fire, on sound runs and on damage?

    python -m evidence.simulated.score_sizes --runs 1000
    python -m evidence.simulated.score_sizes --runs 1000 --pool POOL    # score_pool.json.gz
    python -m evidence.simulated.score_sizes --add NAME=RUN_FOLDER …

Simulated: sessions of 10 turns of 84 tokens; how uncertain a turn's tokens are is drawn for it, and
rounding moves the score of an uncertain token more (Student's t, 4 degrees of freedom). The
baseline's repeat rounds at the scale 1, its own tokens read again and the candidate at scales of
their own. The pool holds the sums of real turns by place and source, no text: of it whole sessions
are drawn, and the baseline's repeat, or the candidate of a sound run, stands for the candidate.
"""

import argparse
import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from checks.acceptance.drafting import Drafting
from checks.acceptance.drafts.align import align
from checks.acceptance.steps import Steps
from checks.greedy.shift import PLACES, SOURCES, TurnShift, judge_shift, shift_of
from checks.policy import Policy
from checks.sessions.evidence import Answers
from checks.sessions.turns import greedy_turns
from draftgate.run.folder import RunFolder, read_evidence
from evidence.markdown import table
from replay.scoring.score_file import read_scores
from traces.journal.arm import MAIN, Arm

POOL = Path(__file__).with_name("score_pool.json.gz")
TURNS, TOKENS = 10, 84
DRAFTING = Drafting("eagle3", 3)
"""Of the runs in the pool."""
SHARES = (1.0, 0.5, 0.25, 0.25)
"""Of the tokens of a turn that stand at each place."""


def run_of(
    rng: np.random.Generator, sessions: int, prefill: float, candidate: float, share: float = 1.0
) -> list[TurnShift]:
    """One run; the candidate strays at its scale in a share of the tokens, else as prefill does."""
    found = []
    for place in range(sessions):
        sums = np.zeros((len(PLACES), len(SOURCES), 3))
        uncertain = 0.002 * rng.lognormal(0, 1, (TURNS, 1))
        for source, scale in ((0, candidate), (1, 1.0), (2, prefill)):
            moved = rng.standard_t(4, (TURNS, TOKENS)) * uncertain
            strays = rng.random((TURNS, TOKENS)) < share
            moved *= np.where(strays, scale, prefill) if source == 0 else scale
            for at, part in enumerate(SHARES):
                seen = moved[:, : int(TOKENS * part)]
                sums[at, source] = np.abs(seen).sum(), seen.sum(), seen.size
        found.append(TurnShift(f"s{place}", "all", sums))
    return found


CASES: tuple[tuple[str, int, float, float, float], ...] = (
    ("as its own tokens read again", 24, 2.0, 2.0, 1.0),
    ("exactly twice that", 24, 2.0, 4.0, 1.0),
    ("exactly twice that", 104, 2.0, 4.0, 1.0),
    ("three times that", 24, 2.0, 6.0, 1.0),
    ("six times that", 24, 2.0, 12.0, 1.0),
    ("fifty times that, in 5% of tokens", 24, 2.0, 100.0, 0.05),
)


def simulated(runs: int, seed: int) -> list[tuple[object, ...]]:
    """How often it fires, by case."""
    found = []
    for name, sessions, prefill, candidate, share in CASES:
        fired = 0
        for run in range(runs):
            turns = run_of(np.random.default_rng((seed, run)), sessions, prefill, candidate, share)
            fired += bool(judge_shift(turns, Policy()).findings)
        found.append((name, sessions, runs, fired))
    return found


Pool = dict[str, dict[str, list[Any]]]
"""Run -> session -> sums of its turns added up, shape [places, sources, 3]."""


def read_pool(file: Path) -> Pool:
    """The pool; empty where there is none yet."""
    if not file.exists():
        return {}
    with gzip.open(file, "rt", encoding="utf-8") as opened:
        found: Pool = json.load(opened)
    return found


def from_pool(
    rng: np.random.Generator, held: dict[str, list[Any]], sessions: int, stands: int, added: float
) -> list[TurnShift]:
    """A pseudo-run of whole sessions; source `stands` is the candidate, its scores `added` nat too
    low at every token."""
    names = sorted(held)
    found = []
    for place, drawn in enumerate(rng.integers(len(names), size=sessions)):
        sums = np.array(held[names[int(drawn)]])
        sums[:, 0] = sums[:, stands]
        sums[:, 0, 0] += added * sums[:, 0, 2]
        sums[:, 0, 1] -= added * sums[:, 0, 2]
        found.append(TurnShift(f"s{place}", "t", sums))
    return found


def pooled(pool: Pool, runs: int, seed: int) -> list[tuple[object, ...]]:
    """How often it fires on pseudo-runs of the pool."""
    found = []
    for name, held in sorted(pool.items()):
        for stands in (0, 1):
            for added in (0.0, 0.003, 0.01):
                fired = sum(
                    bool(
                        judge_shift(
                            from_pool(np.random.default_rng((seed, run)), held, 26, stands, added),
                            Policy(),
                        ).findings
                    )
                    for run in range(runs)
                )
                who = ("the candidate", "the baseline's repeat")[stands]
                found.append((name, who, f"{added:g} nat", runs, fired))
    return found


def add(pool: Pool, name: str, folder: Path) -> None:
    """Put the sums of a run's greedy turns into the pool."""
    run = RunFolder(folder)
    answers = Answers(scores=read_scores(run.scores) if run.scores.exists() else {})
    evidence = read_evidence(run)
    candidate = evidence.of("candidate")
    held: dict[str, list[Any]] = {}
    places: dict[str, str] = {}
    for turn in greedy_turns(evidence, answers, Arm(MAIN, 1), processed_logprobs=False):
        steps = align(candidate[turn.session, turn.turn].response, DRAFTING, None, sampled=False)
        committed = steps.committed.tolist() if isinstance(steps, Steps) else None
        if (shift := shift_of(turn, committed)) is not None:
            key = places.setdefault(turn.session, f"s{len(places)}")
            known = np.array(held.get(key, np.zeros_like(shift.sums)))
            held[key] = (known + shift.sums).round(9).tolist()
    pool[name] = held


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables, or add to the pool."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pool", type=Path)
    parser.add_argument("--add", nargs="+", default=[], metavar="NAME=RUN_FOLDER")
    given = parser.parse_args(arguments)
    if given.add:
        pool = read_pool(POOL)
        for item in given.add:
            name, _, folder = item.partition("=")
            add(pool, name, Path(folder))
        # A fixed time stamp: the same turns give the same bytes.
        POOL.write_bytes(gzip.compress(json.dumps(pool).encode(), mtime=0))
    elif given.pool:
        head = ("run", "stands for the candidate", "added to every score", "pseudo-runs", "fired")
        print(table(head, pooled(read_pool(given.pool), given.runs, given.seed)))
    else:
        head = ("the candidate's scores stray", "sessions", "runs", "fired")
        print(table(head, simulated(given.runs, given.seed)))


if __name__ == "__main__":
    main()
