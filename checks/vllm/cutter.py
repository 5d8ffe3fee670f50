"""Cuts a run's outputs, each for itself; which of them, the run's budget decides beforehand.

ids ─▶ cut as they were sent           the result the client got?  else `checks.splits.delivered`
    ─▶ one by one, and not streamed    fit to be cut?              else not speculation
    ─▶ in two, at random, not at all   the same result?            else SPLIT_VARIANT
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from checks.splits.cuts import near_markup, one_by_one
from checks.splits.delivered import check_delivered
from checks.splits.fitness import FIT, MODEL, fitness
from checks.splits.judge import judge_splits
from checks.splits.markup import CallToWrite
from checks.splits.parse_result import ParseResult
from checks.splits.served import ended_by_token, served_cut, served_result
from checks.splits.work import split_work
from checks.stats.sessions import hash_place
from checks.vllm.split_run import (
    CUT,
    FAULTY,
    MALFORMED,
    MOST_TOKENS,
    NO_IDS,
    OTHER,
    TOO_LONG,
    UNFINISHED,
    CutOutput,
    VariantOutput,
)
from traces.journal.exchange import Exchange, TurnId
from traces.journal.served_parsers import ServedParsers
from traces.wire.response import Response

if TYPE_CHECKING:
    from checks.vllm.detokenizer import TokenText
    from checks.vllm.parsers import ParserUnderTest

BUDGET = 250_000
"""Units of `checks.splits.work` that the outputs of one run may take, as far as their lengths tell
beforehand."""
CUTS = 20
"""Random cuts per output."""
TRIES = 200
"""Parses spent on shrinking the cut of an output that parses otherwise."""


@dataclass(frozen=True, slots=True)
class Uncut:
    """An output that can be cut: its turn, its tokens and places near markup, as far as the wire
    shows them, whether it holds markup, and its place in an order that the seed and the turn's name
    alone decide."""

    turn: TurnId
    tokens: int
    places: int
    marked: bool
    place: str


def fate_of(exchange: Exchange) -> str | None:
    """Why an output is not cut, by itself; `None` where it can be."""
    response = exchange.response
    if response.finish_reason in (None, "length"):
        return UNFINISHED
    if not response.token_ids:
        return NO_IDS
    return TOO_LONG if len(response.token_ids) > MOST_TOKENS else None


def uncut_of(exchanges: Mapping[TurnId, Exchange], seed: int) -> Iterator[Uncut]:
    """The outputs that can be cut."""
    for turn, exchange in exchanges.items():
        response = exchange.response
        if fate_of(exchange) is None:
            marked = bool(response.tool_calls or response.reasoning)
            place = hash_place("/".join(turn), seed)
            places = len(near_markup(response.token_texts or ()))
            yield Uncut(turn, len(response.token_ids or ()), places, marked, place)


def draw(outputs: Sequence[Uncut], largest: int) -> dict[TurnId, int]:
    """The outputs that the budget allows, with their place: those with markup first, else in the
    order of their places, whatever the order they come in."""
    drawn: dict[TurnId, int] = {}
    spent = 0
    for one in sorted(outputs, key=lambda one: (not one.marked, one.place)):
        if spent >= BUDGET:
            break
        drawn[one.turn] = len(drawn)
        spent += split_work(one.tokens, 0, 0, largest)
        spent += split_work(one.tokens, one.places, CUTS, largest)
    return drawn


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A response, its server's parser, its token texts, and what the parser makes of them."""

    response: Response
    parser: "ParserUnderTest"
    tokens: "TokenText"
    again: ParseResult


