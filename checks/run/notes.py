"""Notes on what a judgement does not read, or reads though the protocol has it otherwise.

run/candidate-main-0.jsonl.zst, record 17, and 2 more of them: path 'candidat' is neither …
the candidate sent 12 answers in which call arguments came as an object
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby

from checks.excerpt import printable
from traces.journal.arm import further_arm_of
from traces.journal.exchange import PATHS, Evidence, Stray


def stray_notes(found: Sequence[Stray]) -> list[str]:
    """One line per journal that holds records of no path."""
    strays = sorted(found, key=lambda stray: str(stray.journal))
    return [
        _note(str(journal), [(stray.record, stray.path) for stray in found])
        for journal, found in groupby(strays, key=lambda stray: stray.journal)
    ]


def _note(journal: str, found: list[tuple[int, str]]) -> str:
    record, path = min(found)
    more = f", and {len(found) - 1} more of them" if len(found) > 1 else ""
    return (
        f"{printable(journal)}, record {record}{more}: path {path[:60]!r} is neither "
        f"{' nor '.join(PATHS)}, so nothing judges it"
    )


def lone_arm_notes(evidence: Evidence, judged: Collection[str]) -> Iterator[str]:
    """One line per arm that is none of the gate's own and was replayed on one path alone."""
    for (path, arm), exchanges in evidence.arms.items():
        name = further_arm_of(arm)
        if name is not None and name not in judged:
            turns = len(exchanges)
            yield (
                f"arm {name[:60]!r}: {turns} turns of the {path}, which the other path lacks, so "
                "nothing judges them"
            )


def irregular_notes(seen: Mapping[tuple[str, str], int]) -> list[str]:
    """One line per path and irregularity: a stricter client than draftgate may stumble there."""
    return [
        f"the {path} sent {count} answers in which {text}"
        for (path, text), count in sorted(seen.items())
    ]
