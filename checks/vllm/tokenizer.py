"""A small byte-level BPE tokenizer that knows the markers of every parser.

Many parsers refuse a tokenizer whose vocabulary lacks their special tokens. This one has the
markers as added tokens, as the models' own tokenizers do; tags that models spell in plain text
stay plain text. None is hidden from the parsers, as where `skip_special_tokens` is off.
"""

import re
from collections.abc import Iterable
from typing import Any

from checks.formats.markers import markers

ADDED = re.compile(r"<[^<>=\s]+>|\[/?[A-Z_]+\]")
SPELLED = re.compile(
    r"</?(?:function|parameter|param|invoke|response|answer|call|assistant|scratch_pad|escape"
    r"|function_calls|functioncall|steptml:\w+|atem:\w+)>"
)
FURTHER = (
    "<|endoftext|>",
    "<|call|>",
    "<|return|>",
    "<｜DSML｜>",
    "<|functions_prefix|>",
)
"""Tokens that are special in some tokenizer but not a marker of a parser's source."""


def build(texts: Iterable[str], vocabulary: int = 1500) -> Any:
    """The tokenizer, its merges learned from `texts`; the same texts give the same tokenizer."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    added = [t for t in (*markers(), *FURTHER) if ADDED.fullmatch(t) and not SPELLED.fullmatch(t)]
    tokenizer.add_tokens(
        [AddedToken(text, special=False, normalized=False) for text in dict.fromkeys(added)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|endoftext|>",
        clean_up_tokenization_spaces=False,
    )
