"""What every report says first: the verdict in words, and the run in one strip of facts."""

import json
from collections import Counter
from collections.abc import Iterator

from reports.number import ABSENT, interval, number
from reports.store.summary import Row, Summary, main_acceptance, whole_speed
from traces.counted import counted

VERDICT_WORDS = {
    "inconclusive": "not decided: no fault was found, and there is too little data to pass",
    "invalid": "no verdict: this run cannot be judged",
    "aa-pass": "equal paths: no false alarm, and nothing said of a candidate",
}
FEW_SESSIONS = "few sessions"


def verdict_words(summary: Summary) -> str:
    """``safe, and slower: 0.81× (0.74 … 0.88)``, ``not safe: DROPPED_TOKEN x 3``."""
    verdict = summary.run["verdict"]
    if verdict == "pass":
        return _safe(whole_speed(summary))
    if verdict == "fail":
        return _unsafe(summary)
    return VERDICT_WORDS[verdict]


def payoff(row: Row) -> str:
    """``faster`` where the whole interval per token lies above 1, ``slower`` where it lies below,
    else ``undecided``."""
    if row["token_low"] is None or row["token_high"] is None:
        return "undecided"
    return "faster" if row["token_low"] > 1 else "slower" if row["token_high"] < 1 else "undecided"


def _safe(speed: Row | None) -> str:
    if speed is None or speed["token_speedup"] is None:
        return "safe; the speed was not measured"
    state = payoff(speed)
    said = "safe; speed not decided" if state == "undecided" else f"safe, and {state}"
    return f"{said}: {per_token(speed)}"


def _unsafe(summary: Summary) -> str:
    faults = [f"{code} x {n}" for code, n in _most_frequent(summary)]
    faults = faults or [b["name"] for b in summary["bounds"] if b["state"] == "fail"]
    more = f" and {counted(len(faults) - 1, 'other kind')} of fault" if len(faults) > 1 else ""
    return f"not safe: {faults[0]}{more}" if faults else "not safe"


def _most_frequent(summary: Summary) -> list[tuple[str, int]]:
    """Codes of errors with their counts, the most frequent first."""
    return Counter(summary.codes).most_common()


def strip(summary: Summary) -> list[tuple[str, str]]:
    """The run in facts: (name, text), in the order of every report.

    drafter, k, model, vLLM, sessions, turns, tokens, acceptance length, speed, found
    """
    paths = {row["path"]: row for row in summary["paths"]}
    candidate, baseline = paths.get("candidate", {}), paths.get("baseline", {})
    (replayed,) = summary["replayed"]
    return [
        ("drafter", _drafter(candidate)),
        ("k", number(candidate.get("num_speculative_tokens"))),
        ("model", _both(baseline.get("model"), candidate.get("model"))),
        ("vLLM", _both(baseline.get("vllm_version"), candidate.get("vllm_version"))),
        *((name, number(replayed[name])) for name in ("sessions", "turns", "tokens")),
        ("acceptance length", acceptance_text(summary)),
        ("speed", _speed(summary)),
        ("found", found(summary)),
    ]


def _drafter(candidate: Row) -> str:
    """``eagle3, models/weights/drafter`` of the candidate's path row."""
    config = json.loads(candidate.get("speculative_config") or "{}")
    named = [candidate.get("method") or config.get("method"), config.get("model")]
    return ", ".join(str(name) for name in named if name) or ABSENT


def _both(baseline: str | None, candidate: str | None) -> str:
    """One name where both paths have it, both where they differ."""
    known = [name for name in dict.fromkeys((baseline, candidate)) if name]
    return " / ".join(known) or ABSENT


def acceptance_text(summary: Summary) -> str:
    """``2.413 (2.301 … 2.522)`` of the candidate's main arm, ``n/a`` where it was not measured."""
    return next((length_text(row) for row in main_acceptance(summary)), ABSENT)


