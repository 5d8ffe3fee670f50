"""A case file for an output that parses otherwise under another cut.

It is redacted first and cut afterwards, so that the cut it names is one of the text it holds. It
names the built-in tokenizer where the fault shows with that one too: then it needs no model.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from checks.cases.redaction import Redact
from checks.cases.writing import case_of_cut
from checks.findings import Finding
from checks.splits.judge import judge_splits
from checks.vllm.cuts import BUILT_IN, judge_cuts, tokenizer_here
from checks.vllm.parsers import READ, ParserUnavailable, ParserUnderTest
from traces.cases.case import Case

CUTS, TRIES = 60, 1000


def case_of_variant(
    finding: Finding,
    text: str,
    request: Mapping[str, Any],
    parsers: tuple[str | None, str | None],
    tokenizers: Sequence[str],
    largest: int,
    seed: int,
    redact: Redact,
) -> Case | None:
    """The smallest case with the severity and the difference of `finding`; `None` if none has.

    `text` is the output with its markup, `parsers` names the tool and the reasoning parser, and
    `tokenizers` are tried after the built-in one.
    """
    text = redact(text)
    for tokenizer in dict.fromkeys((BUILT_IN, *tokenizers)):
        for smaller in _requests(request, text):
            found = _scenario(text, smaller, parsers, tokenizer, largest, seed, finding)
            case = found and case_of_cut(finding, found, judge_cuts, redact)
            if case:
                return case
    return None


def _requests(request: Mapping[str, Any], text: str) -> Iterator[dict[str, Any]]:
    """What a parser reads of the request, from less to more: no tools, those called, all."""
    read = {name: request[name] for name in READ if request.get(name) not in (None, [])}
    tools = read.pop("tools", [])
    choices = [[], [t for t in tools if (t.get("function") or {}).get("name", "") in text], tools]
    for place, chosen in enumerate(choices):
        if chosen not in choices[:place]:
            yield {**read, "tools": chosen} if chosen else read


def _scenario(
    text: str,
    request: dict[str, Any],
    parsers: tuple[str | None, str | None],
    tokenizer: str,
    largest: int,
    seed: int,
    like: Finding,
) -> dict[str, Any] | None:
    tool, reasoning = parsers
    try:
        parser = ParserUnderTest(tool, reasoning, tokenizer_here(tokenizer), request=request)
    except ParserUnavailable:
        return None
    tokens = parser.tokenize(text)
    judged = judge_splits(
        tokens.pieces,
        lambda cut: parser.streamed(tokens, cut),
        None,
        largest=largest,
        count=CUTS,
        seed=seed,
        tries=TRIES,
    )
    shown = next(judged.findings(), None)
    if shown is None or shown.severity != like.severity or _how(shown) != _how(like):
        return None
    context = {
        "tool_parser": tool,
        "reasoning_parser": reasoning,
        "tokenizer": tokenizer,
        "cuts": [shown.detail["cut"]],
    }
    return {
        "request": request,
        "candidate": {"raw_text": text},
        "context": {name: value for name, value in context.items() if value is not None},
    }


def _how(finding: Finding) -> str:
    """``calls lost``, of ``calls lost when … arrives in one delta``."""
    return finding.message.partition(" when ")[0]
