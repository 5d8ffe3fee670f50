"""A run as a pull-request comment: at most 60 lines of Markdown.

Recorded text stands in code spans only, so that nothing in it links, mentions or formats.
"""

import re

from reports.formats.headline import (
    both_speedups,
    faithful_states,
    length_text,
    strip,
    verdict_words,
)
from reports.formats.next_steps import next_steps
from reports.inert import one_line
from reports.number import interval, moment, number
from reports.store.summary import Row, Summary, break_even, main_acceptance, whole_speed

MOST_LINES = 60
MOST_REASONS = 6
MOST_FINDINGS = 12
MOST_STEPS = 3
MOST_PLACES = 6
MARKS = {"pass": "✅", "fail": "❌", "inconclusive": "❔", "invalid": "⚠️", "aa-pass": "⚖️"}


def render_markdown(summary: Summary) -> str:
    """The comment, ending with a newline."""
    run = summary.run
    lines = [
        f"## {MARKS[run['verdict']]} draftgate: {run['verdict']}",
        "",
        f"{code(verdict_words(summary), 200)}",
        "",
        f"Run {code(run['run'])}, {moment(run['started_at'])}: {_facts(summary)}.",
        "",
        *(f"- {code(reason, 300)}" for reason in run["reasons"][:MOST_REASONS]),
        "",
        *([f"Scope: {code(run['scope'], 600)}", ""] if run["scope"] else []),
        *_next(summary),
        *_bounds(summary),
        *_findings(summary),
        *_acceptance(summary),
        *_speed(summary),
    ]
    if len(lines) + len(fold := _places(summary)) <= MOST_LINES:
        lines += fold
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 2], "", f"… and more: `draftgate report {run['run']}`"]
    return "\n".join(lines).rstrip() + "\n"


def _facts(summary: Summary) -> str:
    facts = dict(strip(summary))
    named = [f"{name} {code(facts[name], 60)}" for name in ("drafter", "k", "model", "vLLM")]
    counted = [f"{facts[name]} {name}" for name in ("sessions", "turns", "tokens")]
    return ", ".join([*named, *counted, f"found {code(facts['found'], 120)}"])


def _next(summary: Summary) -> list[str]:
    """What to do, in one line each."""
    steps = next_steps(summary)[:MOST_STEPS]
    said = [f"{s.text}{' ' + code(s.command, 200) if s.command else ''}" for s in steps]
    return ["Next:", "", *(f"{i}. {text}" for i, text in enumerate(said, 1)), ""]


def code(text: object, length: int = 120) -> str:
    """`text` as an inert code span that is safe inside a table too."""
    flat = one_line(str(text), length).replace("|", "¦").strip() or " "
    longest = max((len(ticks) for ticks in re.findall("`+", flat)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {flat} {fence}" if longest else f"`{flat}`"


def _bounds(summary: Summary) -> list[str]:
    judged = [b for b in summary["bounds"] if b["state"] != "not_applicable"]
    if not judged:
        return []
    lines = [
        "| bound | state | value | limits | margin | noise floor |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for b in judged[:10]:
        unit = b["unit"]
        numbers = (number(b["value"], unit), interval(b["low"], b["high"], unit))
        tail = (number(b["margin"], unit), number(b["noise_floor"], unit))
        lines.append(" | ".join(("", code(b["name"]), b["state"], *numbers, *tail, "")).strip())
    said = faithful_states(summary)
    return [*lines, "", *([f"Exact and rebuilt prompts alone: {said}", ""] if said else [])]


def _findings(summary: Summary) -> list[str]:
    shown = summary.pressing
    if not shown:
        return []
    lines = ["| finding | where | what | case |", "|---|---|---|---|"]
    for f in shown[:MOST_FINDINGS]:
        where = "/".join(str(f[p]) for p in ("session", "turn") if f[p] is not None) or "run"
        case = code(f["case_file"]) if f["case_file"] else ""
        lines.append(f"| {f['code']} | {code(where, 50)} | {code(f['message'])} | {case} |")
    if len(shown) > MOST_FINDINGS:
        lines.append(f"| … | | {len(shown) - MOST_FINDINGS} more | |")
    return [*lines, ""]


def _acceptance(summary: Summary) -> list[str]:
    whole: Row | None = next(iter(main_acceptance(summary)), None)
    if whole is None:
        return ["Acceptance: not measured.", ""]
    worst = [
        f"{b['boundary']} {number(b['acceptance_length'])}"
        for b in sorted(
            (r for r in main_acceptance(summary, "boundaries") if r["acceptance_length"]),
            key=lambda r: float(r["acceptance_length"]),
        )
    ]
    spread = f"; by boundary {', '.join(worst[:3])} … {worst[-1]}" if len(worst) > 3 else ""
    return [
        f"Acceptance length {length_text(whole)}{spread}.",
        *_other_prompts(summary),
        "",
    ]


def _other_prompts(summary: Summary) -> list[str]:
    """One line for all arms with other prompts."""
    said = [
        f"{code(t['arm'], 40)} {number(t['changed_length'])} of {number(t['main_length'])}"
        f" ({t['change'] or 'n/a'})"
        for t in summary["shifts"]
        if t["dimension"] == "all"
    ]
    return [f"With other prompts: {', '.join(said)}."] if said else []


def _speed(summary: Summary) -> list[str]:
    whole = whole_speed(summary)
    lines = [
        f"Speed-up of the time per output token: {both_speedups(r)}; {number(r['turns'])} turns."
        for r in ([whole] if whole else [])
    ]
    if len(summary["curve"]) < 2:
        return lines
    points = [
        f"{number(p['concurrency'])}: {number(p['token_speedup'], '×')} ({p['state']})"
        for p in summary["curve"]
    ]
    return [*lines, f"Per token by concurrency: {', '.join(points)}; {break_even(summary)}."]


def _places(summary: Summary) -> list[str]:
    """A fold of the places in answers where the candidate's tokens cost surely more."""
    higher = [r for r in summary["regrets"] if r["change"] == "higher"]
    if not higher:
        return []
    lines = [
        f"- {r['dimension']} {code(r['slice'], 40)}: {number(r['mean_regret'], 'nat')}, the "
        f"baseline {number(r['noise_mean_regret'], 'nat')}; {number(r['tokens'])} tokens, "
        f"{number(r['forks'])} forks"
        for r in higher[:MOST_PLACES]
    ]
    title = f"Places where tokens cost more than the baseline's own: {len(higher)}"
    return ["", f"<details><summary>{title}</summary>", "", *lines, "", "</details>"]
