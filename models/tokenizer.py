"""Byte-level BPE tokenizer with ChatML and Hermes markers.

Words and the one character before them (`_name`, `/src`, ` path`) are units, digits stand alone:
an identifier becomes a few whole-word tokens, which the model can copy piece by piece.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

VOCABULARY = 4096
CONTEXT = 32768
CONTROL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
MARKERS = (
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
    "<think>",
    "</think>",
)
SPLIT = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?\p{Lu}?\p{Ll}+",
        r"[^\r\n\p{L}\p{N}]?\p{L}",
        r"\p{N}",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
TEMPLATE = Path(__file__).with_name("chat_template.jinja")


def train(texts: Iterable[str], vocabulary: int = VOCABULARY) -> PreTrainedTokenizerFast:
    """A tokenizer of at most `vocabulary` entries, markers included."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary - len(MARKERS),
        special_tokens=list(CONTROL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
        max_token_length=20,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_tokens([AddedToken(m, special=False, normalized=False) for m in MARKERS])
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        clean_up_tokenization_spaces=False,
        model_max_length=CONTEXT,
    )
    wrapped.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    wrapped.chat_template = TEMPLATE.read_text(encoding="utf-8")
    return wrapped


def render(tokenizer: PreTrainedTokenizerFast, record: dict) -> str:
    """The full text of a session, as the chat template writes it."""
    return tokenizer.apply_chat_template(
        record["messages"], tools=record["tools"] or None, tokenize=False
    )
