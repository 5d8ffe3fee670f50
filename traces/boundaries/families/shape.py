"""How a family is put together: text and reasoning modes, call modes, control tokens."""

from collections.abc import Mapping

from traces.boundaries.label import MARKUP, SPECIAL
from traces.boundaries.mode import Family, Mode, Tags

TURN_ENDS = (
    "<|im_end|>",
    "<|im_start|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|system|>",
    "<|user|>",
    "<|assistant|>",
    "<|observation|>",
    "<｜end▁of▁sentence｜>",
    "<｜User｜>",
    "<｜Assistant｜>",
)
"""Control tokens of all families; they end whatever stands open."""

THINK = ("<think>", "</think>")


def to(mode: str) -> tuple[str, str]:
    """A marker of a call that leads to `mode`."""
    return (MARKUP, mode)


def control(mode: str) -> tuple[str, str]:
    """A control token that leads to `mode`."""
    return (SPECIAL, mode)


def build(
    name: str,
    calls: Tags,
    modes: Mapping[str, Mode],
    *,
    think: tuple[str, str] | None = THINK,
    start: str = "text",
    ends: tuple[str, ...] = (),
    calls_end_thinking: bool = False,
) -> Family:
    """A family whose text may hold reasoning between two markers, and calls.

    `calls` are the markers that begin calls, in text (and in reasoning, where they end it); `ends`
    control tokens besides `TURN_ENDS`. `modes` may replace `text` and `reasoning`.
    """
    ended = dict.fromkeys((*TURN_ENDS, *ends), control("text"))
    thinking: Tags = {}
    closing: Tags = {}
    if think:
        thinking = {think[0]: control("reasoning"), think[1]: control("text")}
        closing = {think[1]: control("text")}
    every = {
        "text": Mode("text", {**thinking, **calls}),
        "reasoning": Mode("reasoning", {**closing, **(calls if calls_end_thinking else {})}),
        **modes,
    }
    return Family(
        name,
        {key: Mode(m.reads, {**ended, **m.tags}, m.then, m.trims) for key, m in every.items()},
        start,
    )
