"""The baseline against itself: the noise floor every tolerance is calibrated on.

    hard = clamp(4 q, 1.0, 4.0) nat,  soft = max(0.30, q),  q = 99.99% quantile of A/A regret

q comes from the calibration half of the sessions, per shape, and only from 30,000 tokens on; below
that the floors stand and nothing is learned from the data.

The noise of some targets has heavy tails, by their own configuration: in a mixture of experts a
rounding difference can send a token to another expert; FP8 and FP4 activations round in steps as
large. Either moves a logit by nats where a dense bf16 model moves it by one unit in the last place,
so a single token condemns nobody there (`policy.noise_tails`).
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

HARD_FLOOR = 1.0
"""Least regret (nat) of one token that condemns: four bf16 ULPs of a logit in [32, 64), twice the
largest rounding gap seen on dense models (`evidence.natural_noise`, docs/evidence.md)."""

HARD_CEILING = 4.0
"""Most the hard bound may grow to (nat); a token beyond it is e^4 times as unlikely."""

HARD_FACTOR = 4.0
"""The hard bound in multiples of q: rounding flips come back on every run, so re-running does not
thin them, and the safety lies in this gap."""

SOFT_FLOOR = 0.30
"""Least regret (nat) counted as an exceedance: just above one bf16 ULP (0.25) of a logit in
[32, 64)."""

CALIBRATION_QUANTILE = 0.9999
CALIBRATION_TOKENS = 30_000
"""Fewest tokens for q: three of them are expected above that quantile."""

NOISY_QUANTILE = 0.999
NOISY_LIMIT = 0.5
"""A baseline whose own regret has this quantile above this limit (nat) lets no single token
condemn: half of the hard bound, where noise twice as large would cross it."""


@dataclass(frozen=True, slots=True)
class Noise:
    """What the baseline's own regrets of one shape look like (nat), and the bounds they give.

    `quantile` is q, `None` where the calibration half holds too few tokens; then `calibrated` is
    false. `maximum` and `upper` (the 99.9% quantile) are over all A/A tokens of the shape;
    `too_noisy` says why no single token may condemn, `None` where it may. `explained` is the
    largest regret that rounding may explain: the hard bound, and of a baseline that is too noisy
    for it as much as only a far larger noise would reach.
    """

    shape: Shape
    tokens: int
    quantile: float | None
    upper: float | None
    maximum: float | None
    hard: float
    soft: float
    explained: float
    too_noisy: str | None

    @property
    def calibrated(self) -> bool:
        """True where the bounds were learned from the calibration half."""
        return self.quantile is not None


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
    q = 0.0 if quantile is None else quantile
    hard = min(max(HARD_FACTOR * q, HARD_FLOOR), HARD_CEILING)
    maximum = upper = None
    if len(every):
        maximum = float(every.max())
        upper = float(np.quantile(every, NOISY_QUANTILE, method="higher"))
    too_noisy = _too_noisy(maximum, upper, len(every), hard, policy)
    beyond = max(HARD_CEILING, HARD_FACTOR * (maximum or 0.0))
    return Noise(
        shape=shape,
        tokens=len(every),
        quantile=quantile,
        upper=upper,
        maximum=maximum,
        hard=hard,
        soft=max(SOFT_FLOOR, q),
        explained=hard if too_noisy is None else beyond,
        too_noisy=too_noisy,
    )


def explained_regret(noise: Sequence[Noise]) -> float:
    """Largest regret (nat) of a first fork, in decode shape, that rounding may explain.

    What comes after such a fork is the model's own: no fault is read from it.
    """
    return max((n.explained for n in noise if n.shape == "decode"), default=HARD_FLOOR)


def _too_noisy(
    maximum: float | None, upper: float | None, tokens: int, hard: float, policy: Policy
) -> str | None:
    if policy.noise_tails == "heavy":
        return "the target's noise has heavy tails (`noise_tails`)"
    if maximum is not None and maximum * policy.noise_scale > hard:
        return (
            f"the baseline's own regret reaches {maximum:.3g} nat; rounding {policy.noise_scale:g} "
            f"times as large would exceed the hard bound {hard:.3g}"
        )
    enough = tokens * (1 - NOISY_QUANTILE) >= 1
    if upper is not None and enough and upper > NOISY_LIMIT:
        return (
            f"the baseline's own {NOISY_QUANTILE:.1%} regret quantile is {upper:.3g} nat, "
            f"above {NOISY_LIMIT:.3g}"
        )
    return None


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
