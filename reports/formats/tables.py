"""The tables of the page: what each column shows of a row, said once.

A table is columns and rows; on a narrow screen the page stacks each row, title beside value, so no
table needs room beside it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reports.number import ABSENT, interval, number
from reports.store.summary import Row

Shown = Callable[[Row], str]


@dataclass(frozen=True, slots=True)
class Column:
    """A title, what it shows of a row, what stands below that, and the row's class, if any."""

    title: str
    show: Shown
    numeric: bool = False
    below: Shown | None = None
    style: Shown | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A caption, columns (the first names the row), and rows."""

    caption: str
    columns: tuple[Column, ...]
    rows: Sequence[Row]


def text(title: str, key: str) -> Column:
    """A column of text as it is stored."""
    return Column(title, lambda row: ABSENT if row[key] is None else str(row[key]))


def words(title: str, key: str) -> Column:
    """A column of a state: its words, in the state's color."""
    return Column(
        title,
        lambda row: str(row[key] or ABSENT).replace("_", " "),
        style=lambda row: f"state {row[key] or ''}",
    )


def count(title: str, key: str, unit: str | None = None) -> Column:
    """A column of numbers."""
    return Column(title, lambda row: number(row[key], unit), True)


def estimate(title: str, key: str, ends: tuple[str, str], unit: str | None = None) -> Column:
    """A column of numbers, each with its interval below."""
    low, high = ends
    return Column(
        title,
        lambda row: number(row[key], unit),
        True,
        lambda row: "" if row[low] is row[high] is None else interval(row[low], row[high], unit),
    )


FORKS = (
    text("comparison", "comparison"),
    *(count(name.replace("_", " "), name) for name in ("turns", "judged", "tokens", "forks")),
    count("near ties", "near_ties"),
    count("hard", "hard"),
    count("largest regret", "max_regret", "nat"),
)

SLICES = (
    Column("slice", lambda row: f"{row['dimension']} {row['slice']}"),
    Column(
        "verdict",
        lambda row: str(row["verdict"]),
        style=lambda row: (
            "state quiet" if row["verdict"] == "inconclusive" else f"state {row['verdict']}"
        ),
    ),
    count("turns", "turns"),
    count("errors", "errors"),
    count("regret rate per token, at most", "regret_limit"),
    count("p", "regret_p"),
    count("tool-call success, difference at least", "tool_limit", "share"),
    count("p", "tool_p"),
    count("acceptance length", "acceptance_length"),
    estimate("against the rest", "acceptance_difference", ("acceptance_low", "acceptance_high")),
    text("", "acceptance_change"),
)

REGRETS = (
    text("what", "dimension"),
    text("slice", "slice"),
    count("tokens", "tokens"),
    count("forks", "forks"),
    count("mean regret", "mean_regret", "nat"),
    count("baseline", "noise_mean_regret", "nat"),
    estimate("difference", "difference", ("low", "high"), "nat"),
    text("", "change"),
    count("above the soft bound", "exceedances"),
    count("baseline, above it", "noise_exceedances"),
)

SHIFTS = (
    text("arm", "arm"),
    text("changed", "changes"),
    text("boundary", "slice"),
    count("length", "changed_length"),
    count("in the main arm", "main_length"),
    estimate("difference", "difference", ("low", "high")),
    text("", "change"),
    count("accepted per step, of the main arm", "accepted_share", "share"),
)

_SPEED = (
    estimate("time per output token, per turn", "tpot_speedup", ("low", "high"), "×"),
    estimate("per token", "token_speedup", ("token_low", "token_high"), "×"),
)
_PACE = (
    count("baseline tokens/s", "baseline_tokens_per_s"),
    count("candidate tokens/s", "candidate_tokens_per_s"),
)
SPEEDUP = (
    Column("context", lambda row: str(row["context_band"] or "all")),
    count("turns", "turns"),
    *_SPEED,
    estimate("time to first token, per turn", "ttft_speedup", ("ttft_low", "ttft_high"), "×"),
    *_PACE,
)
CURVE = (
    Column("concurrency", lambda row: number(row["concurrency"]), below=lambda row: row["arm"]),
    count("in flight", "in_flight"),
    count("turns", "turns"),
    *_SPEED,
    text("", "state"),
    count("time to first token", "ttft_speedup", "×"),
    count("output tokens/s and user", "user_speedup", "×"),
    *_PACE,
)

