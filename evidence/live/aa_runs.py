"""Many small A/A gates on two real servers: every alarm is a false one.

    python -m evidence.live.aa_runs --runs 50 --seed 1

Two servers with the same flags are started once, and every gate attaches to both by URL. Each run
replays other turns, drawn by seed: of 20 to 26 of the sample sessions two of the first six turns,
whose prompts are short, those with recorded calls first. Concurrency goes round, so that turns meet
in other batches. Prints one row per concurrency. Finished runs are kept in a file: after an
interruption the same command goes on behind them.
"""

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
from msgspec.structs import replace as changed

from draftgate.config.file import read_config
from draftgate.progress import SilentReporter, reporter
from draftgate.run.gate import run_gate
from draftgate.run.outcome import GateOutcome
from evidence.live import beginnings
from evidence.live.results import Result, result_of
from evidence.live.twins import GATES, HOME, servers, twin_config
from evidence.markdown import table
from reports.store.store import Store
from reports.store.summary import read_summary
from traces.importing.importer import import_files
from traces.session.file import write_sessions
from traces.session.session import Session
from traces.session.turn import Turn

TWINS = GATES["two"]
CONCURRENCIES = (4, 6, 8, 12, 16)
FEWEST_SESSIONS, EARLY, TURNS = 20, 6, 2
ALARMS = ("fail", "invalid")
HEAD = (
    "concurrency", "runs", "verdicts", "findings at severity error", "bounds broken", "tokens",
    "forks", "A/A forks", "turns with calls", "calls changed", "calls changed by the repeat",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Run:
    """One gate: the `number`-th that `seed` draws. `calls` are turns with calls, `changed` those
    whose calls the candidate changes in effect, `again` those that the baseline's own repeat does.
    """

    seed: int
    number: int
    concurrency: int
    result: Result
    calls: int
    changed: int
    again: int


def concurrency_of(number: int) -> int:
    """Sessions side by side in a run."""
    return CONCURRENCIES[number % len(CONCURRENCIES)]


def drawn(sessions: Sequence[Session], rng: random.Random) -> list[Session]:
    """Some of the sessions, a few turns of each left to be replayed."""
    count = rng.randint(FEWEST_SESSIONS, len(sessions))
    return [_part(session, rng) for session in rng.sample(sessions, count)]


def _part(session: Session, rng: random.Random) -> Session:
    """Turns that others build on stay in the session; only those that are chosen are replayed."""
    turns = list(session.replayable_turns())[:EARLY]
    rng.shuffle(turns)
    turns.sort(key=lambda turn: not _calls(session, turn))
    chosen = {turn.turn_id for turn in turns[:TURNS]}
    return session.replaced(
        turns=tuple(
            turn
            if turn.turn_id in chosen or not turn.replayable
            else changed(turn, replayable=False, skip_reason="not drawn")
            for turn in session.turns
        )
    )


def _calls(session: Session, turn: Turn) -> bool:
    output = session.output(turn)
    return output is not None and bool(output.tool_calls)


def run_of(seed: int, number: int, outcome: GateOutcome) -> Run:
    """What a finished gate says, read from its store."""
    concurrency = concurrency_of(number)
    assert outcome.store is not None
    with Store.open(outcome.store) as store:
        calls = {row["comparison"]: row for row in read_summary(store, outcome.run)["calls"]}
    candidate, again = calls.get("candidate", {}), calls.get("aa", {})
    return Run(
        seed,
        number,
        concurrency,
        result_of(f"concurrency {concurrency}", outcome),
        candidate.get("turns", 0),
        candidate.get("consequential", 0),
        again.get("consequential", 0),
    )


def kept(file: Path, seed: int, runs: int) -> list[Run]:
    """The finished ones of the first `runs` of a seed."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    found = [msgspec.json.decode(line, type=Run) for line in lines]
    return [run for run in found if run.seed == seed and run.number < runs]


def rows(runs: Iterable[Run]) -> list[tuple[object, ...]]:
    """A row for each concurrency, and one for all."""
    found = list(runs)
    groups = {str(c): [one for one in found if one.concurrency == c] for c in CONCURRENCIES}
    return [_row(name, group) for name, group in {**groups, "all": found}.items() if group]


def _row(name: str, runs: Sequence[Run]) -> tuple[object, ...]:
    results = [run.result for run in runs]
    words = Counter(result.verdict for result in results)
    return (
        name,
        len(runs),
        ", ".join(f"{count} `{word}`" for word, count in sorted(words.items())),
        _listed(code.partition(" x ")[0] for result in results for code in result.codes),
        _listed(bound for result in results for bound in result.broken),
        f"{sum(result.tokens for result in results):,}",
        sum(result.forks for result in results),
        sum(result.again for result in results),
        f"{sum(run.calls for run in runs):,}",
        sum(run.changed for run in runs),
        sum(run.again for run in runs),
    )


def _listed(names: Iterable[str]) -> str:
    """Each name, and in how many runs."""
    return ", ".join(f"`{name}` {n}" for name, n in sorted(Counter(names).items())) or "none"


def main() -> int:
    """0 where no run failed or was invalid."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    file = HOME / "aa_runs.jsonl"
    found = kept(file, given.seed, given.runs)
    left = sorted(set(range(given.runs)) - {run.number for run in found})
    if left:
        _make(left, given.seed, file)
    found = kept(file, given.seed, given.runs)
    print(table(HEAD, rows(found)))
    return int(any(run.result.verdict in ALARMS for run in found))


def _make(numbers: Iterable[int], seed: int, file: Path) -> None:
    """Start the servers, and make these runs."""
    samples = [s for source in import_files(beginnings.SAMPLES) for s in source.sessions]
    sessions = HOME / "drawn.jsonl"
    HOME.mkdir(parents=True, exist_ok=True)
    with servers(read_config(TWINS.config), TWINS) as urls:
        for number in numbers:
            write_sessions(drawn(samples, random.Random(f"{seed}/{number}")), sessions)
            twins = replace(TWINS, concurrency=concurrency_of(number))
            outcome = run_gate(twin_config(twins, urls, sessions), SilentReporter())
            with file.open("ab") as out:
                out.write(msgspec.json.encode(run_of(seed, number, outcome)) + b"\n")
            reporter().note(f"run {number + 1}: {outcome.verdict.verdict}")


if __name__ == "__main__":
    sys.exit(main())
