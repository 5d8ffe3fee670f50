"""Training rows: rendered sessions as token ids with a mask of what the assistant wrote."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
from transformers import PreTrainedTokenizerFast

from models.generator.session import session
from models.generator.stories import STORIES
from models.tokenizer import render


def texts(
    tokenizer: PreTrainedTokenizerFast, seed: str, parts: tuple[int, int], offers: bool = True
) -> Iterator[str]:
    """An endless stream of rendered sessions of `parts` (least, most) stories."""
    rng = random.Random(seed)
    index = 0
    while True:
        count = rng.randint(*parts)
        yield render(tokenizer, session(f"{seed}-{index}", STORIES, count, offers=offers))
        index += 1


def assistant_mask(ids: np.ndarray, opening: list[int], end: int) -> np.ndarray:
    """True on the tokens of assistant replies, `<|im_end|>` included."""
    mask = np.zeros(len(ids), dtype=bool)
    width = len(opening)
    starts = np.flatnonzero(ids[: len(ids) - width + 1] == opening[0])
    ends = np.flatnonzero(ids == end)
    for start in starts:
        if ids[start : start + width].tolist() == opening:
            after = np.searchsorted(ends, start + width)
            stop = ends[after] + 1 if after < len(ends) else len(ids)
            mask[start + width : stop] = True
    return mask


def rows(
    tokenizer: PreTrainedTokenizerFast,
    seed: str,
    parts: tuple[int, int],
    length: int,
    count: int,
    offers: bool = True,
) -> tuple[np.ndarray, np.ndarray]:
    """`count` rows of `length` tokens, each starting with a session, and their masks.

    A row is filled with further sessions; the last one is cut.
    """
    opening = tokenizer("<|im_start|>assistant\n", add_special_tokens=False)["input_ids"]
    end = tokenizer.eos_token_id
    ids = np.zeros((count, length), dtype=np.int32)
    source = texts(tokenizer, seed, parts, offers)
    for row in range(count):
        filled = 0
        while filled < length:
            new = tokenizer(next(source), add_special_tokens=False)["input_ids"][: length - filled]
            ids[row, filled : filled + len(new)] = new
            filled += len(new)
    masks = np.stack([assistant_mask(row, opening, end) for row in ids])
    return ids, masks


def repeats(
    rng: np.random.Generator, vocabulary: int, length: int
) -> tuple[np.ndarray, np.ndarray]:
    """A row of random tokens in which spans come again; the mask marks what can be copied.

    Induction heads form on such rows long before they would on text.
    """
    spans = [rng.integers(300, vocabulary, rng.integers(4, 24)) for _ in range(length // 48)]
    seen: set[int] = set()
    ids: list[int] = []
    mask: list[bool] = []
    while len(ids) < length:
        which = int(rng.integers(len(spans)))
        noise = rng.integers(300, vocabulary, rng.integers(0, 3)).tolist()
        span = spans[which].tolist()
        ids += [*noise, *span]
        mask += [False] * (len(noise) + 1) + [which in seen] * (len(span) - 1)
        seen.add(which)
    return np.array(ids[:length], dtype=np.int32), np.array(mask[:length], dtype=bool)
