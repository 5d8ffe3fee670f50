"""Cuts a run's outputs, one by one, until the budget is spent or the parser is shown at fault.

ids ─▶ cut as they were sent           the result the client got?  else `checks.splits.delivered`
    ─▶ one by one, and not streamed    fit to be cut?              else not speculation
    ─▶ in two, at random, not at all   the same result?            else SPLIT_VARIANT
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from checks import findings as f
from checks.findings import WARNING, Finding
from checks.splits.cuts import near_markup, one_by_one
from checks.splits.delivered import check_delivered
from checks.splits.fitness import FIT, MODEL, fitness
from checks.splits.judge import judge_splits
from checks.splits.markup import CallToWrite
from checks.splits.parse_result import ParseResult
from checks.splits.served import ended_by_token, served_cut, served_result
from checks.splits.work import split_work
from checks.vllm.split_run import (
    CUT,
    FAULTY,
    LEFT_OUT,
    MALFORMED,
    MOST_TOKENS,
    NO_IDS,
    OTHER,
    TOO_LONG,
    UNFINISHED,
    SplitCases,
    SplitRun,
    VariantOutput,
)
from traces.journal.exchange import Exchange, TurnId
from traces.journal.served_parsers import ServedParsers
from traces.wire.response import Response

if TYPE_CHECKING:
    from checks.vllm.detokenizer import TokenText
    from checks.vllm.parsers import ParserUnderTest

BUDGET = 250_000
"""Units of `checks.splits.work` spent in one run."""
CUTS = 20
"""Random cuts per output."""
MOST_VARIANT = 5
"""After so many outputs that parse otherwise no more are cut: the parser is shown at fault."""
TRIES = 200
"""Parses spent on shrinking the cut of each of them."""
MOST_CALLS = 8
"""So many calls are kept for the control."""


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A response, its server's parser, its token texts, and what the parser makes of them."""

    response: Response
    parser: "ParserUnderTest"
    tokens: "TokenText"
    again: ParseResult


