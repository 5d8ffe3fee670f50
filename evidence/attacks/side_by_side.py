"""Two gates at the same time: over one store, and over one run."""

import random
import time
from pathlib import Path

from evidence.attacks.commands import ended, gate_words, prepared, started, verdict_of
from evidence.attacks.served_pair import Servers
from evidence.attacks.snapshot import Undisturbed, differences

SECOND = ("out-2.txt", "err-2.txt")

BUSY = "another process is at work on this run"


def one_store(home: Path, pair: Servers, whole: Undisturbed, chance: random.Random) -> list[str]:
    """What is wrong after two gates wrote their runs to one store, one a little later."""
    store = home / "store.duckdb"
    homes = [prepared(home / name, pair, db=str(store)) for name in ("first", "second")]
    children = []
    for place in homes:
        children.append(started(place, gate_words(place)))
        time.sleep(chance.uniform(0.0, 0.3))
    wrong = []
    for place, child in zip(homes, children, strict=True):
        again = verdict_of(place, found := ended(place, child))
        if again is None:
            wrong.append(f"{place.name}: ended with {found.code}: {found.err[-300:]}")
        else:
            wrong += [f"{place.name}: {what}" for what in differences(again, whole)]
    return wrong


def one_run(home: Path, pair: Servers, whole: Undisturbed, chance: random.Random) -> list[str]:
    """What is wrong after a run was resumed while it went on: the second must be refused, or come
    late enough to show the verdict of the first."""
    prepared(home, pair)
    child = started(home, gate_words(home))
    while len(gate_words(home)) == 2:
        time.sleep(0.005)
    time.sleep(chance.uniform(0.0, float(whole.said["seconds"])))
    second = ended(home, started(home, gate_words(home), outputs=SECOND), SECOND)
    first = ended(home, child)
    wrong = []
    if not (second.code == 2 and BUSY in second.err) and second.code != first.code:
        wrong.append(f"the second ended with {second.code}: {second.err[-300:]}")
    again = verdict_of(home, first)
    if again is None:
        return [*wrong, f"the first ended with {first.code}: {first.err[-300:]}"]
    return [*wrong, *differences(again, whole)]