LOAD = (
    text("arm", "arm"),
    text("path", "path"),
    count("most running", "max_running"),
    count("most waiting", "max_waiting"),
    count("KV cache", "max_kv_cache_use", "share"),
    count("preemptions", "preemptions"),
    count("tokens generated", "generated_tokens"),
    count("prefix hits", "prefix_hit_share", "share"),
    count("GPU memory", "max_gpu_memory_bytes"),
    count("GPU busy", "mean_gpu_utilisation", "share"),
)

METRICS = (
    text("metric", "name"),
    text("path", "path"),
    text("slice", "slice"),
    Column(
        "value",
        lambda row: number(row["value"], row["unit"]),
        True,
        lambda row: (
            ""
            if row["low"] is row["high"] is None
            else interval(row["low"], row["high"], row["unit"])
        ),
    ),
    count("n", "n"),
    text("formula", "formula"),
)

CALLS = (
    text("comparison", "comparison"),
    *(count(name, name) for name in ("turns", "same", "spelling", "cosmetic", "consequential")),
)
ROUTES = (
    text("route", "route"),
    *(
        count(name.replace("_", " "), name)
        for name in ("turns", "answered", "refused", "same_prompt", "compared", "equal", "errors")
    ),
)
SCOPE = (
    text("what", "dimension"),
    text("slice", "slice"),
    count("tokens", "tokens"),
    count("share", "share", "share"),
    count("turns", "turns"),
)

CONTROLS = (
    text("planted", "kind"),
    Column("must fire", lambda row: str(row["expected"] or "nothing")),
    words("state", "state"),
    Column("fired", lambda row: ", ".join(row["fired"] or []) or "nothing"),
    Column("detail", lambda row: str(row["detail"] or "")),
)

SOURCES = (
    text("format", "format"),
    text("template", "template"),
    count("sessions", "sessions"),
    count("turns", "turns"),
    count("replayed", "turns_replayed"),
)
SKIPPED = (text("reason", "reason"), count("turns", "turns"))
STREAMS = (
    text("path", "path"),
    text("arm", "arm"),
    count("requests", "requests"),
    count("ok", "ok"),
    count("refused", "refused"),
    count("no finish", "no_finish"),
    count("no end", "no_done"),
    count("time-outs", "timeouts"),
    count("errors", "client_errors"),
    count("unaligned", "unaligned"),
    count("longest gap", "max_gap_ms", "ms"),
)
LENGTHS = (count("tokens", "length"), count("steps", "steps"), count("share", "share", "share"))


def heat_columns(first: str, positions: Sequence[int]) -> tuple[Column, ...]:
    """Columns of an acceptance profile: steps, length, and each position's conditional rate.

    A row holds `name`, and by position ``c0`` … with ``c0_low``, ``c0_high``, ``c0_reached``.
    """
    return (
        text(first, "name"),
        count("steps", "steps"),
        Column(
            "acceptance length",
            lambda row: number(row["acceptance_length"]),
            True,
            lambda row: row["interval"],
        ),
        *(_conditional(position) for position in positions),
    )


def _conditional(position: int) -> Column:
    name = f"c{position}"

    def below(row: Row) -> str:
        limits = interval(row[f"{name}_low"], row[f"{name}_high"], "share")
        reached = f"of {number(row[f'{name}_reached'])}"
        return reached if limits == ABSENT else f"{limits} {reached}"

    def style(row: Row) -> str:
        rate = row[name]
        return "none" if rate is None else f"heat h{min(int(rate * 10), 9)}"

    return Column(
        f"conditional, position {position}",
        lambda row: number(row[name], "share"),
        True,
        below,
        style,
    )
