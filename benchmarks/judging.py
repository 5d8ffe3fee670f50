"""What judging a run takes, and what more of it takes: time should grow with it, memory hardly.

    python benchmarks/judging.py .draftgate/runs/RUN --times 1 4 16

Makes runs of so many times the sessions of one (ids and times of every copy are its own, the scores
are shared), and judges each in a process of its own, as `draftgate check RUN_FOLDER` does. Prints
one line per size: candidate tokens, CPU seconds, peak memory (MB), the tokens that each further
CPU second judged, the verdict. vLLM's own start and the budget of cuts are in the first size.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from draftgate.run.folder import RunFolder
from traces.journal.journal import JournalReader, JournalWriter
from traces.wire.capture import Capture

APART_S = 100_000.0
"""So many seconds lie between the copies: no request of one is in flight beside another's."""

CHECK = """
import json, resource, sys
from pathlib import Path
from draftgate.run.offline import judge_journals
outcome = judge_journals([Path(sys.argv[1])], None)
own = resource.getrusage(resource.RUSAGE_SELF)
scope = re.search(r"([\\d,]+) candidate tokens", outcome.verdict.scope)
print(json.dumps({
    "verdict": outcome.verdict.verdict,
    "codes": outcome.codes,
    "tokens": int(scope[1].replace(",", "")),
    "cpu_s": own.ru_utime + own.ru_stime,
    "peak_mb": own.ru_maxrss // 1024,
}))
""".replace("import json,", "import re, json,")


def copied(capture: Capture, copy: int) -> Capture:
    """The same capture of another copy of its session."""
    key = replace(capture.key, session=session_of(capture.key.session, copy))
    return replace(capture, key=key, sent_at=capture.sent_at + copy * APART_S)


def session_of(session: str, copy: int) -> str:
    return f"{session}-copy-{copy}" if copy else session


def multiply(run: Path, times: int, into: Path) -> Path:
    """The folder of a run of so many times the sessions."""
    into.mkdir()
    for journal in RunFolder(run).journals():
        with JournalWriter(into / journal.name) as writer:
            for capture in captures(journal, times):
                writer.add(capture)
    for other in (*run.glob("*-samples.zst"), *run.glob("scores-*"), run / "paths.json"):
        if other.exists():
            shutil.copy(other, into)
    plan = json.loads((run / "run.json").read_text())
    for part in ("limits", "too_long"):
        plan[part] = [
            [session_of(session, copy), *rest]
            for copy in range(times)
            for session, *rest in plan[part]
        ]
    plan |= {"sessions": times * plan["sessions"], "turns": times * plan["turns"]}
    (into / "run.json").write_text(json.dumps(plan))
    return into


def captures(journal: Path, times: int) -> Iterator[Capture]:
    """Every capture of a journal, so many times, a copy at a time as a long run would be taken."""
    for copy in range(times):
        for capture in JournalReader(journal):
            yield copied(capture, copy)


def main() -> None:
    """Multiply, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--times", type=int, nargs="+", default=[1, 4, 16])
    given = parser.parse_args()
    print(f"{'times':>5} {'tokens':>10} {'CPU s':>8} {'peak MB':>8} {'tokens/CPU s':>13}  verdict")
    before: dict[str, float] = {}
    for times in given.times:
        with tempfile.TemporaryDirectory() as folder:
            run = multiply(given.run, times, Path(folder) / given.run.name)
            ran = subprocess.run(
                [sys.executable, "-c", CHECK, str(run)],
                capture_output=True,
                text=True,
                check=True,
                env=os.environ | {"PYTHONPATH": os.pathsep.join([*sys.path[1:], os.getcwd()])},
            )
        found = json.loads(ran.stdout.splitlines()[-1])
        marginal = "-"
        if before:
            more = found["tokens"] - before["tokens"]
            marginal = f"{more / (found['cpu_s'] - before['cpu_s']):,.0f}"
        print(
            f"{times:>5} {found['tokens']:>10,} {found['cpu_s']:>8.1f} {found['peak_mb']:>8,} "
            f"{marginal:>13}  {found['verdict']} {found['codes'] or ''}",
            flush=True,
        )
        before = found


if __name__ == "__main__":
    main()
