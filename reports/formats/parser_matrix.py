"""The split-invariance matrix of vLLM's parsers as Markdown, dated, with the version it is of."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from jinja2 import Environment

SIGNS = {"invariant": "🟩", "minor": "🟨", "variant": "🟥", "untested": "⬜"}

TEMPLATE = """\
# Split invariance of vLLM's parsers

vLLM {{ version }}, {{ day }}. Cuts: every two-way cut, {{ count }} random cuts into deltas of
1 … {{ largest }} tokens, one single delta; each is compared with one token per delta.

🟩 no cut changes the result · 🟨 only one single delta does, or only white space changes · 🟥 cuts
change the result, see its case file · ⬜ not tested, see the reason. *Streaming* tells whether one
token per delta gives what the non-streaming parse gives: where it does not, the parser is at fault
on every server, with or without speculation.
{% for kind in ("tool", "reasoning") %}
## {{ kind | capitalize }} parsers

{{ tally(kind) }}

| parser | cuts | two-way | random | one delta | streaming | what changes |
|---|---|---|---|---|---|---|
{% for row in rows if row.kind == kind -%}
| `{{ row.parser }}` | {{ signs[row.status] }} | {{ share(row, "two-way") }} \
| {{ share(row, "random") }} | {{ share(row, "one delta") }} \
| {{ streaming(row) }} | {{ what(row) }} |
{% endfor %}
{%- endfor %}"""


def render_matrix(
    rows: Sequence[Mapping[str, Any]],
    *,
    version: str,
    day: date,
    largest: int,
    count: int,
    cases: Mapping[str, str],
) -> str:
    """Markdown for rows as ``draftgate parsers --json`` gives them.

    `cases` names the case file of each parser that has one, relative to the page.
    """

    def tally(kind: str) -> str:
        of_kind = [row["status"] for row in rows if row["kind"] == kind]
        return " · ".join(f"{SIGNS[s]} {of_kind.count(s)} {s}" for s in SIGNS if s in of_kind)

    def what(row: Mapping[str, Any]) -> str:
        if row["reason"]:
            return _cell(row["reason"])
        words = [
            f"{text['name']}: {text['failure']['differs']}"
            for text in row["texts"]
            if text["failure"]
        ]
        link = cases.get(f"{row['kind']}/{row['parser']}")
        return _cell("; ".join(words)) + (f" ([case]({link}))" if link else "")

    page = Environment(autoescape=False).from_string(TEMPLATE)
    return page.render(
        rows=rows,
        version=version,
        day=day.isoformat(),
        largest=largest,
        count=count,
        signs=SIGNS,
        tally=tally,
        share=_share,
        streaming=_streaming,
        what=what,
    )


def _share(row: Mapping[str, Any], kind: str) -> str:
    tried = sum(text["tried"].get(kind, 0) for text in row["texts"])
    failed = sum(text["failed"].get(kind, 0) for text in row["texts"])
    return f"{failed} of {tried}" if tried else ""


def _streaming(row: Mapping[str, Any]) -> str:
    if not row["texts"]:
        return ""
    faults = row["parser_faults"]
    return _cell("; ".join(faults)) if faults else "same"


def _cell(text: str) -> str:
    """Text inside a table cell: no line ends, no cell ends, no markup."""
    escaped = text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
    return " ".join(escaped.split())
