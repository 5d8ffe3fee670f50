"""The baseline against itself: the noise floor every tolerance is calibrated on.

    soft = max(0.30, q, 1.2 steps of the logits' grid) nat,  q = 99.99% quantile of A/A regret
    far  = max(1.0, 4 m) nat,                                m = the largest A/A regret

q comes from the calibration half of the sessions, per shape, and only from 30,000 tokens on. Where
it is not the largest of the three, nothing was learned from that half, and it tests too. Rates
decide (`checks.greedy.ladder`); a single token beyond `far` is something else than this baseline's
rounding at four times its size.

The noise of some targets has heavy tails, by their own configuration: in a mixture of experts a
rounding difference can send a token to another expert; FP8 and FP4 activations round in steps as
large. Either moves a logit by nats where a dense bf16 model moves it by one unit in the last place.
So one token far out condemns only where the tails are known to be light (`policy.noise_tails`);
elsewhere it keeps a run from passing.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from checks.policy import Policy
from traces.journal.score import Shape

FAR_FLOOR = 1.0
"""Least regret (nat) that is far out: four bf16 ULPs of a logit in [32, 64), twice the largest
rounding gap seen on dense models (`evidence.live.natural_noise`, docs/evidence.md)."""

HEAVY_FLOOR = 4.0
"""The same where tails are heavy; a token beyond it is e^4 times as unlikely as the best."""

FAR_FACTOR = 4.0
"""In multiples of the baseline's own largest: twice the `noise_scale` that rates allow for."""

SOFT_FLOOR = 0.30
"""Least regret (nat) counted as an exceedance: just above one bf16 ULP (0.25) of a logit in
[32, 64)."""

ABOVE_STEP = 1.2
"""Thresholds lie between steps of the grid: one step of rounding is no exceedance."""

CALIBRATION_QUANTILE = 0.9999
CALIBRATION_TOKENS = 30_000
"""Fewest tokens for q: three of them are expected above that quantile."""

STEPS = tuple(2.0**-power for power in range(7))
"""Spacings (nat) of bf16 logits, widest first: 1 in [128, 256) down to 2^-6 in [2, 4)."""

FEWEST_REGRETS = 10
"""Fewest regrets above zero that show a grid."""

STEP_SHARE = 0.95
"""Share of them that lie on it: logits of several magnitudes have several grids."""

STEP_SLACK = 1e-4
"""nat: float32 log probabilities are rounded too."""


@dataclass(frozen=True, slots=True)
class Noise:
    """What the baseline's own regrets of one shape look like (nat), and the bounds they give.

    `quantile` is q, `None` where the calibration half holds too few tokens. `maximum` is over all
    A/A tokens of the shape, `step` the grid its regrets lie on, `None` where they lie on none.
    `far` is the largest regret that four times such rounding explains, of this shape or, in a run,
    of any; `open` says why a single token beyond it does not condemn, `None` where it does.
    """

    shape: Shape
    tokens: int
    quantile: float | None
    maximum: float | None
    step: float | None
    soft: float
    far: float
    open: str | None

    @property
    def calibrated(self) -> bool:
        """True where q made the soft bound: that of a quiet baseline is a constant, whatever q."""
        return self.quantile is not None and self.soft == self.quantile


def measure_noise(
    shape: Shape,
    calibration: Iterable[npt.NDArray[np.float64]],
    test: Iterable[npt.NDArray[np.float64]],
    policy: Policy,
) -> Noise:
    """Calibrate one shape from A/A regrets (nat) of the two halves of the sessions.

    Positions with processed logits must not be among them. Quantiles are the upper order
    statistic (``method="higher"``), never an interpolation below a value that was seen.
    """
    learn = np.concatenate([np.empty(0), *calibration])
    every = np.concatenate([learn, *test])
    quantile = None
    if len(learn) >= CALIBRATION_TOKENS:
        quantile = float(np.quantile(learn, CALIBRATION_QUANTILE, method="higher"))
    maximum = float(every.max()) if len(every) else None
    step = grid_step(every)
    heavy = policy.noise_tails == "heavy"
    return Noise(
        shape=shape,
        tokens=len(every),
        quantile=quantile,
        maximum=maximum,
        step=step,
        soft=max(SOFT_FLOOR, quantile or 0.0, ABOVE_STEP * (step or 0.0)),
        far=max(HEAVY_FLOOR if heavy else FAR_FLOOR, FAR_FACTOR * (maximum or 0.0)),
        open=_open(policy),
    )


def grid_step(regrets: npt.NDArray[np.float64]) -> float | None:
    """The widest spacing (nat) that nearly all regrets above zero are multiples of.

    Logits of 16 bits lie on a grid of powers of two that is wider the larger they are, so a regret
    is one or a few of its steps. `None` for float32 logits, and where too few are above zero.
    """
    some = regrets[regrets > 0]
    if len(some) < FEWEST_REGRETS:
        return None
    for step in STEPS:
        off = np.abs(some - step * np.round(some / step))
        if float((off <= STEP_SLACK).mean()) >= STEP_SHARE:
            return step
    return None


def explained_regret(noise: Sequence[Noise]) -> float:
    """Largest regret (nat) of a first fork, in decode shape, that rounding may explain.

    What comes after such a fork is the model's own: no fault is read from it.
    """
    return max((n.far for n in noise if n.shape == "decode"), default=FAR_FLOOR)


def _open(policy: Policy) -> str | None:
    if policy.noise_tails == "light":
        return None
    known = "heavy" if policy.noise_tails == "heavy" else "not known to be light"
    return f"the tails of the target's noise are {known} (`noise_tails`)"


EXPERTS = (
    "num_experts",
    "num_local_experts",
    "n_routed_experts",
    "moe_num_experts",
    "num_routed_experts",
)
"""What Hugging Face configurations call the number of experts."""

QUANTIZED = ("quantization_config", "quantization", "compression_config")
FEW_BITS = re.compile(r"(?:nv|mx)?fp[48](?!\d)|float-quantized|float8|float4", re.IGNORECASE)
FLAG = "--quantization"


def heavy_tails(config: Mapping[str, Any], flags: Mapping[str, Sequence[str]]) -> str | None:
    """Why single tokens must not condemn this target, or `None` for a dense one.

    `config` is the target's ``config.json``, with its nested parts (``text_config``); `flags` are
    the server's (`traces.journal.vllm_flags`).
    """
    for part in _parts(config):
        for name in EXPERTS:
            experts = part.get(name)
            if isinstance(experts, int) and experts > 1:
                return f"a mixture of experts ({name} is {experts})"
        for name in QUANTIZED:
            if part.get(name) and (bits := FEW_BITS.search(json.dumps(part[name]))):
                return f"quantized to few bits ({name} says {bits[0]})"
    given = " ".join(flags.get(FLAG, ()))
    bits = FEW_BITS.search(given)
    return f"quantized to few bits ({FLAG} {given})" if bits else None


def _parts(config: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The configuration and the ones nested in it, but for the quantization's own."""
    yield config
    for name, value in config.items():
        if isinstance(value, Mapping) and name not in QUANTIZED:
            yield from _parts(value)
