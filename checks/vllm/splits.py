"""Split invariance in every run: its own outputs, cut elsewhere, through its server's parsers."""

import importlib.util
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from checks.findings import SPLIT_VARIANT, WARNING, Finding
from checks.vllm.cutter import Cutter, draw, fate_of, uncut_of
from checks.vllm.split_run import (
    LEFT_OUT,
    MOST_CALLS,
    MOST_VARIANT,
    OTHER,
    CutOutput,
    SplitCases,
    SplitRun,
)
from traces.journal.exchange import Exchange, TurnId
from traces.journal.served_parsers import ServedParsers


def cutter_here(served: ServedParsers, largest: int, seed: int) -> Cutter | str:
    """What cuts outputs of these parsers, or why nothing can be cut on this machine."""
    try:
        if why := _unavailable(served):
            return why
        return Cutter(served, _tokenizer_for(served), largest, seed)
    except Exception as error:  # a vLLM that cannot be imported here fails in many ways
        return f"vLLM's parsers cannot be used here: {error}"


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
    cutter = cutter_here(served, draft_tokens + 1, seed)
    fates = Counter(fate for one in exchanges.values() if (fate := fate_of(one)) is not None)
    drawn: dict[TurnId, int] = {}
    outputs: list[CutOutput] = []
    delivered: list[CutOutput] = []
    if not isinstance(cutter, str):
        drawn = draw(list(uncut_of(exchanges, seed)), cutter.largest)
        outputs = [cutter.cut(exchanges[turn], baseline.get(turn)) for turn in drawn]
        left = [turn for turn, one in exchanges.items() if fate_of(one) is None]
        delivered = [
            cutter.deliver(exchanges[turn], baseline.get(turn))
            for turn in left
            if turn not in drawn
        ]
    return conclude_splits(outputs, fates, drawn, len(exchanges), served, cutter, delivered)


def conclude_splits(
    outputs: Sequence[CutOutput],
    fates: Mapping[str, int],
    drawn: Mapping[TurnId, int],
    whole: int,
    served: ServedParsers,
    cutter: Cutter | str,
    delivered: Sequence[CutOutput] = (),
) -> SplitRun:
    """What the cut `outputs` show together, in any order. `fates` counts the outputs of a run of
    `whole` that cannot be cut; those that are neither were left out. `delivered` are outputs that
    were parsed and not cut: what was lost of them counts, however many there are."""
    parsers = " + ".join(name for name in (served.tool, served.reasoning) if name)
    if isinstance(cutter, str):
        return SplitRun(parsers, cutter)
    kept = _until_shown(sorted(outputs, key=lambda one: drawn[one.turn]))
    counts = Counter(fates) + Counter(fate for one in kept for fate in one.fates)
    counts[LEFT_OUT] = whole - sum(fates.values()) - len(kept)
    minor = [one.turn for one in kept if one.minor][:MOST_VARIANT]
    findings = [
        finding for one in kept if not one.minor or one.turn in minor for finding in one.findings
    ]
    shown = {one.turn for one in kept}
    dropped = [one for one in outputs if OTHER in one.fates and one.turn not in shown]
    findings += [finding for one in (*dropped, *delivered) for finding in one.findings]
    faults = [one for one in kept if one.fault is not None]
    calls = [call for one in kept for call in one.calls][:MOST_CALLS]
    tools: list[Mapping[str, Any]] = []
    for one in kept:
        tools += [tool for tool in one.tools if tool not in tools]
    from checks.vllm.control import judge_vllm_control

    variants = {one.turn: one.shown for one in kept if one.shown is not None}
    return SplitRun(
        parsers,
        findings=(*findings, *([_parser_fault(faults)] if faults else ())),
        outputs=+counts,
        cuts=sum(one.cuts for one in kept),
        controls=(judge_vllm_control(calls, tools, cutter.largest, cutter.seed),),
        cases=SplitCases(variants, served, cutter.largest, cutter.seed),
    )


def _until_shown(outputs: Sequence[CutOutput]) -> list[CutOutput]:
    """The outputs up to that which shows the parser at fault for good."""
    kept: list[CutOutput] = []
    for one in outputs:
        if sum(known.variant for known in kept) >= MOST_VARIANT:
            break
        kept.append(one)
    return kept


def _parser_fault(faults: Sequence[CutOutput]) -> Finding:
    """One warning for all outputs that differ without any cut: no drafter is needed for it."""
    assert faults[0].fault is not None
    one, whole = faults[0].fault
    text = (
        "the parser's own fault, with or without speculation: streamed one token at a time and "
        f"not streamed, {len(faults)} of the outputs parse differently; here: "
        f"{one.difference(whole)}"
    )
    return Finding(
        SPLIT_VARIANT,
        text,
        severity=WARNING,
        baseline=str(whole.as_json()),
        candidate=str(one.as_json()),
        baseline_too=True,
    ).at(*faults[0].turn)


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

    serving, installed = served.version, vllm_version()
    if serving is not None and serving.split("+")[0] != installed.split("+")[0]:
        return f"the server runs vLLM {serving}, and the parsers of {installed} are installed here"
    return ""
