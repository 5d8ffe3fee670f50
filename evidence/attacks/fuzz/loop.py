"""Feeding a target, and keeping what went wrong: exceptions, inputs that take too long, growth.

Faults of one kind (exception and the innermost line of draftgate's own code) are kept once, with
the shortest input that shows it.
"""

import random
import resource
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from evidence.attacks.fuzz.mutations import mutated
from evidence.attacks.fuzz.targets import ALLOWED, LONGEST, Target

LONGEST_S = 2.0
"""CPU time of one input: more is a hang. The wall clock would count what else this machine does."""

MOST_GROWTH_KIB = 1 << 19
"""So much may the process grow over all inputs: what is read is not kept."""

ROOT = Path(__file__).resolve().parents[3]


@dataclass(slots=True)
class Found:
    """What came of some inputs: how many there were, how many were refused with an error for the
    user, and the faults by their kind."""

    inputs: int = 0
    refused: int = 0
    faults: dict[str, bytes] = field(default_factory=dict)
    times: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str, data: bytes) -> None:
        """Keep a fault."""
        self.times[kind] += 1
        if kind not in self.faults or len(data) < len(self.faults[kind]):
            self.faults[kind] = data


def feed(target: Target, data: bytes, found: Found) -> None:
    """Feed one input."""
    found.inputs += 1
    began = time.process_time()
    try:
        target.feed(data)
    except ALLOWED:
        found.refused += 1
    except Exception as error:
        found.add(_kind(error), data)
    if time.process_time() - began > LONGEST_S:
        found.add(f"more than {LONGEST_S} s", data)


def random_inputs(target: Target, runs: int, seed: int) -> Found:
    """Feed the examples of a target, then changed ones, `runs` in all."""
    chance = random.Random(seed)
    found = Found()
    inputs = examples_of(target)
    chance.shuffle(inputs)
    for data in inputs[:runs]:
        feed(target, data, found)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    while found.inputs < runs:
        feed(target, mutated(chance.choice(inputs), chance.choice(inputs), chance), found)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    if grown > MOST_GROWTH_KIB:
        found.add(f"grew by {grown >> 10} MiB", b"")
    return found


def examples_of(target: Target) -> list[bytes]:
    """Those that are short enough."""
    return [data for data in target.examples() if len(data) <= LONGEST]


def _kind(error: Exception) -> str:
    """``TypeError at traces/wire/sse.py:80``."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename.startswith(str(ROOT))]
    place = own[-1] if own else frames[-1]
    name = place.filename.removeprefix(f"{ROOT}/")
    return f"{type(error).__name__} at {name}:{place.lineno} ({error!s:.80})"
