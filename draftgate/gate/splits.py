"""Split invariance in every gate run: the run's own outputs through the server's own parsers.

Needs vLLM on this machine, the names of the parsers, and the tokenizer; what is missing is said.
The candidate's outputs with markup are tried first, since only those can be cut wrongly.
"""

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from checks import findings as f
from checks import json_values
from checks.findings import Finding, NotJudged
from checks.json_values import NotJson
from draftgate.gate.evidence import Exchange, TurnId
from draftgate.parser_check import CheckedParser, Settings, check_parser
from traces.errors import InputError

MOST_OUTPUTS = 20
"""So many outputs of a run are cut; a cut fault is in the parser and shows in the first of them."""
MOST_TOKENS = 2000
"""Longer outputs are left out: the parse of a cut costs time in proportion to its square."""


@dataclass(frozen=True, slots=True)
class ServerParsers:
    """The parsers a server runs, as its flags name them, and the tokenizer of its model."""

    tool: str | None
    reasoning: str | None
    tokenizer: str


def judge_split_invariance(
    exchanges: Mapping[TurnId, Exchange], parsers: ServerParsers, draft_tokens: int, seed: int
) -> tuple[list[Finding | NotJudged], CheckedParser | None]:
    """SPLIT_VARIANT for the outputs of a run, and what was tried.

    `draft_tokens` is k: random deltas have 1 … k + 1 tokens.
    """
    if not parsers.tool and not parsers.reasoning:
        return [NotJudged(f.SPLIT_VARIANT, "the server runs no parser")], None
    if importlib.util.find_spec("vllm") is None:
        return [NotJudged(f.SPLIT_VARIANT, "vLLM is not installed here")], None
    from checks.vllm_cuts import tokenizer_named

    chosen = _chosen(exchanges)
    if not chosen:
        return [NotJudged(f.SPLIT_VARIANT, "no output has token ids")], None
    tools = [tool for turn in chosen for tool in exchanges[turn].request.get("tools") or []]
    unique = list({str(tool): tool for tool in tools}.values())
    texts = [("/".join(turn), exchanges[turn].response.token_ids or ()) for turn in chosen]
    try:
        tokenizer = tokenizer_named(parsers.tokenizer)
        settings = Settings(largest=draft_tokens + 1, seed=seed)
        checked = check_parser(tokenizer, settings, parsers.tool, parsers.reasoning, texts, unique)
    except InputError as error:
        return [NotJudged(f.SPLIT_VARIANT, str(error))], None
    if checked.reason:
        return [NotJudged(f.SPLIT_VARIANT, checked.reason)], checked
    found: list[Finding | NotJudged] = []
    for turn, text in zip(chosen, checked.texts, strict=False):
        found += [finding.at(*turn) for finding in text.judgement.findings()]
    return found, checked


def _is_sound(exchange: Exchange) -> bool:
    """Whether the output came to its end with calls that parse.

    How much of a call that cannot be parsed a parser hands on may depend on the cut; no client can
    use either, and the model is to blame.
    """
    response = exchange.response
    if response.finish_reason in (None, "length"):
        return False
    try:
        for call in response.tool_calls:
            json_values.parse(call.arguments)
    except NotJson:
        return False
    return True


def _chosen(exchanges: Mapping[TurnId, Exchange]) -> Sequence[TurnId]:
    """The outputs to cut: those with calls or reasoning first, the short ones of them first."""
    usable = [
        (turn, exchange)
        for turn, exchange in exchanges.items()
        if 1 < len(exchange.response.token_ids or ()) <= MOST_TOKENS and _is_sound(exchange)
    ]

    def rank(item: tuple[TurnId, Exchange]) -> tuple[bool, int]:
        response = item[1].response
        marked = bool(response.tool_calls or response.reasoning)
        return not marked, len(response.token_ids or ())

    return [turn for turn, _ in sorted(usable, key=rank)[:MOST_OUTPUTS]]
