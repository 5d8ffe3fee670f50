"""Faults of the case files in every session of a run, one fault a run.

    python -m evidence.attacks.faults_everywhere --every 1

Each case is served in eight sessions, beside two sound ones that show the drafter at work: by the
candidate alone, and by both paths; with one request in flight and with eight. A fault of the
candidate must end in `fail` with its codes in every session of it; its sound twin, and what both
paths show, must never end in `fail`. Ends with 1 where one of these does not hold.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evidence.markdown import table
from tests.support.live_cases import LiveCase, live_cases
from tests.support.live_gate import codes_of, gate

SESSIONS, SOUND = 8, 2

IN_FLIGHT = (1, 8)


@dataclass(frozen=True, slots=True)
class Everywhere:
    """One run: which paths show the case, how many requests were in flight, its verdict, and what
    is wrong with it."""

    case: LiveCase
    paths: str
    in_flight: int
    verdict: str
    wrong: str

    @property
    def kind(self) -> str:
        """Row of the table."""
        fault = "fault" if self.case.codes else "sound twin"
        return f"{fault}, {self.paths}, {self.in_flight} in flight"


def everywhere(folder: Path, case: LiveCase, paths: str, in_flight: int) -> Everywhere:
    """One run below `folder`; `paths` is ``candidate`` or ``both``."""
    folder.mkdir(parents=True)
    baseline = LiveCase.candidate if paths == "both" else LiveCase.baseline
    outcome = gate(
        folder,
        [case] * SESSIONS,
        baseline,
        LiveCase.candidate,
        sound=SOUND,
        concurrency=in_flight,
    )
    verdict = outcome.verdict.verdict
    found = codes_of(outcome, "error")
    wrong = ""
    if paths == "candidate" and case.codes:
        if needs_neighbors(case) and in_flight == 1:
            return Everywhere(case, paths, in_flight, verdict, "")
        missed = [s for s in range(SESSIONS) if not found.get(f"case-{s}", set()) >= case.codes]
        if verdict != "fail" or missed:
            wrong = f"{verdict}, not found in sessions {missed}: {outcome.verdict.reasons[:1]}"
    elif verdict == "fail":
        wrong = f"fail: {outcome.verdict.reasons[:1]}"
    return Everywhere(case, paths, in_flight, verdict, wrong)


def needs_neighbors(case: LiveCase) -> bool:
    """Whether the fault is of requests in flight beside each other: one at a time has none."""
    return "CROSS_REQUEST_LEAK" in case.codes


def runs_of(cases: Sequence[LiveCase]) -> Iterator[tuple[LiveCase, str, int]]:
    """What is run: (case, paths, requests in flight)."""
    for case in cases:
        for in_flight in IN_FLIGHT:
            yield case, "candidate", in_flight
        yield case, "both", IN_FLIGHT[-1]


def main(arguments: list[str] | None = None) -> int:
    """Run every case, and print how its runs ended."""
    parser = argparse.ArgumentParser(
        prog="python -m evidence.attacks.faults_everywhere", description=__doc__
    )
    parser.add_argument("--every", type=int, default=1, help="take every n-th case")
    given = parser.parse_args(arguments)
    counts: Counter[tuple[str, str]] = Counter()
    wrong = []
    with tempfile.TemporaryDirectory(prefix="everywhere-") as home:
        for number, what in enumerate(runs_of(live_cases()[:: given.every])):
            found = everywhere(Path(home) / str(number), *what)
            counts[found.kind, found.verdict] += 1
            wrong += [f"{found.case.name}, {found.kind}: {found.wrong}"] if found.wrong else []
            print(f"\r{number + 1} runs, {len(wrong)} wrong ", end="", file=sys.stderr, flush=True)
    print(table(("case", "verdict", "runs"), [(*key, n) for key, n in sorted(counts.items())]))
    print(f"\n{len(wrong)} wrong", *wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
