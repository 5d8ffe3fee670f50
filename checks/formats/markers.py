"""The markup of parsers and the ends of tokenizers, as text.

The markers are `checks/formats/data/markers.json`, made from vLLM's parsers by
`checks/vllm/markers.py`.
"""

import json
import re
from collections import Counter
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


CONTROL = (
    "<｜begin▁of▁sentence｜>",
    "<｜User｜>",
    "<｜Assistant｜>",
    "<|begin_of_text|>",
    "<|startoftext|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|im_start|>",
    "<|user|>",
    "<|assistant|>",
    "<|system|>",
    "<|observation|>",
    "<|START_OF_TURN_TOKEN|>",
    "<start_of_turn>",
    "<bos>",
    "<pad>",
    "<unk>",
    "<s>",
    "[gMASK]",
    "<sop>",
    "[INST]",
    "[/INST]",
)
"""Special tokens that begin a text or part the turns of a chat: no sound server shows one."""


@cache
def markers() -> tuple[str, ...]:
    """The markers, longest first."""
    text = (files("checks.formats") / "data" / "markers.json").read_text(encoding="utf-8")
    return tuple(sorted(json.loads(text)["markers"], key=lambda m: (-len(m), m)))


def leaked(candidate: str, baseline: str) -> list[str]:
    """Markers that `candidate` shows more often than `baseline`, none of them inside a longer one.

    A marker that is short of its last character is shown, too.

    >>> leaked("ok</think>", "ok"), leaked("ok</think", "ok")
    (['</think>'], ['</think'])
    """
    found: list[str] = []
    if candidate == baseline or not _keys().search(candidate):
        return found
    for marker in markers():
        inside = any(marker in longer for longer in found)
        if not inside and candidate.count(marker) > baseline.count(marker):
            found.append(marker)
    for stem, pattern in _stems().items():
        inside = any(stem in longer for longer in found)
        if (
            not inside
            and stem in candidate
            and _times(pattern, candidate) > _times(pattern, baseline)
        ):
            found.append(stem)
    return found


@cache
def _keys() -> re.Pattern[str]:
    """Finds one of a few characters that every marker, and every stem, holds one of: a text without
    them shows no marker, and most texts are without."""
    left = {*markers(), *_stems()}
    keys: list[str] = []
    while left:
        held = Counter(c for marker in left for c in set(marker) if not c.isalnum() and c != " ")
        held = held or Counter(c for marker in left for c in set(marker))
        keys.append(min(held, key=lambda c: (-held[c], c)))
        left = {marker for marker in left if keys[-1] not in marker}
    return re.compile("[" + re.escape("".join(keys)) + "]")


@cache
def _stems() -> dict[str, re.Pattern[str]]:
    """Closed markers without their last character, as they may end: at the text's end, or before
    what cannot go on with the tag. ``<think`` is a part of ``<thinking>``, ``<function`` of
    ``<function name="f">``; ``[ARGS`` is a word of many a usage line.
    """
    closed = [m for m in markers() if m.endswith(">") or (m.endswith("]") and set(m) & set("_/"))]
    ends = r"(?=\Z|[<{\[]|\s(?!\s*[\w:-]+\s*=))"
    return {m[:-1]: re.compile(re.escape(m[:-1]) + ends) for m in closed}


def _times(pattern: re.Pattern[str], text: str) -> int:
    return sum(1 for _ in pattern.finditer(text))