def length_text(row: Row) -> str:
    """``2.413 (2.301 … 2.522)``; without an interval to rely on, ``2.413 (few sessions)``."""
    if row["acceptance_length"] is None:
        return ABSENT
    return f"{number(row['acceptance_length'])} ({length_interval(row)})"


def length_interval(row: Row) -> str:
    """The interval of an acceptance length, or why there is none to rely on."""
    if row["acceptance_length"] is None:
        return "too few drafts"
    return interval(row["low"], row["high"]) if row["enough"] else FEW_SESSIONS


def _speed(summary: Summary) -> str:
    row = whole_speed(summary)
    if row is None:
        return ABSENT
    return f"{per_token(row)} per token; {number(row['tpot_speedup'], '×')} per turn"


def per_token(row: Row) -> str:
    """``0.81× (0.74 … 0.88)``: the speed-up per token of a row of speed."""
    limits = interval(row["token_low"], row["token_high"], "×")
    return f"{number(row['token_speedup'], '×')} ({limits})"


def found(summary: Summary) -> str:
    """``3 errors (ARGS_DIFFER, DROPPED_TOKEN), 1 warning; 57 that the baseline shows too``."""
    severities = Counter(row["severity"] for row in summary.pressing)
    parts = [
        counted(severities[name], name)
        + (f" ({_kinds([code for code, _ in _most_frequent(summary)])})" if name == "error" else "")
        for name in ("error", "warning")
        if severities[name]
    ]
    text = ", ".join(parts) or "no error, no warning"
    return (
        f"{text}; {len(summary.shared):,} that the baseline shows too" if summary.shared else text
    )


def _kinds(codes: list[str]) -> str:
    return ", ".join(codes[:2]) + (f" and {len(codes) - 2} more kinds" if len(codes) > 2 else "")


def headline(summary: Summary) -> Iterator[tuple[str, str]]:
    """(name, text) for reports that have no tables: ``("acceptance length", "2.413 (…)")``."""
    if main_acceptance(summary):
        yield "acceptance length", acceptance_text(summary)
    row = whole_speed(summary)
    if row is not None:
        yield "time per output token, speed-up", both_speedups(row)
    if summary.run["scope"]:
        yield "scope", str(summary.run["scope"])
    if routes := served_routes(summary):
        yield "routes", routes
    if said := faithful_states(summary):
        yield "exact and rebuilt prompts alone", said


def served_routes(summary: Summary) -> str:
    """``chat 35 turns, messages 24, responses 24 (2 errors)``; empty where only chat was asked."""
    rows = [row for row in summary["routes"] if row["answered"]]
    if all(row["route"] == "chat" for row in rows):
        return ""
    named = [f"{row['route']} {row['answered']:,}{_errors(row)}" for row in rows]
    return f"turns as users send them: {', '.join(named)}"


def _errors(row: Row) -> str:
    return f" ({counted(row['errors'], 'error')})" if row["errors"] else ""


def faithful_states(summary: Summary) -> str:
    """``greedy_regret_rate pass, tool_success inconclusive``: the bounds of exact and rebuilt
    prompts alone; empty where all replayed prompts are."""
    found = [b for b in summary["faithful"] if b["state"] != "not_applicable"]
    return ", ".join(f"{b['name']} {b['state']}" for b in found)


def both_speedups(row: Row) -> str:
    """``per turn 1.05× (0.97 … 1.14), per token 0.79× (0.72 … 0.86)`` of a row with both."""
    turn = number(row["tpot_speedup"], "×")
    return f"per turn {turn} ({interval(row['low'], row['high'], '×')}), per token {per_token(row)}"


def bound_numbers(bound: Row) -> str:
    """``0.002% of tokens (0% … 0.004%), margin 0.01%, noise floor 0.001%`` of a bound."""
    unit = bound["unit"]
    value = f"{number(bound['value'], unit)} ({interval(bound['low'], bound['high'], unit)})"
    margin, floor = (number(bound[name], unit) for name in ("margin", "noise_floor"))
    return f"{value}, margin {margin}, noise floor {floor}"
