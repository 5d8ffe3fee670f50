"""Whether a fault that was planted on purpose was seen."""

from dataclasses import dataclass
from typing import Literal

ControlState = Literal["caught", "missed", "no_data", "not_applicable"]


@dataclass(frozen=True, slots=True)
class ControlResult:
    """`expected` is the one code that must fire, `None` for the unchanged copy, where none may.

    `state` is ``caught`` where that held, ``missed`` where not, ``no_data`` where the run is too
    small to plant it, ``not_applicable`` where it holds nothing to plant it in. `fired` lists the
    error codes that fired.
    """

    kind: str
    expected: str | None
    state: ControlState
    fired: tuple[str, ...]
    detail: str
