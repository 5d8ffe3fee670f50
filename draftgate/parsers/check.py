"""Split invariance of vLLM's parsers, for `draftgate parsers` and the matrix of all of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from checks.splits import markup as tool_markup
from checks.splits import reasoning_markup
from checks.splits.cuts import one_by_one
from checks.splits.fitness import FIT, MODEL, fitness
from checks.splits.judge import SplitJudgement, judge_splits
from checks.splits.samples import TOOLS, reasoning_samples_for, samples_for
from checks.vllm.detokenizer import TokenText
from checks.vllm.names import reasoning_parser_names, tool_parser_names
from checks.vllm.parsers import ParserUnavailable, ParserUnderTest, Tools
from draftgate.parsers.input import ParserInput

TOOL, REASONING = "tool", "reasoning"


@dataclass(frozen=True, slots=True)
class Settings:
    """How outputs are cut: deltas of up to `largest` tokens, `count` random cuts, their seed; and
    how many `outputs` of files at most."""

    largest: int = 4
    count: int = 60
    seed: int = 0
    outputs: int = 200


@dataclass(frozen=True, slots=True)
class CheckedText:
    """One output and the judgement of its cuts; `request` is the one it answers, if known."""

    name: str
    text: str
    judgement: SplitJudgement
    request: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class CheckedParser:
    """One parser (or a tool and a reasoning parser together) and every output tried with it.

    `reason` says why nothing was tried, where that is so; `notes` say it of single outputs.
    """

    kind: str
    name: str
    texts: tuple[CheckedText, ...] = ()
    reason: str = ""
    tool: str | None = None
    reasoning: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def status(self) -> str:
        """``invariant``, ``variant``, ``minor`` (warnings only), ``untested``."""
        if not self.texts:
            return "untested"
        bad = [text.judgement for text in self.texts if not text.judgement.invariant]
        if not bad:
            return "invariant"
        return "minor" if all(judgement.minor for judgement in bad) else "variant"

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
            texts = written(samples_for(name))
            yield check_parser(tokenizer, settings, name, None, texts, TOOLS)
    for name in reasoning_parser_names():
        if name not in reasoning_markup.REASONING_FORMATS:
            reason = reasoning_markup.UNWRITTEN.get(name, "its format is not known here")
            yield CheckedParser(REASONING, name, reason=reason)
        else:
            texts = written(reasoning_samples_for(name))
            yield check_parser(tokenizer, settings, None, name, texts)


def written(texts: Sequence[tuple[str, str]]) -> list[ParserInput]:
    """(name, text) pairs as inputs."""
    return [ParserInput(name, text) for name, text in texts]


def check_parser(
    tokenizer: Any,
    settings: Settings,
    tool: str | None,
    reasoning: str | None,
    inputs: Sequence[ParserInput],
    tools: Tools = (),
) -> CheckedParser:
    """Cut each of `inputs` every way and parse it; `tools` are offered where it has no request."""
    kind = TOOL if tool else REASONING
    name = " + ".join(part for part in (tool, reasoning) if part)
    try:
        plain = ParserUnderTest(tool, reasoning, tokenizer, tools)
    except ParserUnavailable as error:
        return CheckedParser(kind, name, reason=str(error), tool=tool, reasoning=reasoning)
    checked: list[CheckedText] = []
    notes: list[str] = []
    for item in inputs:
        try:
            parser = plain
            if item.request is not None:
                parser = ParserUnderTest(tool, reasoning, tokenizer, request=item.request)
            tokens = item.tokens(parser)
        except ParserUnavailable as error:
            notes.append(f"{item.name}: not cut: {error}")
            continue
        obstacle = _obstacle(item, parser, tokens)
        if obstacle:
            notes.append(f"{item.name}: {obstacle}")
        else:
            judged = _judge(parser, tokens, settings)
            checked.append(CheckedText(item.name, tokens.text, judged, item.request))
    return CheckedParser(
        kind, name, tuple(checked), tool=tool, reasoning=reasoning, notes=tuple(notes)
    )


def _obstacle(item: ParserInput, parser: ParserUnderTest, tokens: TokenText) -> str:
    """Why an output is not cut; empty where it is."""
    if not tokens.ids:
        return "empty"
    if not item.must_parse:
        return ""
    one, whole = parser.streamed(tokens, one_by_one(len(tokens.ids))), parser.whole(tokens)
    blame = fitness(one, whole)
    if blame == FIT:
        return ""
    if blame == MODEL:
        return "not cut: the model wrote what the parser does not take"
    return f"not cut: the parser fails without any cut ({one.difference(whole)})"


def _judge(parser: ParserUnderTest, tokens: TokenText, settings: Settings) -> SplitJudgement:
    return judge_splits(
        tokens.pieces,
        lambda cut: parser.streamed(tokens, cut),
        parser.whole(tokens),
        largest=settings.largest,
        count=settings.count,
        seed=settings.seed,
    )
