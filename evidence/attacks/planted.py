"""Faults of the exact checks, planted into the captures of a finished run, and tokens until caught.

    python -m evidence.attacks.planted .draftgate/runs/2026…      # a sound run with a drafter

Each fault is planted into every turn that lends itself to it, one turn at a time, and judged by the
exact checks: *caught* is how often the named code fires. Then a server is imagined that does it to
a share of its turns: turns of the run are drawn with replacement until one that is hit is caught.
Predicted is the median of that wait if no planted turn were missed, by the geometric distribution:
``ln(0.5) / ln(1 - share * lends)`` turns.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from checks.bounds import fired
from checks.controls.duplicate import DUPLICATE
from checks.controls.finish import FINISH
from checks.controls.leak import Donor, leak_control
from checks.controls.pair_control import PairControl
from checks.controls.pairs import donors_of
from checks.controls.tail import ARGUMENT_TAIL, TEXT_TAIL
from checks.pair import Pair
from checks.run.exact import exact_checks
from checks.run.floor import RunMeasures, measure_session, run_floor
from checks.run.read import read_session
from checks.run.session import pairs_of as run_pairs
from checks.sessions.evidence import Answers, sessions_of
from draftgate.run.folder import RunFolder, read_evidence
from draftgate.run.run_file import begun_config, read_facts, read_run
from draftgate.run.target import run_facts
from evidence.markdown import table
from traces.journal.arm import MAIN

SHARES = (0.1, 0.01, 0.001)
WAITS = 400
HEAD = ("fault", "code", "turns that lend themselves", "caught", "share of turns hit",
        "tokens until caught", "predicted")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Planted:
    """`lends` and `caught`, one entry per turn of the run; `tokens` of each turn's output."""

    control: PairControl
    lends: npt.NDArray[np.bool_]
    caught: npt.NDArray[np.bool_]
    tokens: npt.NDArray[np.int64]


def pairs_of(folder: Path) -> list[Pair]:
    """The pairs of a run's main arm. Raises SystemExit where no gate has begun in `folder`."""
    run = RunFolder(folder)
    begun = read_run(run)
    if begun is None:
        raise SystemExit(f"{folder}: no run began here; name the folder of one")
    config, servers = begun_config(begun), read_facts(run)
    facts = run_facts(config, run.run, servers, ())
    sessions = sessions_of(read_evidence(run), Answers(), facts)
    read = [read_session(session, facts) for session in sessions]
    measures = {one.session: measure_session(one, facts) for one in read}
    floor = run_floor(RunMeasures(measures), facts)
    live = [pair for one in read for pair in run_pairs(one, floor, facts)[MAIN]]
    return [one.pair for one in live]


def plant(control: PairControl, pairs: Sequence[Pair]) -> Planted:
    """The fault in every turn that lends itself and fires no error code without it."""
    lends, caught = [], []
    for pair in pairs:
        planted = control.plant(pair) if control.applies(pair) else None
        usable = planted is not None and not fired(exact_checks(pair))
        lends.append(usable)
        caught.append(usable and planted is not None and _fires(control.code, planted))
    tokens = [len(pair.candidate.tokens or ()) for pair in pairs]
    return Planted(control, np.array(lends), np.array(caught), np.array(tokens))


def _fires(code: str, planted: Pair) -> bool:
    return code in fired(exact_checks(planted))


def wait(planted: Planted, share: float, seed: int) -> int:
    """Tokens a gate reads until the first turn that was hit and is caught."""
    rng = np.random.default_rng(seed)
    read = 0
    while True:
        drawn = rng.integers(len(planted.tokens), size=1000)
        hit = planted.caught[drawn] & (rng.random(len(drawn)) < share)
        if hit.any():
            return read + int(planted.tokens[drawn[: int(hit.argmax()) + 1]].sum())
        read += int(planted.tokens[drawn].sum())


def predicted(planted: Planted, share: float) -> float:
    """The median of `wait` if every planted turn were caught."""
    turns = np.log(0.5) / np.log1p(-share * planted.lends.mean())
    return float(turns * planted.tokens.mean())


def rows(controls: Sequence[PairControl], pairs: Sequence[Pair]) -> list[tuple[object, ...]]:
    """One row per fault and share; the first of a fault names it."""
    found: list[tuple[object, ...]] = []
    for control in controls:
        planted = plant(control, pairs)
        lends, caught = int(planted.lends.sum()), int(planted.caught.sum())
        name: tuple[object, ...] = (control.kind, f"`{control.code}`", lends, caught)
        for share in SHARES if caught else ():
            median = float(np.median([wait(planted, share, seed) for seed in range(WAITS)]))
            found.append(
                (*name, f"{share:g}", f"{median:,.0f}", f"{predicted(planted, share):,.0f}")
            )
            name = ("", "", "", "")
        if not caught:
            found.append((*name, "n/a", "n/a", "n/a"))
    return found


def _donors(pairs: Sequence[Pair]) -> tuple[Donor, ...]:
    streams = [(str(n), pair.candidate.stream) for n, pair in enumerate(pairs)]
    named = [(name, stream) for name, stream in streams if stream is not None]
    return tuple(donors_of(named, seed=0).values())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("run", type=Path, help="folder of a finished run")
    pairs = pairs_of(parser.parse_args().run)
    controls = (TEXT_TAIL, ARGUMENT_TAIL, FINISH, DUPLICATE, leak_control(_donors(pairs)))
    print(f"{len(pairs)} turns of {sum(len(p.candidate.tokens or ()) for p in pairs):,} tokens\n")
    print(table(HEAD, rows(controls, pairs)))


if __name__ == "__main__":
    main()
