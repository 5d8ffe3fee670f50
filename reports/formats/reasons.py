"""The reasons of a verdict, short enough to read at once, each with all that is behind it.

GREEDY_DIVERGENCE x 69  regret of token 4 is above the hard bound, largest of the turn 1.62 nat
greedy_regret_rate      0.011 per token (0.007 … 0.014), margin 0.0003 per token
"""

import re
from dataclasses import dataclass

from reports.inert import visible
from reports.number import interval, number
from reports.store.summary import Row, Summary

MOST_CHARACTERS = 160
CODE = re.compile(r"([A-Z][A-Z_]+)(?: x (\d+))?: ")


@dataclass(frozen=True, slots=True)
class Reason:
    """`head` is a code with its count, or a bound; `code` the code alone, which findings bear.

    `detail` is the whole reason, where `text` is not all of it. Both are visible text on one line.
    """

    head: str
    text: str
    code: str | None
    detail: str | None


def reasons(summary: Summary) -> list[Reason]:
    """One for each reason of the run, in its order; of a fail the most frequent fault first."""
    bounds = {row["name"]: row for row in summary["bounds"]}
    texts = [visible(text).replace("\n", "⏎") for text in summary.run["reasons"]]
    if summary.run["verdict"] == "fail":
        texts.sort(key=_times, reverse=True)
    return [_reason(text, bounds) for text in texts]


def _times(reason: str) -> int:
    """How often the code of a reason was found; 0 where it has none."""
    coded = CODE.match(reason)
    return int(coded[2] or 0) if coded else 0


def _reason(full: str, bounds: dict[str, Row]) -> Reason:
    head, colon, rest = full.partition(": ")
    too_long = len(rest) > MOST_CHARACTERS
    if colon and too_long and head in bounds and bounds[head]["value"] is not None:
        return Reason(head, _numbers(bounds[head]), None, rest)
    coded = CODE.match(full)
    if coded is None and not (colon and head in bounds):
        head, rest = "", full
    text = _short(rest)
    return Reason(head, text, coded[1] if coded else None, None if text == rest else full)


def _numbers(bound: Row) -> str:
    unit = bound["unit"]
    limits = interval(bound["low"], bound["high"], unit)
    value = number(bound["value"], unit) + ("" if limits == "n/a" else f" ({limits})")
    return value if bound["margin"] is None else f"{value}, margin {number(bound['margin'], unit)}"


def _short(text: str) -> str:
    """The text up to a space, where it is longer than fits."""
    if len(text) <= MOST_CHARACTERS:
        return text
    cut = text[:MOST_CHARACTERS]
    return (cut.rsplit(" ", 1)[0] if " " in cut[MOST_CHARACTERS // 2 :] else cut) + " …"
