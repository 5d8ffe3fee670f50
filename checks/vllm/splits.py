"""Split invariance in every run: its own outputs, cut elsewhere, through its server's parsers."""

import importlib.util
from collections.abc import Mapping
from typing import Any

from checks.vllm.cutter import Cutter
from checks.vllm.split_run import SplitRun
from traces.journal.exchange import Exchange, TurnId
from traces.journal.served_parsers import ServedParsers


def judge_split_invariance(
    exchanges: Mapping[TurnId, Exchange],
    baseline: Mapping[TurnId, Exchange],
    served: ServedParsers,
    draft_tokens: int,
    seed: int,
) -> SplitRun:
    """SPLIT_VARIANT of a run's outputs, and what of them was lost (`checks.splits.delivered`).

    `draft_tokens` is k: steps send 1 … k + 1 tokens.
    """
    run = SplitRun(" + ".join(name for name in (served.tool, served.reasoning) if name))
    try:
        run.unavailable = _unavailable(served)
        tokenizer = None if run.unavailable else _tokenizer_for(served)
    except Exception as error:  # a vLLM that cannot be imported here fails in many ways
        run.unavailable = f"vLLM's parsers cannot be used here: {error}"
    if run.unavailable:
        return run
    Cutter(run, served, tokenizer, draft_tokens + 1, seed, baseline).cut_all(exchanges)
    return run


def _tokenizer_for(served: ServedParsers) -> Any:
    """The tokenizer, if the parsers take it. Raises whatever the tokenizer or vLLM raises."""
    from checks.vllm.cuts import tokenizer_here
    from checks.vllm.parsers import ParserUnderTest

    tokenizer = tokenizer_here(served.tokenizer)
    ParserUnderTest(served.tool, served.reasoning, tokenizer)
    return tokenizer


def _unavailable(served: ServedParsers) -> str:
    """Why nothing can be tried; empty where it can."""
    if not served.tool and not served.reasoning:
        return "no parser of the server is known (`run.tool_parser`, `run.reasoning_parser`)"
    if not served.tokenizer:
        return "the server's tokenizer is not known (`run.tokenizer`)"
    if importlib.util.find_spec("vllm") is None:
        return "vLLM, whose parsers are needed, is not importable"
    from checks.vllm.names import vllm_version

    theirs, ours = served.version, vllm_version()
    if theirs is not None and theirs.split("+")[0] != ours.split("+")[0]:
        return f"the server runs vLLM {theirs}, and the parsers of {ours} are installed here"
    return ""
