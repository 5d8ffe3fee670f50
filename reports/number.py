"""Numbers as people read them, the same in every report. What was not measured is ``n/a``."""

from datetime import datetime

ABSENT = "n/a"


def number(value: float | int | None, unit: str | None = None) -> str:
    """``2.413 tokens``, ``94.2% of turns`` (unit ``share of turns``), ``12,345``, ``1.2e-05``;
    a speed-up (unit ``×``) has two decimals: ``0.81×``."""
    if value is None:
        return ABSENT
    if unit == "×":
        return f"{value:.2f}×"
    if unit is not None and unit.startswith("share"):
        digits = ".0f" if value in (0, 1) else ".1f" if abs(value) >= 1e-3 else ".2g"
        return f"{100 * value:{digits}}%{unit.removeprefix('share')}"
    if isinstance(value, int) or (value.is_integer() and abs(value) < 1e15):
        text = f"{int(value):,}"
    elif abs(value) < 1e-3:
        text = f"{value:.2g}"
    elif abs(value) < 100:
        text = f"{value:.3f}"
    else:
        text = f"{value:,.1f}"
    return f"{text} {unit}" if unit else text


def interval(low: float | None, high: float | None, unit: str | None = None) -> str:
    """``2.301 … 2.522``, ``at most 2.522`` where one end is known, ``n/a`` where none is."""
    low_text, high_text = (number(end, _bare(unit)).removesuffix("×") for end in (low, high))
    if "." in low_text + high_text:
        low_text, high_text = _decimal(low, low_text), _decimal(high, high_text)
    if low is None or high is None:
        known = f"at most {high_text}" if low is None else f"at least {low_text}"
        return ABSENT if low is None and high is None else known
    return f"{low_text} … {high_text}"


def moment(value: datetime | None) -> str:
    """``2026-05-26 09:30:00 UTC``."""
    return ABSENT if value is None else f"{value:%Y-%m-%d %H:%M:%S} UTC"


def _bare(unit: str | None) -> str | None:
    """The unit where it changes how the number reads; in an interval it is not repeated."""
    return (
        "share" if unit is not None and unit.startswith("share") else "×" if unit == "×" else None
    )


def _decimal(end: float | None, text: str) -> str:
    """A whole number beside one with decimals: ``3.737 … 4.000``."""
    return f"{end:.3f}" if end is not None and text.isdigit() and end != 0 else text
