"""Case files for the outputs of a run that parse otherwise under another cut."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from checks.cases.redaction import Redact
from checks.findings import Finding
from traces.journal.exchange import TurnId
from draftgate.run.served_parsers import ServedParsers
from traces.cases.case import Case
from traces.journal.served_parsers import ServedParsers


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
