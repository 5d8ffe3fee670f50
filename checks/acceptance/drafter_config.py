"""DRAFTER_CONFIG_LOST: a flag the draft checkpoint sets is missing from what vLLM parsed.

The flags of EAGLE 3.1 (`fc_norm`, `norm_output`) and of its kin change only what the drafter
proposes: losing one leaves every output right and costs deep positions their acceptance
(vLLM pull requests 46488, 43482, 38111).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from checks.findings import DRAFTER_CONFIG_LOST, Finding, NotJudged


def judge_drafter_config(
    draft: Mapping[str, Any] | None, effective: Mapping[str, Any] | None
) -> list[Finding | NotJudged]:
    """Every boolean true in `draft` must be true in `effective`; absent or false is a lost flag.

    Flags are matched by name at any depth: vLLM flattens `eagle_config` and the speculators layout.
    """
    if draft is None or effective is None:
        missing = "checkpoint" if draft is None else "effective"
        return [NotJudged(DRAFTER_CONFIG_LOST, f"no {missing} drafter config")]
    kept = set(_true_flags(effective))
    return [
        Finding(
            DRAFTER_CONFIG_LOST,
            f"{flag} is true in the draft checkpoint and not in the config vLLM parsed",
            detail={"flag": flag},
        )
        for flag in dict.fromkeys(_true_flags(draft))
        if flag not in kept
    ]


def _true_flags(config: Mapping[str, Any]) -> Iterator[str]:
    for name, value in config.items():
        if value is True:
            yield name
        elif isinstance(value, Mapping):
            yield from _true_flags(value)
