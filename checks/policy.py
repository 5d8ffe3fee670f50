"""What a user may demand of a verdict, or knows of the target: every key of `[policy]`.

What evidence decides is no key but a constant, beside the code that uses it::

    [policy]
    rate_margin = 3e-4
    severity = { CHUNK_STALL = "info" }
"""

import difflib
from typing import Annotated, Literal

from pydantic import Field, field_validator

from checks.alpha import level as share_of
from checks.config_table import ConfigTable
from checks.findings import CODES, ERROR, INVALIDATING

Share = Annotated[float, Field(gt=0, lt=1)]
Nat = Annotated[float, Field(gt=0, le=100)]
"""A difference of log probabilities; e^100 is beyond any two tokens of one model."""
Multiple = Annotated[float, Field(ge=1, le=100)]
Severity = Literal["error", "warning", "info"]


class Policy(ConfigTable):
    """`[policy]`: what counts as equal, and how sure the gate must be before it says so."""

    rate_margin: Share = Field(
        1e-4,
        description="largest excess rate of soft regret exceedances per token that still passes; "
        "1e-4 needs 30,000 independent tokens without one (rule of three)",
    )
    noise_scale: Multiple = Field(
        2.0,
        description="how much larger than the baseline's the candidate's rounding may be before a "
        "rate fails; at twice the scale, rate(g > x) is 2 rate(g > x / 2) of the baseline",
    )
    noise_tails: Literal["auto", "light", "heavy"] = Field(
        "auto",
        description="`light` for dense targets: one token far beyond the baseline's noise fails a "
        "run; `heavy` for MoE, FP8 and NVFP4 targets, where a flipped expert moves logits by nats: "
        "rates alone decide; `auto` reads the target's config.json; where that is "
        "missing, such a token leaves the run inconclusive",
    )
    min_sessions: int = Field(
        20, ge=2, description="fewest sessions for a pass; intervals resample whole sessions"
    )
    min_turns: int = Field(50, ge=1, description="fewest judged turns for a pass")
    success_margin: Share = Field(
        0.02, description="largest loss of tool-call success (share of turns) that still passes"
    )
    call_margin: Share = Field(
        0.05,
        description="largest share of turns with tool calls in which the candidate may make other "
        "calls than the baseline, beyond those in which the baseline's own repeat does",
    )
    excess_surprisal_margin: Nat = Field(
        0.02, description="largest mean excess surprisal of sampled tokens (nat/token) that passes"
    )
    slice_p: Share = Field(
        share_of("slices"),
        description="level of the tests per slice (template, tag, tool, context band), "
        "Holm-adjusted over all slices of a run; a slice fails the run only beyond it",
    )
    acceptance_loss_margin: Share = Field(
        0.1,
        description="largest loss of accepted draft tokens per draft, as a share of the reference "
        "run's, that still passes",
    )
    acceptance_required: bool = Field(
        False, description="true: a run whose loss of acceptance is not decided is inconclusive"
    )
    acceptance_floor: Annotated[float, Field(ge=1)] | None = Field(
        None, description="smallest mean acceptance length that passes; absent: any"
    )
    severity: dict[str, Severity] = Field(
        default_factory=dict, description="severity of a finding code in place of its default"
    )

    @field_validator("severity")
    @classmethod
    def _severities_can_be(cls, severity: dict[str, Severity]) -> dict[str, Severity]:
        for code, level in severity.items():
            if code not in CODES:
                near = difflib.get_close_matches(code.upper(), CODES, n=1, cutoff=0.5)
                every = "`draftgate docs findings` lists every code"
                hint = f"did you mean {near[0]}?" if near else every
                raise ValueError(f"there is no code {code}; {hint}")
            if code in INVALIDATING and level != ERROR:
                raise ValueError(
                    f"{code} cannot be {level}: it says that the run compared nothing, and a "
                    "verdict on it would rest on nothing; fix its cause"
                )
        return severity
