"""What the cuts of a run's outputs showed, and how much was tried."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from checks import findings as f
from checks.bounds import ControlResult
from checks.cases.redaction import Redact
from checks.findings import Finding, NotJudged
from checks.splits.markup import CallToWrite
from checks.splits.parse_result import ParseResult
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


MOST_VARIANT = 5
"""After so many outputs that parse otherwise no more count: the parser is shown at fault."""
MOST_CALLS = 8
"""So many calls are kept for the control."""


@dataclass(frozen=True, slots=True)
class CutOutput:
    """One output after it was cut: what became of it, how many cuts were tried, and what that
    showed. `variant` tells that a cut changes the result, `minor` that it changes white space.
    `parsed` tells that the delivered text was compared with what the server's parser makes of the
    output's tokens.

    `fault` is what its parser makes of it one token at a time and not streamed, where that differs.
    `calls` and `tools` are for the control, `shown` for the case file of a variant output.
    """

    turn: TurnId
    fates: tuple[str, ...] = ()
    cuts: int = 0
    variant: bool = False
    minor: bool = False
    parsed: bool = False
    findings: tuple[Finding, ...] = ()
    fault: tuple[ParseResult, ParseResult] | None = None
    calls: tuple[CallToWrite, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()
    shown: VariantOutput | None = None


@dataclass(frozen=True, slots=True)
class SplitRun:
    """`outputs` counts outputs by what became of them, `cuts` the parses that were compared with
    one token per delta. `unavailable` says why nothing could be tried, where that is so; `cases`
    makes case files of the findings."""

    parsers: str = ""
    unavailable: str = ""
    findings: tuple[Finding, ...] = ()
    outputs: Mapping[str, int] = field(default_factory=dict)
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
            if self.outputs.get(name)
        ]

    @property
    def counts(self) -> dict[str, int]:
        """For the counts of a run: ``{"split_cuts": 9120, "split_cut": 287, …}``."""
        return {"split_cuts": self.cuts, **{f"split_{k}": n for k, n in self.outputs.items()}}

    @property
    def statements(self) -> list[str]:
        """How much was tried, for the verdict's statement of what it could have seen."""
        if not self.outputs.get(CUT):
            return []
        return [f"{self.parsers} parsed {self.outputs[CUT]} outputs under {self.cuts:,} other cuts"]
