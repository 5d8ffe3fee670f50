"""The markup of parsers and the ends of tokenizers, as text.

The markers are `checks/formats/data/markers.json`, made from vLLM's parsers by
`checks/vllm/markers.py`.
"""

import json
from functools import cache
from importlib.resources import files

EOS = (
    "<|im_end|>",
    "<|endoftext|>",
    "</s>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|eot|>",
    "<eos>",
    "<end_of_turn>",
    "<turn|>",
    "<｜end▁of▁sentence｜>",
    "<|END_OF_TURN_TOKEN|>",
    "<|return|>",
    "<seed:eos>",
    "[e~[",
    "[EOS]",
)
"""EOS strings of the tokenizers vLLM's parsers are made for; a pair may name further ones."""


@cache
def markers() -> tuple[str, ...]:
    """The markers, longest first."""
    text = (files("checks.formats") / "data" / "markers.json").read_text(encoding="utf-8")
    return tuple(sorted(json.loads(text)["markers"], key=lambda m: (-len(m), m)))


def leaked(ours: str, theirs: str) -> list[str]:
    """The markers `ours` shows more often than `theirs`; one inside a longer one is not repeated.

    >>> leaked("ok</think>", "ok")
    ['</think>']
    """
    found: list[str] = []
    for marker in markers():
        inside = any(marker in longer for longer in found)
        if not inside and ours.count(marker) > theirs.count(marker):
            found.append(marker)
    return found
