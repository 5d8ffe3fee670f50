"""The drafter's config: what its checkpoint says, and what vLLM made of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class DrafterConfigs:
    """Both configs, as nested mappings; both None for methods without a draft model.

    `error` says why vLLM's parse could not be read; then nothing can be said of lost flags.
    """

    checkpoint: Mapping[str, Any] | None = None
    effective: Mapping[str, Any] | None = None
    error: str | None = None
