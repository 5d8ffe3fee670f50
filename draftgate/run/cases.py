"""One case file per finding about a turn: the smallest thing that shows it again offline.

    .draftgate/runs/<run>/cases/0003-ARGS_NOT_JSON-s12-t0004.case.json

Secrets in it are replaced before it is written; `draftgate check` on it gives the same codes.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from checks.cases.writing import case_json, case_of_pair
from checks.findings import ERROR, SPLIT_VARIANT, Finding
from checks.run.pairs import LivePair
from checks.vllm.split_run import SplitCases
from traces.output import write_whole, writing
from traces.redaction.redaction import Redactor

MOST_PER_CODE = 20
"""So many case files are written for one code; further findings are in the store all the same."""

Place = tuple[str, str, str]
"""(session, turn, arm)."""


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
    return finding.session, finding.turn, finding.detail.get("arm", "main")


def _name(number: int, finding: Finding) -> str:
    """A file name that sorts in report order; session ids may hold anything."""
    where = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{finding.session}-{finding.turn}")[:60]
    return f"{number:04d}-{finding.code}-{where}.case.json"
