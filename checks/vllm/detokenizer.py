"""The text that each output token adds to a stream, by vLLM's own incremental detokenizer.

It is not what decoding the ids gives: a byte of an unfinished character adds nothing before its
last byte does; a stop *string* holds text back and is cut off; and the id that ended the output
(EOS, or a stop token id) reaches the parser without a text::

    ids     … 4913 ("</tool_call>")  151645 ("<|im_end|>")
    pieces  … "</tool_call>"         ""

vLLM 0.32: `v1/engine/detokenizer.py`, called as `v1/engine/output_processor.py` calls it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any


@dataclass(frozen=True)
class TokenText:
    """An output as a server's parser meets it: token ids, the text each one adds to the stream,
    and the prompt before them, which tells a parser whether reasoning is open."""

    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    prompt: tuple[int, ...] = ()

    @cached_property
    def text(self) -> str:
        return "".join(self.pieces)

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Character offset before each token, and after the last."""
        return (0, *accumulate(map(len, self.pieces)))

    @cached_property
    def id_list(self) -> list[int]:
        """The ids as parsers want them."""
        return list(self.ids)

    @cached_property
    def prompt_list(self) -> list[int]:
        """The prompt as parsers want it."""
        return list(self.prompt)


def token_text(
    tokenizer: Any,
    request: Any,
    ids: Sequence[int],
    prompt: Sequence[int] = (),
    *,
    stopped: bool = False,
) -> TokenText:
    """The pieces of `ids`, an answer to `request` (a vLLM `ChatCompletionRequest`).

    `stopped`: the last id ended the output, so it is not shown.
    """
    from vllm.sampling_params import SamplingParams
    from vllm.v1.engine import EngineCoreRequest
    from vllm.v1.engine.detokenizer import IncrementalDetokenizer

    detokenizer = IncrementalDetokenizer.from_new_request(
        tokenizer,
        EngineCoreRequest(
            request_id="",
            prompt_token_ids=list(prompt),
            mm_features=None,
            sampling_params=SamplingParams(
                stop=request.stop,
                min_tokens=request.min_tokens,
                include_stop_str_in_output=request.include_stop_str_in_output,
                skip_special_tokens=request.skip_special_tokens,
                spaces_between_special_tokens=request.spaces_between_special_tokens,
            ),
            pooling_params=None,
            arrival_time=0.0,
            lora_request=None,
            cache_salt=None,
            data_parallel_rank=None,
        ),
    )
    pieces = []
    for place, token in enumerate(ids, start=1):
        last = place == len(ids)
        detokenizer.update([token], stop_terminated=stopped and last)
        pieces.append(detokenizer.get_next_output_text(finished=last, delta=True))
    return TokenText(tuple(ids), tuple(pieces), tuple(prompt))
