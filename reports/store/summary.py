"""Everything a report says about one run, read from the store once; writers only render it.

So every writer shows the same numbers, and any old run can be rendered again.
"""

from dataclasses import dataclass
from typing import Any

from reports.store.store import Store

Row = dict[str, Any]

LATENCIES = """
with recursive bins(bin, from_ms, to_ms) as (
  select 0, 0.01::double, 1.189207115002721e-2
  union all
  select bin + 1, to_ms, to_ms * 1.189207115002721e0 from bins where bin < 100
),
times as (
  select unnest([
    {'path': 'baseline', 'metric': 'ttft_ms', 'ms': baseline_ttft_ms},
    {'path': 'candidate', 'metric': 'ttft_ms', 'ms': candidate_ttft_ms},
    {'path': 'baseline', 'metric': 'tpot_ms', 'ms': baseline_tpot_ms},
    {'path': 'candidate', 'metric': 'tpot_ms', 'ms': candidate_tpot_ms}
  ], recursive := true)
  from v_latency_pairs where run = $run
)
select path, metric, bin, from_ms, to_ms, count(*) as turns
from times join bins on ms >= from_ms and ms < to_ms
group by all order by metric, path, bin
"""
"""Turns by time to first token and time per output token, in bins a quarter of a doubling wide
(4 of them double the time), from 0.01 ms to 400 s."""

TOOLS_CALLED = """
select name as tool, path, count(*) as calls,
  count(*) filter (
    parsed and known is distinct from false and valid is distinct from false
  ) as usable
from tool_calls
semi join (
  select path, session, turn, max(attempt) as attempt from captures
  where run = $run and arm = 'main' group by all
) using (path, session, turn, attempt)
where run = $run and arm = 'main' and name is not null
group by all order by tool, path
"""
"""Calls of each tool on both paths, and those a client can run: parsed, known, valid."""

QUERIES: dict[str, str] = {
    "paths": "from paths where run = $run order by path",
    "differences": "from path_differences where run = $run order by allowed, field",
    "bounds": "from bounds where run = $run and turns = 'all' order by ordinal",
    "faithful": "from bounds where run = $run and turns = 'faithful' order by ordinal",
    "controls": "from controls where run = $run order by ordinal",
    "findings": "from findings where run = $run order by ordinal",
    "metrics": "from metrics where run = $run"
    " order by dimension <> 'all', name, path, dimension, slice",
    "acceptance": "from v_acceptance where run = $run",
    "boundaries": "from v_acceptance_by_boundary where run = $run",
    "contexts": "from v_acceptance_by_context where run = $run",
    "distances": "from v_acceptance_by_distance where run = $run",
    "templates": "from v_acceptance_by_template where run = $run",
    "tools": "from v_acceptance_by_tool where run = $run",
    "cells": "from v_acceptance_by_position where run = $run"
    " and dimension in ('all', 'boundary', 'distance', 'context')",
    "lengths": "select path, arm, 1 + accepted as length, count(*) as steps"
    " from steps where run = $run and first_token is not null"
    " group by all order by path, arm, length",
    "speedup": "from v_speedup where run = $run order by context_band is not null, context_band",
    "curve": "from v_speedup_by_concurrency where run = $run order by concurrency, arm",
    "break_even": "select value from metrics where run = $run and name = 'break_even_concurrency'",
    "shifts": "from v_template_shift where run = $run and dimension in ('all', 'boundary')"
    " order by arm, dimension <> 'all', difference nulls last, slice",
    "slices": "from v_slices where run = $run"
    " order by case verdict when 'fail' then 0 else 1 end, dimension, slice",
    "regrets": "from regret_slices where run = $run order by ordinal",
    "routes": "from routes where run = $run order by arm = 'plain' desc, arm",
    "scope": "from scope where run = $run order by ordinal",
    "load": "from v_server_load where run = $run order by arm, path",
    "replayed": "select count(distinct session) as sessions, count(*) as turns,"
    " coalesce(sum(candidate_tokens), 0)::bigint as tokens from v_latency_pairs where run = $run",
    "latencies": LATENCIES,
    "tools_called": TOOLS_CALLED,
    "streams": "from v_stream_integrity where run = $run order by path, arm",
    "tool_success": "from v_tool_success where run = $run",
    "calls": "select comparison, count(calls_change) as turns,"
    " count(*) filter (calls_change = 'same') as same,"
    " count(*) filter (calls_change = 'spelling') as spelling,"
    " count(*) filter (calls_change = 'cosmetic') as cosmetic,"
    " count(*) filter (calls_change = 'consequential') as consequential"
    " from pairs where run = $run and calls_change is not null"
    " group by comparison order by comparison desc",
    "changed_calls": "from v_changed_calls where run = $run and change = 'consequential'"
    " order by comparison desc, session, turn",
    "divergences": "from v_divergences where run = $run and comparison = 'candidate'",
    "forks": "select comparison, count(*) as turns, count(*) filter (judged) as judged,"
    " count(fork_index) as forks, count(*) filter (fork_kind = 'near_tie') as near_ties,"
    " count(*) filter (fork_kind = 'hard') as hard, max(max_regret) as max_regret,"
    " coalesce(sum(tokens), 0)::bigint as tokens"
    " from pairs where run = $run group by comparison order by comparison desc",
    "skipped": "select skip_reason as reason, count(*) as turns from turns"
    " where run = $run and not replayable group by all order by turns desc, reason",
    "sources": "select format, template, count(*) as sessions, sum(turns)::bigint as turns,"
    " sum(turns_replayed)::bigint as turns_replayed"
    " from sessions where run = $run group by all order by format, template",
}
"""section of a report -> the query that fills it; the same SQL works in `draftgate sql`."""


