"""From gathered evidence to a verdict in the store and a report beside it."""

from collections import Counter
from pathlib import Path

from checks.findings import ERROR
from draftgate.progress import Reporter
from draftgate.run.cases import write_cases
from checks.run.judge import Conclusion, judge
from draftgate.run.outcome import GateOutcome
from draftgate.run.record import Record
from draftgate.run.stored import report_file
from reports.rows.tables import run_tables
from reports.formats.html import render_html
from reports.store.store import Store
from reports.store.summary import read_summary
from traces.output import write_whole


def conclude(record: Record, reporter: Reporter) -> GateOutcome:
    """Judge the record, keep it in the store, write the report."""
    reporter.note("judging")
    conclusion = judge(record)
    counts = counts_of(record, conclusion)
    cases = write_cases(
        record.folder.cases,
        conclusion.findings,
        conclusion.live_pairs,
        conclusion.splits.cases,
        redact=record.config.run.redact,
    )
    db, report = Path(record.config.run.db), report_file(record.config, record.folder)
    with Store.open(db, write=True) as store:
        store.load(run_tables(record, conclusion, counts, cases))
        summary = read_summary(store, record.folder.run)
        write_whole(report, render_html(store, summary, folder=report.parent))
    codes = Counter(f.code for f in conclusion.findings if f.severity == ERROR)
    return GateOutcome(
        run=record.folder.run,
        verdict=conclusion.verdict,
        codes=codes,
        counts=counts,
        store=db,
        report=report,
        folder=record.folder.root,
        notes=conclusion.notes,
    )


def counts_of(record: Record, conclusion: Conclusion) -> dict[str, int]:
    """How much was replayed, skipped and judged."""
    greedy = record.greedy
    assert greedy is not None
    equal = sum(turn.equal and turn.not_judged is None for turn in greedy.turns)
    forks = Counter(turn.fork.kind for turn in greedy.turns if turn.fork is not None)
    counts = {
        "sessions": len(record.plan.sessions),
        "turns_replayed": len(record.evidence.of("candidate")),
        "turns_too_long": len(record.too_long),
        "turns_skipped": sum(record.plan.skipped.values()),
        "rows_unread": sum(record.plan.unread.values()),
        "records_of_no_path": len(record.evidence.strays),
        "turns_judged": sum(turn.not_judged is None for turn in greedy.turns),
        "turns_equal": equal,
        "tokens_judged": greedy.tokens,
        "tokens_unscored": greedy.unscored,
        "near_tie_forks": forks["near_tie"],
        "hard_forks": forks["hard"],
        "aa_forks": sum(turn.repeat_divergence is not None for turn in greedy.turns),
        "turns_with_tools": conclusion.behaviour.table.pairs if conclusion.behaviour.table else 0,
        "drafts": conclusion.acceptance.drafts,
        "unaligned_turns": sum(f.code == "UNALIGNED" for f in conclusion.findings),
        **conclusion.splits.counts,
    }
    for found in record.further.values():
        counts[f"tokens_judged[{found.arm.name}]"] = found.greedy.tokens
    return counts
