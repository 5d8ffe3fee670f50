"""Makes the pair again: `python -m models.make [--work DIR] [--out DIR] [--quick]`.

Tokenizer, target, drafter, in this order; each continues from its checkpoint in `--work`.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import islice
from pathlib import Path

import torch
from tokenizers import Tokenizer
from tokenizers import models as kinds
from transformers import PreTrainedTokenizerFast

from models import corpus, digests, drafting, target, tokenizer
from models.checkpoint import save_drafter, save_target
from models.llama import Shape

ROOT = Path(__file__).parent
TARGET = Shape(tokenizer.VOCABULARY)
DRAFTER = Shape(tokenizer.VOCABULARY, num_hidden_layers=1)
TINY = {"hidden_size": 128, "intermediate_size": 128, "head_dim": 32}


def make_tokenizer(folder: Path, texts: int, vocabulary: int) -> PreTrainedTokenizerFast:
    """The tokenizer of `folder`, trained first if it is not there."""
    if not folder.exists():
        renderer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(kinds.BPE()))
        renderer.chat_template = tokenizer.TEMPLATE.read_text(encoding="utf-8")
        source = corpus.texts(renderer, "tokenizer", (1, 1), offers=False)
        tokenizer.train(islice(source, texts), vocabulary).save_pretrained(folder)
    made = PreTrainedTokenizerFast.from_pretrained(folder)
    made.chat_template = tokenizer.TEMPLATE.read_text(encoding="utf-8")
    return made


def make(work: Path, out: Path, quick: bool) -> None:
    """Writes `out`/target and `out`/drafter; `quick` is a toy of some 20 steps for tests."""
    torch.set_num_threads(2)
    texts, vocabulary = (300, 1024) if quick else (6000, tokenizer.VOCABULARY)
    words = make_tokenizer(work / "tokenizer", texts, vocabulary)
    target_shape = replace(TARGET, vocab_size=len(words), **(TINY if quick else {}))
    drafter_shape = replace(DRAFTER, vocab_size=len(words), **(TINY if quick else {}))
    target_phases, drafter_phases = target.PHASES, drafting.PHASES
    if quick:
        target_phases = (target.Phase("short", 20, 4, 256, (1, 1), 0.25, offers=False),)
        drafter_phases = (target.Phase("draft", 20, 4, 256, (1, 1), 0.0, offers=False),)
    model = target.train(words, target_shape, work / "target.pt", phases=target_phases)
    save_target(out / "target", model, words)
    drafter = drafting.train(
        words, model, drafter_shape, work / "drafter.pt", phases=drafter_phases
    )
    save_drafter(out / "drafter", drafter, target_shape.hidden_size, words)
    digests.write(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=ROOT / "work")
    parser.add_argument("--out", type=Path, default=ROOT / "weights")
    parser.add_argument("--quick", action="store_true", help="a toy pair of some 20 steps")
    arguments = parser.parse_args()
    make(arguments.work, arguments.out, arguments.quick)


if __name__ == "__main__":
    main()
