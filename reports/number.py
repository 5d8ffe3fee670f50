"""Numbers as people read them, the same in every report. What was not measured is ``n/a``."""

from datetime import datetime

ABSENT = "n/a"


def number(value: float | int | None, unit: str | None = None) -> str:
    """``2.413 tokens``, ``94.2% of turns`` (unit ``share of turns``), ``12,345``, ``1.2e-05``."""
    if value is None:
        return ABSENT
    if unit is not None and unit.startswith("share"):
        digits = ".1f" if value == 0 or abs(value) >= 1e-3 else ".2g"
        return f"{100 * value:{digits}}%{unit.removeprefix('share')}"
    if isinstance(value, int) or (value.is_integer() and abs(value) < 1e15):
        text = f"{int(value):,}"
    elif abs(value) < 1e-3:
        text = f"{value:.2g}"
    elif abs(value) < 100:
        text = f"{value:.3f}"
    else:
        text = f"{value:,.1f}"
    if unit == "×":
        return text + unit
    return f"{text} {unit}" if unit else text


def interval(low: float | None, high: float | None, unit: str | None = None) -> str:
    """``2.301 … 2.522``, or ``n/a`` where there is no interval."""
    if low is None and high is None:
        return ABSENT
    return f"{number(low, _share(unit))} … {number(high, _share(unit))}"


def moment(value: datetime | None) -> str:
    """``2026-05-26 09:30:00 UTC``."""
    return ABSENT if value is None else f"{value:%Y-%m-%d %H:%M:%S} UTC"


def _share(unit: str | None) -> str | None:
    return "share" if unit is not None and unit.startswith("share") else None
