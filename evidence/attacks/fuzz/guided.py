"""Inputs chosen by coverage: one target in a process of its own, under atheris.

    python -m evidence.attacks.fuzz.guided TARGET RUNS SEED CORPUS ANSWER

atheris counts the branches that an input takes, keeps inputs in the folder CORPUS that take new
ones, and changes those further. Half of the changes are libFuzzer's, half those of `mutations`.
ANSWER is the file for what was found, as JSON.
"""

import base64
import hashlib
import json
import os
import random
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["traces", "checks", "reports", "draftgate"]):
    from evidence.attacks.fuzz.loop import Found, examples_of, feed
    from evidence.attacks.fuzz.mutations import MOST_BYTES, mutated
    from evidence.attacks.fuzz.targets import TARGETS

MEMORY_MIB = 3000
"""More than that is a fault; libFuzzer ends the process."""


def main(name: str, runs: int, seed: int, corpus: Path, answer: Path) -> None:
    """Feed one target; libFuzzer ends the process itself."""
    target, found, chance = TARGETS[name], Found(), random.Random(seed)
    examples = examples_of(target)
    corpus.mkdir(parents=True, exist_ok=True)
    for data in examples:
        (corpus / hashlib.sha1(data).hexdigest()).write_bytes(data)

    def take(data: bytes) -> None:
        feed(target, data, found)
        if found.inputs >= runs:
            _write(found, answer)
            os._exit(0)

    def change(data: bytes, most: int, number: int) -> bytes:
        if chance.random() < 0.5:
            return bytes(atheris.Mutate(data, most))
        return mutated(data, chance.choice(examples), chance)[:most]

    limits = [f"-rss_limit_mb={MEMORY_MIB}", f"-max_len={MOST_BYTES}", "-timeout=120"]
    options = [f"-runs={2 * runs}", f"-seed={seed}", "-print_final_stats=0", "-verbosity=0"]
    arguments = [sys.argv[0], *options, *limits, str(corpus.resolve())]
    answer = answer.resolve()
    atheris.Setup(arguments, take, custom_mutator=change)
    atheris.Fuzz()


def _write(found: Found, answer: Path) -> None:
    faults = {kind: base64.b64encode(data).decode() for kind, data in found.faults.items()}
    numbers = {"inputs": found.inputs, "refused": found.refused, "faults": faults}
    answer.write_text(json.dumps({**numbers, "times": dict(found.times)}))


if __name__ == "__main__":
    _, given, count, start, folder, file = sys.argv
    main(given, int(count), int(start), Path(folder), Path(file))