class Cutter:
    """Cuts outputs and keeps the tally in `run`; steps send up to `largest` tokens."""

    def __init__(
        self,
        run: SplitRun,
        served: ServedParsers,
        tokenizer: Any,
        largest: int,
        seed: int,
        baseline: Mapping[TurnId, Exchange],
    ) -> None:
        self.baseline = baseline
        self.run, self.served, self.tokenizer = run, served, tokenizer
        self.largest, self.seed = largest, seed
        self.spent = self.variant = self.minor = 0
        self.faults: list[tuple[TurnId, ParseResult, ParseResult]] = []
        self.shown: dict[TurnId, VariantOutput] = {}
        self.calls: list[CallToWrite] = []
        self.tools: list[dict[str, Any]] = []

    def cut_all(self, exchanges: Mapping[TurnId, Exchange]) -> None:
        """Every output that the budget allows; then the control, with the calls that were met."""
        from checks.vllm.control import judge_vllm_control

        drawn = list(self._drawn(exchanges))
        for done, (turn, exchange) in enumerate(drawn):
            if self.spent >= BUDGET or self.variant >= MOST_VARIANT:
                self.run.outputs[LEFT_OUT] += len(drawn) - done
                break
            self._try(turn, exchange)
        if self.faults:
            self.run.findings.append(self._parser_fault())
        control = judge_vllm_control(self.calls, self.tools, self.largest, self.seed)
        self.run.controls = (control,)
        self.run.cases = SplitCases(self.shown, self.served, self.largest, self.seed)

    def _drawn(self, exchanges: Mapping[TurnId, Exchange]) -> Sequence[tuple[TurnId, Exchange]]:
        """Outputs that can be cut, in the order of their turn to be."""
        usable = []
        for turn, exchange in exchanges.items():
            response = exchange.response
            if response.finish_reason in (None, "length"):
                self.run.outputs[UNFINISHED] += 1
            elif not response.token_ids:
                self.run.outputs[NO_IDS] += 1
            elif len(response.token_ids) > MOST_TOKENS:
                self.run.outputs[TOO_LONG] += 1
            else:
                usable.append((turn, exchange))
        return sorted(usable, key=lambda item: not _marked(item[1]))

    def _try(self, turn: TurnId, exchange: Exchange) -> None:
        """Cut one output, if it is what the client got and fit to be cut."""
        ids = exchange.response.token_ids or ()
        self.spent += split_work(len(ids), 0, 0, self.largest)
        met = self._parsed(exchange)
        if met is None or not met.again.same(served_result(exchange.response)):
            self.run.outputs[OTHER] += 1
            self.run.findings += [finding.at(*turn) for finding in self._undelivered(turn, met)]
            return
        parser, tokens = met.parser, met.tokens
        one, whole = parser.streamed(tokens, one_by_one(len(ids))), parser.whole(tokens)
        blame = fitness(one, whole)
        if blame == MODEL:
            self.run.outputs[MALFORMED] += 1
        elif not one.same_but_for_space(whole):
            self.run.outputs[FAULTY] += 1
            self.faults.append((turn, one, whole))
        if blame == FIT:
            self._remember(one, exchange)
            if self._cut(turn, parser, tokens, whole):
                self.shown[turn] = VariantOutput(tokens.text, exchange.request)

    def _parsed(self, exchange: Exchange) -> "_Parsed | None":
        """An exchange's output through its server's parser, cut as it was sent."""
        from checks.vllm.parsers import ParserUnderTest

        response, served = exchange.response, self.served
        try:
            parser = ParserUnderTest(
                served.tool, served.reasoning, self.tokenizer, request=exchange.request
            )
            tokens = parser.detokenise(
                response.token_ids or (),
                response.prompt_token_ids or (),
                stopped=ended_by_token(response),
            )
        except Exception:  # another tokenizer's ids, a request this vLLM refuses: not this server's
            return None
        return _Parsed(response, parser, tokens, parser.streamed(tokens, served_cut(response)))

    def _undelivered(self, turn: TurnId, met: "_Parsed | None") -> list[Finding]:
        """What the client did not get of an output that parted from the baseline's.

        Only where the baseline's answer to the same request is what this parser gives: else it is
        not the server's. Where the tokens are equal, the baseline's message is the reference.
        """
        theirs = self.baseline.get(turn)
        if met is None or theirs is None or not theirs.response.token_ids:
            return []
        if theirs.response.token_ids == met.response.token_ids:
            return []
        known = self._parsed(theirs)
        if known is None or not known.again.same(served_result(theirs.response)):
            return []
        return list(check_delivered(met.again, served_result(met.response)))

    def _cut(
        self, turn: TurnId, parser: "ParserUnderTest", tokens: "TokenText", whole: ParseResult
    ) -> bool:
        """Cut it every way; whether that changes the result by more than white space."""
        places = len(near_markup(tokens.pieces))
        self.spent += split_work(len(tokens.ids), places, CUTS, self.largest)
        judged = judge_splits(
            tokens.pieces,
            lambda cut: parser.streamed(tokens, cut),
            whole,
            largest=self.largest,
            count=CUTS,
            seed=self.seed,
            short=0,
            tries=TRIES,
        )
        self.run.outputs[CUT] += 1
        self.run.cuts += sum(judged.tried.values())
        variant = not judged.invariant and not judged.minor
        self.variant += variant
        self.minor += judged.minor
        if variant or self.minor <= MOST_VARIANT:
            self.run.findings += [finding.at(*turn) for finding in judged.findings()]
        return variant

    def _parser_fault(self) -> Finding:
        """One warning for all outputs that differ without any cut: no drafter is needed for it."""
        turn, one, whole = self.faults[0]
        text = (
            "the parser's own fault, with or without speculation: streamed one token at a time and "
            f"not streamed, {len(self.faults)} of the outputs parse differently; here: "
            f"{one.difference(whole)}"
        )
        return Finding(
            f.SPLIT_VARIANT,
            text,
            severity=WARNING,
            baseline=str(whole.as_json()),
            candidate=str(one.as_json()),
            baseline_too=True,
        ).at(*turn)

    def _remember(self, result: ParseResult, exchange: Exchange) -> None:
        """Keep the first calls and their tools for the control."""
        if len(self.calls) >= MOST_CALLS:
            return
        for name, text in result.calls:
            arguments = json.loads(text)
            if isinstance(arguments, dict) and arguments:
                self.calls.append(CallToWrite(name, arguments))
        tools = exchange.request.get("tools") or []
        self.tools += [tool for tool in tools if tool not in self.tools]


def _marked(exchange: Exchange) -> bool:
    return bool(exchange.response.tool_calls or exchange.response.reasoning)
