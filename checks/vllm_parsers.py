"""The adapter that drives vLLM's own parsers as its server does; nothing else of `checks` may.

A stream gets a fresh parser; deltas carry the ids of a cut and the text vLLM's incremental
detokenizer gives for them (an incomplete UTF-8 sequence is held back until its last byte), and the
last delta is marked finished. vLLM 0.32: `parser/abstract_parser.py`, `v1/engine/detokenizer.py`,
`chat_completion/serving.py`.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

from checks.cuts import Cut
from checks.parse_result import ParseResult
from traces.errors import InputError

Tools = Sequence[Mapping[str, Any]]


class ParserUnavailable(ValueError):
    """The parser cannot be built with this tokenizer; the message says what is missing."""


@dataclass(frozen=True)
class TokenText:
    """An output as a server sees it: token ids, and the text each one adds to the stream."""

    ids: tuple[int, ...]
    pieces: tuple[str, ...]

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


def tool_parser_names() -> list[str]:
    """The tool parsers the installed vLLM knows."""
    _import_in_order()
    from vllm.tool_parsers import _TOOL_PARSERS_TO_REGISTER

    return sorted(_TOOL_PARSERS_TO_REGISTER)


def reasoning_parser_names() -> list[str]:
    """The reasoning parsers the installed vLLM knows."""
    _import_in_order()
    from vllm.reasoning import _REASONING_PARSERS_TO_REGISTER

    return sorted(_REASONING_PARSERS_TO_REGISTER)


def vllm_version() -> str:
    """The version of the installed vLLM."""
    import vllm

    return str(vllm.__version__)


def load_tokenizer(name: str) -> Any:
    """A tokenizer by folder or name. Raises `InputError`."""
    _import_in_order()
    from vllm.tokenizers import get_tokenizer

    try:
        return get_tokenizer(name)
    except (OSError, ValueError) as error:
        raise InputError(
            f"tokenizer {name!r} cannot be loaded: {str(error).splitlines()[0]}",
            "name the model's folder, or leave the tokenizer out to use the built-in one",
        ) from error


class ParserUnderTest:
    """One tool parser, one reasoning parser, or a pair, with a tokenizer and the request's tools.

    Raises `InputError` for a name the installed vLLM does not know, `ParserUnavailable` where the
    parser refuses the tokenizer.
    """

    def __init__(
        self, tool: str | None, reasoning: str | None, tokenizer: Any, tools: Tools = ()
    ) -> None:
        _import_in_order()
        _refuse_unknown("tool parser", tool, tool_parser_names())
        _refuse_unknown("reasoning parser", reasoning, reasoning_parser_names())
        from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
        from vllm.parser import ParserManager

        self.tokenizer = tokenizer
        self.request = ChatCompletionRequest(
            messages=[{"role": "user", "content": "x"}],
            model="m",
            tools=[dict(tool) for tool in tools] or None,
            tool_choice="auto" if tools else None,
        )
        try:
            self.parser = ParserManager.get_parser(
                tool_parser_name=tool,
                reasoning_parser_name=reasoning,
                enable_auto_tools=True,
                model_name="m",
                is_harmony=tool == "openai" or reasoning == "openai_gptoss",
                tokenizer=tokenizer,
            )
            self.request = self._fresh().adjust_request(self.request)
        except Exception as error:
            reason = str(error.__cause__ or error).strip().splitlines()
            raise ParserUnavailable(reason[0] if reason else type(error).__name__) from error

    def _fresh(self) -> Any:
        return self.parser(self.tokenizer, self.request.tools)

    def tokenise(self, text: str) -> TokenText:
        """The text as token ids with the pieces vLLM's detokenizer would stream."""
        return self.detokenise(self.tokenizer.encode(text, add_special_tokens=False))

    def detokenise(self, ids: Sequence[int]) -> TokenText:
        """Token ids with the text each adds; a byte of an unfinished character adds nothing."""
        from tokenizers.decoders import DecodeStream

        stream = DecodeStream(skip_special_tokens=bool(self.request.skip_special_tokens))
        backend = self.tokenizer._tokenizer
        return TokenText(tuple(ids), tuple(stream.step(backend, i) or "" for i in ids))

    def streamed(self, tokens: TokenText, cut: Cut) -> ParseResult:
        """The result of a stream whose deltas end at the token offsets `cut`."""
        text, ids, offsets = tokens.text, tokens.id_list, tokens.offsets
        edges = (0, *cut, len(ids))
        content: list[str] = []
        reasoning: list[str] = []
        calls: dict[int, list[str]] = {}
        try:
            parser = self._fresh()
            for start, end in pairwise(edges):
                delta = parser.parse_delta(
                    text[offsets[start] : offsets[end]],
                    ids[start:end],
                    self.request,
                    [],
                    finished=end == len(ids),
                )
                if delta is None:
                    continue
                if delta.content:
                    content.append(delta.content)
                if delta.reasoning:
                    reasoning.append(delta.reasoning)
                for part in delta.tool_calls or ():
                    call = calls.setdefault(part.index, ["", ""])
                    if part.function is not None:
                        call[0] = call[0] or part.function.name or ""
                        call[1] += part.function.arguments or ""
        except Exception as error:
            return ParseResult(error=f"{type(error).__name__}: {error}"[:200])
        found = tuple((name, text) for _, (name, text) in sorted(calls.items()))
        return ParseResult("".join(content), "".join(reasoning), found)

    def whole(self, tokens: TokenText) -> ParseResult:
        """The result of the non-streaming parse."""
        try:
            reasoning, content, calls = self._fresh().parse(
                tokens.text,
                self.request,
                enable_auto_tools=True,
                model_output_token_ids=list(tokens.ids),
            )
        except Exception as error:
            return ParseResult(error=f"{type(error).__name__}: {error}"[:200])
        found = tuple((call.name, call.arguments or "") for call in calls or ())
        return ParseResult(content or "", reasoning or "", found)


def _import_in_order() -> None:
    """As the first import of vLLM `vllm.tool_parsers` is circular; `vllm.config` goes before."""
    import vllm.config  # noqa: F401

    logging.getLogger("vllm").setLevel(logging.CRITICAL)


def _refuse_unknown(kind: str, name: str | None, known: Sequence[str]) -> None:
    if name is not None and name not in known:
        raise InputError(f"there is no {kind} {name!r}", f"known: {', '.join(known)}")