@dataclass(frozen=True, slots=True)
class Summary:
    """One run as a report shows it: the row of `runs`, and the rows of each section."""

    run: Row
    sections: dict[str, list[Row]]

    def __getitem__(self, section: str) -> list[Row]:
        return self.sections[section]

    @property
    def id(self) -> str:
        """The run id."""
        return str(self.run["run"])

    @property
    def pressing(self) -> list[Row]:
        """Findings against the candidate: errors, then warnings, each in report order.

        What the baseline shows too is not among them (`shared`).
        """
        return _severity_first([f for f in self["findings"] if not f["baseline_too"]])

    @property
    def shared(self) -> list[Row]:
        """Warnings about flaws that the baseline shows too: the model's or the parser's."""
        return _severity_first([f for f in self["findings"] if f["baseline_too"]])

    @property
    def codes(self) -> dict[str, int]:
        """Findings at severity error by code, in report order."""
        counts: dict[str, int] = {}
        for finding in self["findings"]:
            if finding["severity"] == "error":
                counts[finding["code"]] = counts.get(finding["code"], 0) + 1
        return counts


def _severity_first(findings: list[Row]) -> list[Row]:
    rank = {"error": 0, "warning": 1}
    shown = [f for f in findings if f["severity"] in rank]
    return sorted(shown, key=lambda f: (rank[f["severity"]], f["ordinal"]))


def read_summary(store: Store, run: str) -> Summary:
    """The summary of a run; `run` may be shortened, or ``last``. Raises `StoreError`."""
    run = store.resolve(run)
    (row,) = store.rows("from runs where run = ?", [run])
    sections = {name: store.rows(sql, {"run": run}) for name, sql in QUERIES.items()}
    return Summary(row, sections)


def main_acceptance(summary: Summary, section: str = "acceptance") -> list[Row]:
    """The rows of an acceptance section that are about the candidate's main arm."""
    return [r for r in summary[section] if r["path"] == "candidate" and r["arm"] == "main"]


def whole_speed(summary: Summary) -> Row | None:
    """The row of the speed-up over all turns of the main arm; None where it was not measured."""
    return next((row for row in summary["speedup"] if row["context_band"] is None), None)


def break_even(summary: Summary) -> str:
    """Where speculation stops paying, in words."""
    known = [row["value"] for row in summary["break_even"]]
    if not known:
        return "break-even not measured"
    if known[0] is None:
        return "it pays at every concurrency measured"
    return f"break-even at about {known[0]:.1f} sessions"
