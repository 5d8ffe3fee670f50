"""Split invariance of vLLM's parsers, for `draftgate parsers` and the matrix of all of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from checks import reasoning_markup, tool_markup
from checks.split_judgement import SplitJudgement, judge_splits
from checks.split_samples import TOOLS, reasoning_samples_for, samples_for
from checks.vllm_parsers import (
    ParserUnavailable,
    ParserUnderTest,
    TokenText,
    Tools,
    reasoning_parser_names,
    tool_parser_names,
)

TOOL, REASONING = "tool", "reasoning"


@dataclass(frozen=True, slots=True)
class Settings:
    """How outputs are cut: deltas of up to `largest` tokens, `count` random cuts, their seed."""

    largest: int = 4
    count: int = 60
    seed: int = 0


@dataclass(frozen=True, slots=True)
class CheckedText:
    """One output and the judgement of its cuts."""

    name: str
    text: str
    judgement: SplitJudgement


@dataclass(frozen=True, slots=True)
class CheckedParser:
    """One parser (or a tool and a reasoning parser together) and every output tried with it.

    `reason` says why nothing was tried, where that is so.
    """

    kind: str
    name: str
    texts: tuple[CheckedText, ...] = ()
    reason: str = ""
    tool: str | None = None
    reasoning: str | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def status(self) -> str:
        """``invariant``, ``variant``, ``single`` (only one single delta differs), ``untested``."""
        if not self.texts:
            return "untested"
        bad = [text.judgement for text in self.texts if not text.judgement.invariant]
        if not bad:
            return "invariant"
        return "single" if all(judgement.single_only for judgement in bad) else "variant"

    @property
    def parser_faults(self) -> tuple[str, ...]:
        """Outputs whose streaming parse, one token at a time, is not the non-streaming one."""
        faults = ((t.name, t.judgement.parser_fault) for t in self.texts)
        return tuple(f"{name}: {fault}" for name, fault in faults if fault)

    def as_json(self) -> dict[str, Any]:
        """For ``--json``: the texts themselves only where a cut changes them."""
        return {
            "kind": self.kind,
            "parser": self.name,
            "status": self.status,
            "reason": self.reason,
            "parser_faults": list(self.parser_faults),
            "notes": list(self.notes),
            "texts": [
                {
                    "name": text.name,
                    "text": None if text.judgement.invariant else text.text,
                    **text.judgement.as_json(),
                }
                for text in self.texts
            ],
        }


def check_all(tokenizer: Any, settings: Settings) -> Iterator[CheckedParser]:
    """Every parser of the installed vLLM on the samples its format can hold."""
    for name in tool_parser_names():
        if name not in tool_markup.FORMATS:
            reason = tool_markup.UNWRITTEN.get(name, "its format is not known here")
            yield CheckedParser(TOOL, name, reason=reason)
        else:
            yield check_parser(tokenizer, settings, name, None, samples_for(name), TOOLS)
    for name in reasoning_parser_names():
        if name not in reasoning_markup.REASONING_FORMATS:
            reason = reasoning_markup.UNWRITTEN.get(name, "its format is not known here")
            yield CheckedParser(REASONING, name, reason=reason)
        else:
            yield check_parser(tokenizer, settings, None, name, reasoning_samples_for(name))


def check_parser(
    tokenizer: Any,
    settings: Settings,
    tool: str | None,
    reasoning: str | None,
    texts: Sequence[tuple[str, str | Sequence[int]]],
    tools: Tools = (),
) -> CheckedParser:
    """Cut each of `texts` ((name, text or token ids)) every way and parse it."""
    kind = TOOL if tool else REASONING
    name = " + ".join(part for part in (tool, reasoning) if part)
    try:
        parser = ParserUnderTest(tool, reasoning, tokenizer, tools)
    except ParserUnavailable as error:
        return CheckedParser(kind, name, reason=str(error), tool=tool, reasoning=reasoning)
    checked: list[CheckedText] = []
    notes: list[str] = []
    for label, content in texts:
        tokens = (
            parser.tokenise(content) if isinstance(content, str) else parser.detokenise(content)
        )
        if not tokens.ids:
            notes.append(f"{label}: empty")
            continue
        checked.append(CheckedText(label, tokens.text, _judge(parser, tokens, settings)))
    return CheckedParser(
        kind, name, tuple(checked), tool=tool, reasoning=reasoning, notes=tuple(notes)
    )


def _tokens(parser: ParserUnderTest, content: str | Sequence[int]) -> TokenText:
    return parser.tokenise(content) if isinstance(content, str) else parser.detokenise(content)


def _judge(parser: ParserUnderTest, tokens: TokenText, settings: Settings) -> SplitJudgement:
    return judge_splits(
        tokens.pieces,
        lambda cut: parser.streamed(tokens, cut),
        parser.whole(tokens),
        largest=settings.largest,
        count=settings.count,
        seed=settings.seed,
    )
