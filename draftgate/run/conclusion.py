"""From what was gathered to a verdict in the store, a report beside it, and case files.

    .draftgate/runs/<run>/cases/0003-ARGS_NOT_JSON-s12-t0004.case.json

One case file per finding about a turn: the smallest thing that shows it again offline. Secrets in
it are replaced before it is written; `draftgate check` on it gives the same codes.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from checks.cases.writing import case_json, case_of_pair
from checks.findings import ERROR, SPLIT_VARIANT, Finding
from checks.run.judge import JudgedRun, RunJudgement, judge_all
from checks.run.read import Sessions
from checks.run.session import pairs_of
from checks.sessions.evidence import RunFacts
from checks.sessions.pairs import LivePair
from checks.vllm.split_run import SplitCases
from draftgate.config.config import Config
from draftgate.progress import Reporter
from draftgate.run.folder import RunFolder
from draftgate.run.outcome import GateOutcome
from draftgate.run.stored import report_file
from draftgate.version import VERSION
from reports.formats.html import render_html
from reports.rows.tables import RunDescription, run_tables
from reports.store.store import Store
from reports.store.summary import read_summary
from traces.journal.arm import MAIN
from traces.journal.exchange import session_order
from traces.output import write_whole, writing
from traces.redaction.redaction import Redactor

MOST_PER_CODE = 20
"""So many case files are written for one code; further findings are in the store all the same."""

Place = tuple[str, str, str]
"""(session, turn, arm)."""


def conclude(
    sessions: Sessions,
    facts: RunFacts,
    config: Config,
    folder: RunFolder,
    time: tuple[datetime, datetime],
    reporter: Reporter,
) -> GateOutcome:
    """Judge what was gathered between two times, keep it in the store, write the report."""
    reporter.note("judging")
    run = judge_all(sessions, facts)
    judged = run.judgement
    about = RunDescription(
        *time,
        tool_version=VERSION,
        config=Redactor().value(config.model_dump(mode="json", exclude={"policy"})),
        counts=counts_of(judged, facts),
    )
    redact = Redactor() if config.run.redact else str
    cases = write_cases(
        folder.cases,
        judged.findings,
        _pairs_to_show(run, facts),
        judged.parts.splits.cases,
        redact=config.run.redact,
    )
    db, report = Path(config.run.db), report_file(config, folder)
    with Store.open(db, write=True) as store:
        store.load(run_tables(run, facts, about, cases, redact))
        summary = read_summary(store, folder.run)
        write_whole(report, render_html(store, summary, folder=report.parent))
    return GateOutcome(
        run=folder.run,
        verdict=judged.verdict,
        codes=Counter(f.code for f in judged.findings if f.severity == ERROR),
        counts=about.counts,
        store=db,
        report=report,
        folder=folder.root,
        notes=judged.notes,
        faithful=judged.faithful,
    )


def _pairs_to_show(run: JudgedRun, facts: RunFacts) -> list[LivePair]:
    """The pairs of all sessions with an error, made once more."""
    errors = [f for f in run.judgement.findings if f.severity == ERROR]
    shown = {f.session for f in errors if f.session is not None}
    return [
        pair
        for name in sorted(shown & run.sums.sessions.keys(), key=session_order)
        for pairs in pairs_of(run.sessions.session(name), run.floor, facts).values()
        for pair in pairs
    ]


def counts_of(judged: RunJudgement, facts: RunFacts) -> dict[str, int]:
    """How much was replayed, skipped and judged."""
    greedy, tools = judged.parts.greedy, judged.parts.behavior.table
    equal = sum(turn.equal and turn.not_judged is None for turn in greedy.turns)
    forks = Counter(turn.fork.kind for turn in greedy.turns if turn.fork is not None)
    skipped = [turn for session in facts.sessions for turn in session.turns if turn.skipped]
    counts = {
        "sessions": len(facts.sessions),
        "turns_replayed": judged.turns,
        "turns_too_long": len(facts.too_long),
        "turns_skipped": len(skipped),
        "rows_unread": facts.unread,
        "records_of_no_path": len(facts.strays),
        "turns_judged": sum(turn.not_judged is None for turn in greedy.turns),
        "turns_equal": equal,
        "tokens_judged": greedy.tokens,
        "tokens_unscored": greedy.unscored,
        "near_tie_forks": forks["near_tie"],
        "hard_forks": forks["hard"],
        "aa_forks": sum(turn.repeat_divergence is not None for turn in greedy.turns),
        "turns_with_tools": tools.pairs if tools else 0,
        "drafts": judged.parts.acceptance.drafts,
        "unaligned_turns": sum(f.code == "UNALIGNED" for f in judged.findings),
        **judged.parts.splits.counts,
    }
    for found in judged.parts.further:
        counts[f"tokens_judged[{found.arm.name}]"] = found.greedy.tokens
    return counts


def write_cases(
    folder: Path,
    findings: Sequence[Finding],
    pairs: Sequence[LivePair],
    splits: SplitCases,
    *,
    redact: bool,
) -> dict[int, str]:
    """Write the case files of all errors; the answer maps a finding's place to its file.

    Findings that cannot be shown offline (they need the noise floor, or the server) have none.
    """
    live = {(*pair.turn, pair.arm): pair.pair for pair in pairs}
    by_place: dict[Place, list[Finding]] = {}
    for finding in findings:
        if (place := _place(finding)) is not None:
            by_place.setdefault(place, []).append(finding)
    redactor = Redactor() if redact else str
    written: dict[int, str] = {}
    counts: dict[str, int] = {}
    for number, finding in enumerate(findings):
        place = _place(finding)
        if place is None or place not in live or finding.severity != ERROR:
            continue
        counts[finding.code] = counts.get(finding.code, 0) + 1
        if counts[finding.code] > MOST_PER_CODE:
            continue
        if finding.code == SPLIT_VARIANT:
            case = splits.case_of(finding, redactor)
        else:
            case = case_of_pair(live[place], finding, by_place[place], redactor)
        if case is not None:
            with writing(folder):
                folder.mkdir(exist_ok=True)
            name = _name(number, finding)
            text = json.dumps(case_json(case), ensure_ascii=False, indent=1)
            write_whole(folder / name, text + "\n")
            written[number] = str(folder / name)
    return written


def _place(finding: Finding) -> Place | None:
    if finding.session is None or finding.turn is None:
        return None
    return finding.session, finding.turn, finding.detail.get("arm", MAIN)


def _name(number: int, finding: Finding) -> str:
    """A file name that sorts in report order; session ids may hold anything."""
    where = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{finding.session}-{finding.turn}")[:60]
    return f"{number:04d}-{finding.code}-{where}.case.json"
