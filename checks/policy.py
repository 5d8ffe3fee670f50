"""Every bound of the verdict: its name, its default and the reason for the default.

The `[policy]` table of ``draftgate.toml`` sets them::

    [policy]
    rate_margin = 3e-4
    severity = { CHUNK_STALL = "info" }
"""

import difflib
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

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
    hard_floor: Nat = Field(
        1.0,
        description="least regret (nat) of one token that condemns; four bf16 ULPs of a logit in "
        "[32, 64), twice the largest rounding gap seen on dense models",
    )
    hard_ceiling: Nat = Field(
        4.0, description="most the hard bound may grow to (nat); beyond it a token is e^4 unlikely"
    )
    hard_factor: Nat = Field(
        4.0, description="hard bound in multiples of the baseline's own 99.99% regret quantile"
    )
    soft_floor: Nat = Field(
        0.30,
        description="least regret (nat) counted as an exceedance; just above one bf16 ULP (0.25) "
        "of a logit in [32, 64)",
    )
    calibration_quantile: Share = Field(
        0.9999, description="quantile of the baseline's own regret that calibrates both bounds"
    )
    calibration_tokens: int = Field(
        30_000,
        ge=1,
        description="fewest calibration tokens for that quantile; below, the floors are used",
    )
    noisy_quantile: Share = Field(
        0.999, description="quantile that tells whether the baseline is too noisy for single tokens"
    )
    noisy_limit: Nat = Field(
        0.5, description="regret (nat) at that quantile above which no single token condemns"
    )
    noise_ratio: Multiple = Field(
        2.0,
        description="exceedance rate allowed in multiples of the baseline's own; verifying k+1 "
        "rows at once rounds otherwise than decoding one",
    )
    noise_scale: Multiple = Field(
        2.0,
        description="how much larger than the baseline's the candidate's rounding may be before a "
        "rate fails; at twice the scale, rate(g > x) is 2 rate(g > x / 2) of the baseline",
    )
    noise_tails: Literal["auto", "light", "heavy"] = Field(
        "auto",
        description="`heavy` for MoE, FP8 and NVFP4 targets, where a flipped expert moves logits "
        "by nats: then no single token condemns, the rate comparison decides; `auto` reads the "
        "target's config.json where it is at hand, and else is `light`",
    )
    exceedance_sessions: int = Field(
        3, ge=1, description="fewest sessions with an exceedance before the rate can fail"
    )
    sign_flip_sessions: int = Field(
        8,
        ge=1,
        description="fewest sessions with a non-zero difference before the sign-flip test decides; "
        "with 7 its smallest p-value is 0.0078",
    )
    sign_flip_p: Share = Field(0.01, description="level of the sign-flip test")
    icc_regret: Nat = Field(
        0.05,
        description="regret (nat) whose exceedances measure how tokens of a session cluster; low, "
        "so that there are enough of them",
    )
    icc_exceedances: int = Field(
        10, ge=2, description="fewest such exceedances for a clustering estimate"
    )
    default_deff: Multiple = Field(
        2.0, description="design effect of clustering where it cannot be estimated"
    )
    bootstrap_samples: int = Field(
        2000, ge=200, le=1_000_000, description="resamples of sessions per interval"
    )
    max_unscored: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.01, description="largest share of candidate tokens that could not be scored"
    )
    max_unanswered: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.01, description="largest share of turns that may lack an answer on either path"
    )
    min_sessions: int = Field(
        20, ge=2, description="fewest sessions for a pass; intervals resample whole sessions"
    )
    min_turns: int = Field(50, ge=1, description="fewest judged turns for a pass")
    success_margin: Share = Field(
        0.02, description="largest loss of tool-call success (share of turns) that still passes"
    )
    success_p: Share = Field(
        0.001,
        description="level of the test for a loss of tool-call success, of turns and of sessions; "
        "low, since greedy text that forks at near ties breaks some calls on either path",
    )
    excess_surprisal_margin: Nat = Field(
        0.02, description="largest mean excess surprisal of sampled tokens (nat/token) that passes"
    )
    e_threshold: Annotated[float, Field(gt=1)] = Field(
        100.0,
        description="e-value at which sampled tokens fail; by Ville's inequality a sound path "
        "reaches it with probability at most 1/100, however often one looks",
    )
    sampled_p: Share = Field(
        0.001,
        description="level of the sampled tests that look once (surprisal, smooth, tail count, "
        "drafts), Holm-adjusted; low, so that a nightly gate does not cry wolf each season",
    )
    tail_probability: Share = Field(
        1e-4, description="probability below which a sampled token counts as a tail token"
    )
    min_sampled_tokens: int = Field(
        1000, ge=1, description="fewest sampled tokens for a judgement of the sampled law"
    )
    slice_p: Share = Field(
        0.001,
        description="level of the tests per slice (template, tag, tool, context band), "
        "Holm-adjusted over all slices of a run; a slice condemns beyond it alone",
    )
    acceptance_floor: Annotated[float, Field(ge=1)] | None = Field(
        None, description="least mean acceptance length; absent: none is demanded"
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
                hint = f"did you mean {near[0]}?" if near else "docs/findings.md lists every code"
                raise ValueError(f"there is no code {code}; {hint}")
            if code in INVALIDATING and level != ERROR:
                raise ValueError(
                    f"{code} cannot be {level}: it says that the run compared nothing, and a "
                    "verdict on it would rest on nothing; mend its cause"
                )
        return severity

    @model_validator(mode="after")
    def _bounds_are_in_order(self) -> "Policy":
        if self.hard_floor > self.hard_ceiling:
            raise ValueError(
                f"hard_floor ({self.hard_floor:g}) is above hard_ceiling ({self.hard_ceiling:g})"
            )
        if self.soft_floor > self.hard_floor:
            raise ValueError(
                f"soft_floor ({self.soft_floor:g}) is above hard_floor ({self.hard_floor:g})"
            )
        return self
