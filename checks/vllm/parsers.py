"""The adapter that drives vLLM's own parsers as its server does.

A stream gets a fresh parser; deltas carry the ids of a cut and the text that
`checks.vllm.detokenizer` gives for them, and the last delta is marked finished. vLLM 0.32:
`parser/abstract_parser.py`, `entrypoints/openai/chat_completion/serving.py`.
"""

import logging
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from checks.formats.markers import EOS
from checks.splits.cuts import Cut
from checks.splits.parse_result import ParseResult
from checks.vllm.detokenizer import TokenText, token_text
from checks.vllm.names import reasoning_parser_names, refuse_unknown, tool_parser_names
from traces.errors import InputError

Tools = Sequence[Mapping[str, Any]]

READ = (
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "response_format",
    "structured_outputs",
    "reasoning_effort",
    "include_reasoning",
    "chat_template_kwargs",
    "skip_special_tokens",
    "spaces_between_special_tokens",
    "stop",
    "include_stop_str_in_output",
    "min_tokens",
)
"""The fields of a request that a parser or the detokenizer looks at."""

HISTORY = [{"role": "user", "content": "x"}]
"""Stands for the messages: parsers only count their calls, to number new ones."""


class ParserUnavailable(ValueError):
    """The parser cannot be built with this tokenizer; the message says what is missing."""


def load_tokenizer(name: str) -> Any:
    """A tokenizer by folder or name. Raises `InputError`.

    A name is looked up as vLLM does; what can only be a folder is not.
    """
    fix = "name the model's folder, or leave the tokenizer out to use the built-in one"
    is_folder = name.startswith(("/", ".", "~")) or name.count("/") > 1
    if is_folder and not Path(name).is_dir():
        raise InputError(f"tokenizer {name!r} cannot be loaded: there is no such folder", fix)
    import vllm.config  # noqa: F401
    from vllm.tokenizers import get_tokenizer

    try:
        return get_tokenizer(name)
    except (OSError, ValueError) as error:
        raise InputError(
            f"tokenizer {name!r} cannot be loaded: {str(error).splitlines()[0]}", fix
        ) from error


class ParserUnderTest:
    """One tool parser, one reasoning parser, or a pair, with a tokenizer and a chat request.

    Without `request` it is one that only offers `tools`. Raises `InputError` for a name the
    installed vLLM does not know, `ParserUnavailable` where the parser refuses the tokenizer or the
    request.
    """

    def __init__(
        self,
        tool: str | None,
        reasoning: str | None,
        tokenizer: Any,
        tools: Tools = (),
        request: Mapping[str, Any] | None = None,
    ) -> None:
        refuse_unknown("tool parser", tool, tool_parser_names())
        refuse_unknown("reasoning parser", reasoning, reasoning_parser_names())
        logging.getLogger("vllm").setLevel(logging.CRITICAL)
        from vllm.parser import ParserManager

        self.tokenizer = tokenizer
        try:
            self.request = _chat_request({"tools": list(tools)} if request is None else request)
            self.parser = ParserManager.get_parser(
                tool_parser_name=tool,
                reasoning_parser_name=reasoning,
                enable_auto_tools=True,
                model_name="m",
                is_harmony=tool == "openai" or reasoning == "openai_gptoss",
                tokenizer=tokenizer,
            )
            self._template = self.request.build_chat_params(None, "auto").chat_template_kwargs
            self.request = self._fresh().adjust_request(self.request)
        except Exception as error:
            reason = " ".join(str(error.__cause__ or error).split())[:300]
            raise ParserUnavailable(reason or type(error).__name__) from error

    def _fresh(self) -> Any:
        return self.parser(self.tokenizer, self.request.tools, chat_template_kwargs=self._template)

    def tokenize(self, text: str) -> TokenText:
        """The text as token ids with the pieces vLLM's detokenizer would stream."""
        return self.detokenize(self.tokenizer.encode(text, add_special_tokens=False))

    def detokenize(
        self, ids: Sequence[int], prompt: Sequence[int] = (), *, stopped: bool | None = None
    ) -> TokenText:
        """Token ids, the answer to `prompt`, with the text each adds.

        `stopped`: the last id ended the output and adds none; without it, an end token did. Raises
        `ParserUnavailable` for an id the tokenizer does not have.
        """
        size = len(self.tokenizer)
        foreign = next((i for i in ids if not 0 <= i < size), None)
        if foreign is not None:
            raise ParserUnavailable(f"the tokenizer's {size} tokens have no id {foreign}")
        if stopped is None:
            last = self.tokenizer.decode(list(ids[-1:]))
            stopped = last in EOS or last == self.tokenizer.eos_token
        return token_text(self.tokenizer, self.request, ids, prompt, stopped=stopped)

    def streamed(self, tokens: TokenText, cut: Cut) -> ParseResult:
        """The result of a stream whose deltas end at the token offsets `cut`."""
        text, ids, offsets = tokens.text, tokens.id_list, tokens.offsets
        prompt, request = tokens.prompt_list, self.request
        edges = (0, *cut, len(ids))
        content: list[str] = []
        reasoning: list[str] = []
        calls: dict[int, list[str]] = {}
        try:
            parse = self._fresh().parse_delta
            for start, end in pairwise(edges):
                delta = parse(
                    text[offsets[start] : offsets[end]],
                    ids[start:end],
                    request,
                    prompt,
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
        found = self._allowed([(name, text) for _, (name, text) in sorted(calls.items())])
        return ParseResult("".join(content), "".join(reasoning), found)

    def whole(self, tokens: TokenText) -> ParseResult:
        """The result of the non-streaming parse."""
        try:
            parser = self._fresh()
            parser.set_prompt_token_ids(tokens.prompt_list)
            reasoning, content, calls = parser.parse(
                tokens.text,
                self.request,
                enable_auto_tools=True,
                model_output_token_ids=tokens.id_list,
            )
        except Exception as error:
            return ParseResult(error=f"{type(error).__name__}: {error}"[:200])
        found = self._allowed([(call.name, call.arguments or "") for call in calls or ()])
        return ParseResult(content or "", reasoning or "", found)

    def _allowed(self, calls: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """The first alone where the request wants no parallel calls, as the server sends them."""
        return tuple(calls[:1] if self.request.parallel_tool_calls is False else calls)


def _chat_request(fields: Mapping[str, Any]) -> Any:
    """The request as vLLM reads it: what a parser or the detokenizer looks at, no history."""
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest

    kept = {name: fields[name] for name in READ if fields.get(name) not in (None, [])}
    return ChatCompletionRequest(model="m", messages=HISTORY, **kept)
