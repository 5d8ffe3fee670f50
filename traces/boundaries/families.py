"""The parser families by vLLM's parser names (vllm/tool_parsers/__init__.py, 0.32)."""

from collections.abc import Mapping

from traces.boundaries.label import MARKUP, SPECIAL
from traces.boundaries.mode import Family, Mode, Tags
from traces.errors import InputError

TURN_ENDS = (
    "<|im_end|>",
    "<|im_start|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|user|>",
    "<|assistant|>",
    "<|observation|>",
    "<｜end▁of▁sentence｜>",
    "<｜User｜>",
    "<｜Assistant｜>",
    "[EOS]",
)
"""Control tokens of every family; they end whatever stands open."""


def _family(
    name: str,
    calls: Tags,
    modes: Mapping[str, Mode],
    *,
    think: tuple[str, str] = ("<think>", "</think>"),
    start: str = "text",
    ends: tuple[str, ...] = (),
    calls_end_thinking: bool = False,
) -> Family:
    """A family whose text may hold reasoning between two markers, and calls."""
    opening, closing = think
    ended = dict.fromkeys((*TURN_ENDS, *ends), (SPECIAL, "text"))
    text = {opening: (SPECIAL, "reasoning"), closing: (SPECIAL, "text"), **calls}
    reasoning = {closing: (SPECIAL, "text"), **(calls if calls_end_thinking else {})}
    every = {"text": Mode("text", text), "reasoning": Mode("reasoning", reasoning), **modes}
    return Family(
        name,
        {key: Mode(m.reads, {**ended, **m.tags}, m.then, m.trims) for key, m in every.items()},
        start,
    )


PLAIN = _family("plain", {}, {})

HERMES = _family(
    "hermes",
    {"<tool_call>": (MARKUP, "call")},
    {"call": Mode("envelope", {"</tool_call>": (MARKUP, "text")})},
)

FAMILIES: dict[str, Family] = {"plain": PLAIN, "hermes": HERMES, "qwen3_json": HERMES}


def family(name: str | None) -> Family:
    """The family of a vLLM tool parser; `None` or ``plain``: no tool markup.

    Raises InputError for a name that is not known.
    """
    if name is None:
        return PLAIN
    if name not in FAMILIES:
        raise InputError(
            f"no boundary rules for tool parser {name!r}",
            f"name one of {', '.join(FAMILIES)}, or `plain` for a text without tool markup",
        )
    return FAMILIES[name]
