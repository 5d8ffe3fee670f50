"""What the cuts of a run's outputs showed, and how much was tried."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from checks import findings as f
from checks.bounds import ControlResult
from checks.cases.redaction import Redact
from checks.findings import Finding, NotJudged
from traces.cases.case import Case
from traces.journal.exchange import TurnId
from traces.journal.served_parsers import ServedParsers

MOST_TOKENS = 2000
"""Longer outputs are not cut."""

CUT, UNFINISHED, TOO_LONG, NO_IDS = "cut", "unfinished", "too_long", "without_ids"
OTHER, MALFORMED, FAULTY, LEFT_OUT = "not_reproduced", "malformed", "parser_faults", "left_out"
"""What becomes of an output."""

REASONS = {
    UNFINISHED: "the output did not come to its end",
    TOO_LONG: f"the output has more than {MOST_TOKENS} tokens",
    NO_IDS: "the output's token ids were not on the wire",
    OTHER: "the parsers known here do not give what the client got",
    MALFORMED: "the model wrote what no parser takes",
    LEFT_OUT: "beyond what is cut in one run",
}
"""Why an output was not cut."""


@dataclass(frozen=True, slots=True)
class VariantOutput:
    """An output with its markup, and the request it answers."""

    text: str
    request: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SplitCases:
    """Makes the case of a finding; `largest` is the most tokens one step sends."""

    outputs: Mapping[TurnId, VariantOutput] = field(default_factory=dict)
    served: ServedParsers = field(default_factory=ServedParsers)
    largest: int = 1
    seed: int = 0

    def case_of(self, finding: Finding, redact: Redact) -> Case | None:
        """The smallest case that shows `finding`; `None` where none does without the prompt."""
        output = self.outputs.get((finding.session or "", finding.turn or ""))
        if output is None:
            return None
        from checks.vllm.cases import case_of_variant

        return case_of_variant(
            finding,
            output.text,
            output.request,
            (self.served.tool, self.served.reasoning),
            (self.served.tokenizer,),
            self.largest,
            self.seed,
            redact,
        )


@dataclass(slots=True)
class SplitRun:
    """`outputs` counts outputs by what became of them, `cuts` the parses that were held against
    one token per delta. `unavailable` says why nothing could be tried, where that is so; `cases`
    makes case files of the findings."""

    parsers: str = ""
    unavailable: str = ""
    findings: list[Finding] = field(default_factory=list)
    outputs: Counter[str] = field(default_factory=Counter)
    cuts: int = 0
    controls: tuple[ControlResult, ...] = ()
    cases: SplitCases = field(default_factory=SplitCases)

    @property
    def not_judged(self) -> list[NotJudged]:
        """Why nothing was tried, or which outputs were not cut."""
        if self.unavailable:
            return [NotJudged(f.SPLIT_VARIANT, self.unavailable)]
        return [
            NotJudged(f.SPLIT_VARIANT, f"{reason} ({self.outputs[name]} turns)")
            for name, reason in REASONS.items()
            if self.outputs[name]
        ]

    @property
    def counts(self) -> dict[str, int]:
        """For the counts of a run: ``{"split_cuts": 9120, "split_cut": 287, …}``."""
        return {"split_cuts": self.cuts, **{f"split_{k}": n for k, n in self.outputs.items()}}

    @property
    def statements(self) -> list[str]:
        """How much was tried, for the verdict's statement of what it could have seen."""
        if not self.outputs[CUT]:
            return []
        return [f"{self.parsers} parsed {self.outputs[CUT]} outputs under {self.cuts:,} other cuts"]
