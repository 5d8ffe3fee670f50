"""What a run left behind, to compare two runs: verdict, stored rows, turns in the journals."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replay.sending.resume import settles
from reports.store.store import Store
from traces.journal.journal import JournalReader

TABLES = {
    "sessions": "",
    "turns": "",
    "captures": "sent_at, ttft_ms, tpot_ms, duration_ms, max_gap_ms",
    "tokens": "",
    "steps": "",
    "draft_positions": "",
    "tool_calls": "",
    "pairs": "",
    "findings": "case_file",
    "bounds": "",
    "controls": "",
    "acceptance": "",
}
"""Tables that must come out the same, and their columns of times and file names."""


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """What a whole run gave: its folder, verdict, rows by table, and the turns in its journals."""

    folder: Path
    said: Any
    rows: dict[str, Counter[str]]
    turns: Counter[tuple[str, ...]]


def snapshot(home: Path, said: Any) -> Undisturbed:
    """What lies below `home` of the run that said so: ``said["run"]`` is its id, ``said["folder"]``
    its folder, ``said["store"]`` its store."""
    run = said["run"]
    rows: dict[str, Counter[str]] = {}
    with Store.open(home / said["store"]) as store:
        for name, left_out in TABLES.items():
            columns = ", ".join(filter(None, ("run", left_out)))
            found = store.rows(f"select * exclude ({columns}) from {name} where run = '{run}'")
            texts = (str(row).replace(run, "RUN").replace(str(home), "HOME") for row in found)
            rows[name] = Counter(texts)
    return Undisturbed(said["folder"], said, rows, turns_of(said["folder"]))


def turns_of(folder: Path) -> Counter[tuple[str, ...]]:
    """How many settled answers a run's journals hold, by path, arm, session and turn."""
    turns: Counter[tuple[str, ...]] = Counter()
    for journal in sorted(folder.glob("*-*-0.jsonl.zst")):
        if not journal.name.startswith("scores"):
            for capture in JournalReader(journal):
                key = capture.key
                turns[key.path, key.arm, key.session, key.turn] += settles(capture)
    return turns


def differences(again: Undisturbed, reference: Undisturbed) -> list[str]:
    """What is not as in the undisturbed run, a sentence each."""
    found = [
        f"{name}: {again.said[name]} is not {reference.said[name]}"[:500]
        for name in ("verdict", "codes", "counts")
        if again.said[name] != reference.said[name]
    ]
    for name, rows in reference.rows.items():
        if again.rows[name] != rows:
            more = list((again.rows[name] - rows).elements())[:1]
            found.append(f"rows of {name} differ: {more}"[:500])
    if again.turns != reference.turns:
        found.append(f"turns: {again.turns - reference.turns} too many or lost")
    return found