class Cutter:
    """Cuts outputs of the parsers `served`; steps send up to `largest` tokens."""

    def __init__(self, served: ServedParsers, tokenizer: Any, largest: int, seed: int) -> None:
        self.served, self.tokenizer = served, tokenizer
        self.largest, self.seed = largest, seed

    def cut(self, exchange: Exchange, baseline: Exchange | None) -> CutOutput:
        """Cut one output, if it is what the client got and fit to be cut; `baseline` is the
        baseline's answer to the same request."""
        ids, met = exchange.response.token_ids or (), self._parsed(exchange)
        if met is None or not met.again.same(served_result(exchange.response)):
            return self._other(exchange.turn, met, baseline)
        parser, tokens = met.parser, met.tokens
        one, whole = parser.streamed(tokens, one_by_one(len(ids))), parser.whole(tokens)
        blame = fitness(one, whole)
        output = CutOutput(exchange.turn, parsed=True)
        if blame == MODEL:
            output = replace(output, fates=(MALFORMED,))
        elif not one.same_but_for_space(whole):
            output = replace(output, fates=(FAULTY,), fault=(one, whole))
        return self._cut(output, met, one, whole, exchange) if blame == FIT else output

    def deliver(self, exchange: Exchange, baseline: Exchange | None) -> CutOutput:
        """Parse one output as it was sent, and no other way: for those beyond the budget of cuts,
        whose text the baseline's does not decide."""
        met = self._parsed(exchange)
        if met is None or not met.again.same(served_result(exchange.response)):
            return self._other(exchange.turn, met, baseline)
        return CutOutput(exchange.turn, parsed=True)

    def _other(self, turn: TurnId, met: "_Parsed | None", baseline: Exchange | None) -> CutOutput:
        """An output that is not what the client got, with what was lost of it.

        Only where the baseline's answer to the same request is what this parser gives: else it is
        not the server's. Where the tokens are equal, the baseline's message is the reference.
        """
        output = CutOutput(turn, (OTHER,))
        if met is None or baseline is None or not baseline.response.token_ids:
            return output
        if baseline.response.token_ids == met.response.token_ids:
            return output
        known = self._parsed(baseline)
        if known is None or not known.again.same(served_result(baseline.response)):
            return output
        lost = check_delivered(met.again, served_result(met.response))
        return replace(output, parsed=True, findings=tuple(found.at(*turn) for found in lost))

    def _cut(
        self,
        output: CutOutput,
        met: "_Parsed",
        one: ParseResult,
        whole: ParseResult,
        exchange: Exchange,
    ) -> CutOutput:
        """Cut it every way: does that change the result by more than white space?"""
        judged = judge_splits(
            met.tokens.pieces,
            lambda cut: met.parser.streamed(met.tokens, cut),
            whole,
            largest=self.largest,
            count=CUTS,
            seed=self.seed,
            short=0,
            tries=TRIES,
        )
        variant = not judged.invariant and not judged.minor
        return replace(
            output,
            fates=(*output.fates, CUT),
            cuts=sum(judged.tried.values()),
            variant=variant,
            minor=judged.minor,
            findings=tuple(finding.at(*output.turn) for finding in judged.findings()),
            calls=tuple(_calls(one)),
            tools=tuple(exchange.request.get("tools") or ()),
            shown=VariantOutput(met.tokens.text, exchange.request) if variant else None,
        )

    def delivers(self, exchange: Exchange) -> bool:
        """Whether the calls the client got are those that the server's parser makes of these tokens
        in the deltas they came in."""
        met = self._parsed(exchange)
        return met is not None and met.again.calls == served_result(exchange.response).calls

    def _parsed(self, exchange: Exchange) -> "_Parsed | None":
        """An exchange's output through its server's parser, cut as it was sent."""
        from checks.vllm.parsers import ParserUnderTest

        response, served = exchange.response, self.served
        try:
            parser = ParserUnderTest(
                served.tool, served.reasoning, self.tokenizer, request=exchange.request
            )
            tokens = parser.detokenize(
                response.token_ids or (),
                response.prompt_token_ids or (),
                stopped=ended_by_token(response),
            )
        except Exception:  # another tokenizer's ids, a request this vLLM refuses: not this server's
            return None
        return _Parsed(response, parser, tokens, parser.streamed(tokens, served_cut(response)))


def _calls(result: ParseResult) -> Iterator[CallToWrite]:
    """The calls with arguments, for the control."""
    for name, text in result.calls:
        arguments = json.loads(text)
        if isinstance(arguments, dict) and arguments:
            yield CallToWrite(name, arguments)
