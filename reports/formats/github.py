"""A run as GitHub workflow commands, one annotation per line.

::error title=draftgate GREEDY_DIVERGENCE::session-01/t003 token 41: regret 2.31 nat
"""

from reports.formats.headline import bound_numbers, headline, verdict_words
from reports.inert import visible
from reports.store.summary import Summary

MOST_PER_LEVEL = 10
"""GitHub shows ten annotations of each level per step."""

LEVELS = {"error": "error", "warning": "warning", "info": "notice"}
VERDICT_LEVELS = {
    "pass": "notice",
    "aa-pass": "notice",
    "fail": "error",
    "inconclusive": "warning",
    "invalid": "error",
}


def render_github(summary: Summary) -> str:
    """The verdict first, then its numbers, then findings at severity error and warning."""
    run = summary.run
    reasons = "\n".join([verdict_words(summary), *run["reasons"]])
    lines = [_line(VERDICT_LEVELS[run["verdict"]], f"draftgate: {run['verdict']}", reasons, None)]
    numbers = [f"{name} {text}" for name, text in headline(summary)]
    numbers += [
        f"{bound['name']}: {bound['state']}: {bound_numbers(bound)}"
        for bound in summary["bounds"]
        if bound["state"] != "not_applicable"
    ]
    if numbers:
        lines.append(_line("notice", "draftgate: numbers", "\n".join(numbers), None))
    for severity in ("error", "warning"):
        found = [f for f in summary.pressing if f["severity"] == severity]
        for finding in found[: MOST_PER_LEVEL - (severity == "error")]:
            where = "/".join(str(finding[p]) for p in ("session", "turn") if finding[p] is not None)
            text = f"{where}: {finding['message']}" if where else finding["message"]
            title = f"draftgate {finding['code']}"
            lines.append(_line(LEVELS[severity], title, text, finding["case_file"]))
    return "\n".join(lines) + "\n"


def _line(level: str, title: str, text: str, file: str | None) -> str:
    properties = f"title={_property(title)}" + (f",file={_property(file)}" if file else "")
    return f"::{level} {properties}::{_data(visible(text))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(visible(text)).replace(":", "%3A").replace(",", "%2C")
