"""The message of a failed assertion: what was found where, both sides, and nothing secret."""

from collections.abc import Sequence

from checks.findings import ERROR, Finding
from checks.pair import Pair
from draftgate.testing.answer import Answer
from draftgate.testing.both_paths import BothPaths
from draftgate.testing.differences import differences
from draftgate.testing.masking import Mask


def errors_of(findings: Sequence[Finding], families: frozenset[str] | None = None) -> list[Finding]:
    """Findings at severity error, of these families where some are named."""
    from checks.findings import CODES

    return [
        finding
        for finding in findings
        if finding.severity == ERROR
        and (families is None or CODES[finding.code].family in families)
    ]


def failure(evidence: Answer | BothPaths, pair: Pair, found: Sequence[Finding]) -> AssertionError:
    """The error to raise for `found`."""
    mask = Mask(evidence.texts())
    lines = [f"{evidence.name}: {', '.join(dict.fromkeys(f.code for f in found))}"]
    lines += [f"{finding.code}: {mask(finding.message)}" for finding in found]
    lines += differences(pair, found, mask)
    lines.append("`draftgate docs CODE` says how each is computed, and what to do")
    return AssertionError("\n".join(lines))
