"""One judgement: live, of the journals afterwards, and of a run that was resumed."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from draftgate.config.config import Config
from draftgate.progress import SilentReporter
from draftgate.run.gate import run_gate
from draftgate.run.offline import judge_journals
from draftgate.run.outcome import GateOutcome
from tests.support.paper.gate import K, paper_config, paper_paths
from tests.support.paper.server import Faults
from tests.support.paper.stream import Stream
from traces.journal.journal import JournalReader, JournalWriter

PLANNED = ("sessions", "turns_skipped", "rows_unread")
"""Counts of the session files, which journals do not hold."""


def lost_calls(stream: Stream, request: dict[str, Any]) -> None:
    stream.calls = []


def said(outcome: GateOutcome) -> dict[str, Any]:
    """What does not hang on the clock: all of the verdict, codes, counts."""
    counts = {name: n for name, n in outcome.counts.items() if name not in PLANNED}
    return {"verdict": outcome.verdict, "codes": dict(outcome.codes), "counts": counts}


def cut(journal: Path) -> None:
    """Leave the first half of a journal, as a run that was killed does."""
    captures = list(JournalReader(journal))
    journal.unlink()
    with JournalWriter(journal) as writer:
        for capture in captures[: len(captures) // 2]:
            writer.add(capture)


@pytest.mark.parametrize("fault", [Faults(drafts=K), Faults(drafts=K, spoil=lost_calls)])
def test_live_offline_and_resumed_say_the_same(tmp_path: Path, fault: Faults) -> None:
    with paper_paths(fault) as servers:
        config = paper_config(tmp_path, servers)
        live = run_gate(config, SilentReporter())
        offline = judge_journals(sorted(live.folder.glob("*-main-0.jsonl.zst")), None)
        assert said(offline) == said(live)
        resumed = run_gate(elsewhere(config, live, tmp_path), SilentReporter(), live.run)
        assert said(resumed) == said(live)


def elsewhere(config: Config, live: GateOutcome, home: Path) -> Config:
    """The configuration of a copy of the run that got as far as the middle of the baseline."""
    output = home / "again"
    folder = shutil.copytree(live.folder, output / "runs" / live.run)
    cut(folder / "baseline-main-0.jsonl.zst")
    for later in ("baseline-aa", "baseline-plain", "scores"):
        (folder / f"{later}-0.jsonl.zst").unlink(missing_ok=True)
    run = config.run.model_copy(update={"output": str(output), "db": str(home / "again.duckdb")})
    return config.model_copy(update={"run": run})
