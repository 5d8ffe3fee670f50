"""Feed one target or all, and print a table.

    python -m evidence.attacks.fuzz --target streams --runs 100000

With the package `atheris` (extra `evidence`) inputs are chosen by coverage; without it, or with
`--random`, examples are changed at random. Ends with 1 where something was found.
"""

import argparse
import base64
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

from evidence.attacks.fuzz.loop import Found, random_inputs
from evidence.attacks.fuzz.targets import TARGETS
from evidence.markdown import table

SHARES = {"recordings": 0.12, "redaction": 0.1, "configs": 0.12, "labels": 0.04, "questions": 0.02}
"""Of the runs over all targets; the others share the rest. Where one input takes long, fewer."""


def main(arguments: list[str] | None = None) -> int:
    """Feed, print, and keep the inputs that show a fault."""
    parser = argparse.ArgumentParser(prog="python -m evidence.attacks.fuzz", description=__doc__)
    parser.add_argument("--target", choices=["all", *TARGETS], default="all")
    parser.add_argument("--runs", type=int, default=100_000, help="inputs, over all targets")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--random", action="store_true", help="do not use coverage")
    parser.add_argument("--keep", type=Path, help="folder for inputs that show a fault")
    given = parser.parse_args(arguments)
    guided = not given.random and find_spec("atheris") is not None
    names = list(TARGETS) if given.target == "all" else [given.target]
    rows, faults = [], 0
    for name in names:
        runs = _runs(name, given.runs) if given.target == "all" else given.runs
        began = _cpu_s()
        found = _guided(name, runs, given.seed) if guided else _random(name, runs, given.seed)
        rows.append(
            (name, found.inputs, found.refused, len(found.faults), f"{_cpu_s() - began:.0f}")
        )
        faults += len(found.faults)
        _show(name, found, given.keep)
    how = "chosen by coverage" if guided else "changed at random"
    print(table(("target", f"inputs ({how})", "refused with an error", "faults", "CPU s"), rows))
    print(f"\n{sum(row[1] for row in rows)} inputs, {faults} faults")
    return 1 if faults else 0


def _runs(name: str, runs: int) -> int:
    others = len(TARGETS) - len(SHARES)
    return int(runs * SHARES.get(name, (1 - sum(SHARES.values())) / others)) + 1


def _random(name: str, runs: int, seed: int) -> Found:
    return random_inputs(TARGETS[name], runs, seed)


def _guided(name: str, runs: int, seed: int) -> Found:
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        answer = Path(folder) / "answer.json"
        words = [name, str(runs), str(seed), str(Path(folder) / "corpus"), str(answer)]
        command = [sys.executable, "-m", "evidence.attacks.fuzz.guided", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
        if not answer.exists():
            last = " / ".join(done.stderr.strip().splitlines()[-6:])
            return Found(
                inputs=0, faults={f"the process ended with {done.returncode}: {last}": b""}
            )
        answer_json = json.loads(answer.read_text())
    faults = {kind: base64.b64decode(data) for kind, data in answer_json["faults"].items()}
    return Found(
        answer_json["inputs"], answer_json["refused"], faults, Counter(answer_json["times"])
    )


def _show(name: str, found: Found, keep: Path | None) -> None:
    for number, (kind, data) in enumerate(found.faults.items()):
        print(f"{name}: {kind}, {found.times[kind]} times: {data[:200]!r}", file=sys.stderr)
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            (keep / f"{name}-{number}").write_bytes(data)


def _cpu_s() -> float:
    """Of this process and those that it waited for."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    spent = [resource.getrusage(kind) for kind in kinds]
    return sum(one.ru_utime + one.ru_stime for one in spent)


if __name__ == "__main__":
    sys.exit(main())
