"""Does a run at k = 3 tell what a smaller k gives? `draftgate advise` first, then real runs.

    python -m evidence.smaller_k                # gates the embedded pair at k = 3, 2 and 1
    python -m evidence.smaller_k 2              # one of them again, beside what is stored
    python -m evidence.smaller_k --shown        # none

Greedy text is the same at every k, so the acceptance length is predicted of the very tokens that
are then drafted again; only where steps begin differs. `docs/advice.md` holds what it printed.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from checks.acceptance.advice import Prediction
from draftgate.advising import Advice, advise
from draftgate.config.file import read_config
from draftgate.progress import reporter
from draftgate.run.gate import run_gate
from reports.store.store import Store

HOME = Path(".draftgate/evidence/smaller-k")
CONFIG = Path("gate.toml")
TURNS = 64
RAN = 3
HEAD = """| k | length predicted | run | speed-up predicted | if a step costs the same | run |
|--:|--:|--:|--:|--:|--:|"""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the run at `RAN` predicts of k, and what the run at k gave."""

    predicted: Prediction
    measured: Prediction

    @property
    def row(self) -> str:
        """One line of the table."""
        one, other = self.predicted, self.measured
        fixed = "n/a" if one.pessimistic is None else f"{one.pessimistic:.3f}"
        figures = (one.length, other.length, one.speedup, fixed, other.speedup)
        return f"| {one.k} | " + " | ".join(map(str, figures)) + " |"


def gate_at(k: int, turns: int) -> str:
    """Gate the embedded pair at k; returns the run id."""
    base = read_config(CONFIG).candidate.speculative_config
    overrides = {
        "run": {"output": str(HOME), "db": str(HOME / "store.duckdb"), "max_turns": turns},
        "candidate": {"speculative_config": {**base, "num_speculative_tokens": k}},
    }
    return run_gate(read_config(CONFIG, overrides), reporter()).run


def compared(runs: dict[int, Advice]) -> Iterator[Comparison]:
    """Every smaller k, largest first; `runs` holds the advice of the run at each k."""
    predicted = whole(runs[RAN])
    for k in sorted(runs, reverse=True):
        yield Comparison(predicted[k], whole(runs[k])[k])


def whole(advice: Advice) -> dict[int, Prediction]:
    """The predictions that are not about a slice, by k."""
    return {one.k: one for one in advice.predictions if one.dimension == "all"}


def latest(store: Store) -> dict[int, str]:
    """The newest stored run at each k."""
    rows = store.rows(
        "select num_speculative_tokens as k, arg_max(run, started_at) as run "
        "from paths join runs using (run) where path = 'candidate' group by k"
    )
    return {row["k"]: row["run"] for row in rows}


def table(comparisons: Sequence[Comparison]) -> str:
    """The table in Markdown."""
    return "\n".join([HEAD, *(comparison.row for comparison in comparisons)])


def main() -> int:
    """0 where all that ran lies inside the intervals predicted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--shown", action="store_true", help="only show what is stored")
    parser.add_argument("k", nargs="*", type=int, help="what to run, 3 first; default: all")
    parser.add_argument("--turns", type=int, default=TURNS, help="turns of each run")
    arguments = parser.parse_args()
    for k in () if arguments.shown else arguments.k or range(RAN, 0, -1):
        gate_at(k, arguments.turns)
    with Store.open(HOME / "store.duckdb") as store:
        runs = {k: advise(store, run)[0] for k, run in latest(store).items()}
    comparisons = list(compared(runs))
    print(table(comparisons))
    return int(not all(agrees(comparison) for comparison in comparisons))


def agrees(comparison: Comparison) -> bool:
    """Whether acceptance length and speed-up that ran lie inside the intervals predicted."""
    one, other = comparison.predicted, comparison.measured
    return all(
        told.low is not None
        and told.high is not None
        and found.value is not None
        and told.low <= found.value <= told.high
        for told, found in ((one.length, other.length), (one.speedup, other.speedup))
    )


if __name__ == "__main__":
    sys.exit(main())
