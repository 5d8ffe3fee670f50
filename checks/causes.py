"""The likely cause of a finding, where the run itself shows it.

Only what was seen speaks: re-runs, equal tokens, the baseline's own flaws, a lost drafter flag. A
cause is a lead for whoever reads the report, and changes no severity.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from checks import findings as codes
from checks.findings import CODES, Finding

ArmTurn = tuple[str, str, str]
"""(arm, session, turn)."""

BASELINE_TOO = "the model or the parser, not speculation: the baseline shows it too"
ROUNDING = "rounding: the baseline finds both tokens about equally likely"
NOT_ROUNDING = {
    "deterministic": "the same in every re-run: weights, masks or kernels of the verify step",
    "intermittent": "not in every re-run: a race, or the requests in the batch beside it",
}
BEHIND_THE_MODEL = (
    "behind the model, in the parser or the stream: the tokens are the baseline's, and the answer "
    "is not"
)
FLAG_LOST = "the drafter runs without a flag that its checkpoint sets (DRAFTER_CONFIG_LOST)"

PARSED = frozenset({codes.CONTENT, codes.TOOL_CALLS})
"""Families of codes about the answer that is made of the tokens."""


def with_causes(
    findings: Sequence[Finding], main: str, equal: Collection[ArmTurn]
) -> Iterator[Finding]:
    """The findings, each with its likely cause where one is known.

    `main` names the arm of findings that name none; `equal` are the turns whose tokens are the
    baseline's.
    """
    seen = {finding.code for finding in findings}
    for finding in findings:
        place = (str(finding.detail.get("arm", main)), finding.session or "", finding.turn or "")
        yield replace(finding, cause=_cause(finding, place in equal, seen))


def _cause(finding: Finding, equal: bool, seen: Collection[str]) -> str | None:
    family = CODES[finding.code].family
    if finding.baseline_too:
        return BASELINE_TOO
    if finding.code == codes.GREEDY_DIVERGENCE:
        return NOT_ROUNDING.get(str(finding.detail.get("recurs")))
    if finding.code == codes.NEAR_TIE_FORK and finding.detail.get("kind") == "near_tie":
        return ROUNDING
    if equal and family in PARSED:
        return BEHIND_THE_MODEL
    if family == codes.ACCEPTANCE and codes.DRAFTER_CONFIG_LOST in seen:
        return FLAG_LOST
    return None
