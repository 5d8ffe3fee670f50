"""SPLIT_VARIANT of a case file: its cuts, through vLLM's own parsers."""

from functools import cache
from pathlib import Path
from typing import Any

from checks import findings as f
from checks.findings import Finding, NotJudged
from checks.splits.judge import judge_given
from checks.splits.samples import training_texts
from checks.vllm.detokenizer import TokenText
from checks.vllm.parsers import ParserUnavailable, ParserUnderTest, load_tokenizer
from checks.vllm.tokenizer import build
from traces.cases.case import CaseScenario
from traces.errors import InputError

BUILT_IN = "built-in"
"""The name of the test tokenizer, which has the markers of all parsers."""


@cache
def tokenizer_named(name: str) -> Any:
    """A tokenizer by folder or name; ``built-in`` is the test tokenizer. Raises `InputError`."""
    return build(training_texts()) if name == BUILT_IN else load_tokenizer(name)


@cache
def tokenizer_here(name: str) -> Any:
    """The tokenizer of a case or a run, from this machine: they are judged without a network.

    A name that is no folder is looked up in the cache of the Hugging Face Hub; waiting for a hub
    that cannot be reached would take minutes. Raises `InputError`.
    """
    if name == BUILT_IN or Path(name).is_dir():
        return tokenizer_named(name)
    from huggingface_hub import snapshot_download

    try:
        folder = snapshot_download(name, local_files_only=True)
    except (OSError, ValueError) as error:
        raise InputError(
            f"tokenizer {name!r} is not on this machine",
            "name the model's folder, or download it first",
        ) from error
    return tokenizer_named(folder)


def judge_cuts(scenario: CaseScenario) -> list[Finding | NotJudged]:
    """Parse the scenario's output under its cuts and one token at a time.

    Raises `InputError` for a parser the installed vLLM does not know or that refuses the tokenizer
    or the request. A tokenizer that is not on this machine leaves the code not judged.
    """
    context = scenario.context
    place = f"scenario {scenario.name!r}"
    try:
        tokenizer = tokenizer_here(context.tokenizer or BUILT_IN)
    except InputError as error:
        return [NotJudged(f.SPLIT_VARIANT, str(error))]
    try:
        parser = ParserUnderTest(
            context.tool_parser, context.reasoning_parser, tokenizer, request=scenario.request or {}
        )
        tokens = _tokens(scenario, parser)
    except InputError as error:
        raise InputError(f"{place}: context: {error}", error.fix) from error
    except ParserUnavailable as error:
        raise InputError(
            f"{place}: the parser, the tokenizer {context.tokenizer!r} and the request do not go "
            f"together: {error}",
            "name the tokenizer of a model this parser is made for, or `built-in`",
        ) from error
    if tokens is None:
        return [NotJudged(f.SPLIT_VARIANT, "neither raw_text nor token ids are known")]
    outside = [p for cut in context.partitions for p in cut if not 0 < p < len(tokens.ids)]
    if outside:
        raise InputError(
            f"{place}: context.cuts names {outside[0]}, the output has {len(tokens.ids)} tokens",
            "a cut is a token offset between 1 and the number of tokens less one",
        )
    judged = judge_given(
        tokens.pieces, lambda cut: parser.streamed(tokens, cut), context.partitions
    )
    return list(judged.findings())


def _tokens(scenario: CaseScenario, parser: ParserUnderTest) -> TokenText | None:
    candidate = scenario.candidate
    if candidate is None:
        return None
    ids = [token.id for token in candidate.tokens or () if token.id is not None]
    if ids:
        return parser.detokenize(ids)
    return None if candidate.raw_text is None else parser.tokenize(candidate.raw_text)
