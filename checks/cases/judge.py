"""Judge case files: the same checks as for live pairs, on what a scenario holds."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from msgspec import structs

from checks import findings as f
from checks.acceptance.reference import judge_profile
from checks.cases.request import refuse_other_types
from checks.exact.judge import Judgement, judge_pair, judgement
from checks.findings import CODES, Finding, NotJudged
from checks.formats.output_format import output_format
from checks.formats.schema import schema_problem
from checks.pair import Message, Neighbour, Pair, Side, message_of_response
from checks.request import tool_schemas
from traces.cases.case import (
    Case,
    CaseBaseline,
    CaseCandidate,
    CaseExpected,
    CaseScenario,
    CaseToken,
)
from traces.errors import InputError
from traces.routes.reading import read_events
from traces.wire.chunk import read_message
from traces.wire.reassembly import response_of_chunks
from traces.wire.reassembly_calls import CallAssembler
from traces.wire.response import Response, Token, TopLogprob
from traces.wire.route import Route

SplitJudge = Callable[[CaseScenario], list[Finding | NotJudged]]
"""Runs vLLM's own parsers over a scenario's cuts (`checks.vllm.parsers`)."""

NO_VLLM = "vLLM, whose parsers are needed, is not importable"
"""Why cuts are not judged on a machine without vLLM."""


@dataclass(frozen=True, slots=True)
class ScenarioJudgement:
    """The judgement of one scenario, beside what the file expects of it."""

    name: str
    judgement: Judgement
    expected: CaseExpected | None

    @property
    def as_expected(self) -> bool | None:
        """Whether verdict and error codes are the expected ones, the codes where they are stated;
        `None` where the file expects nothing.
        """
        if self.expected is None:
            return None
        codes = self.expected.codes
        alike = codes is None or self.judgement.codes == sorted(set(codes))
        return alike and self.judgement.verdict == self.expected.verdict


def judge_case(
    case: Case, where: str, split_judge: SplitJudge | None = None
) -> list[ScenarioJudgement]:
    """Judge every scenario. Raises `InputError` (with `where`) for a schema that is invalid, and
    for a parser, a tokenizer or a cut that cannot be."""
    results = []
    for scenario in case.scenarios:
        place = f"{where}: scenario {scenario.name!r}"
        refuse_other_types(scenario.request, place)
        refuse_invalid_schemas(scenario, place)
        try:
            judged = judge_scenario(scenario, split_judge)
        except InputError as error:
            raise InputError(f"{where}: {error}", error.fix) from error
        results.append(ScenarioJudgement(scenario.name, judged, scenario.expected))
    return results


def judge_scenario(scenario: CaseScenario, split_judge: SplitJudge | None = None) -> Judgement:
    """All findings of one scenario. SPLIT_VARIANT needs `split_judge`, since it needs vLLM."""
    seen: list[Finding | NotJudged] = []
    whole = True
    pair = pair_of_scenario(scenario)
    if pair is not None:
        judged = judge_pair(pair)
        seen += [*judged.findings, *judged.not_judged]
        stopped = (f.HTTP_STATUS_MISMATCH, f.STREAM_NO_FINISH, f.STREAM_ERROR_CHUNK)
        whole = not any(finding.code in stopped for finding in judged.findings)
    if whole and scenario.acceptance is not None:
        seen += judge_profile(_acceptance(scenario, pair))
    if whole and scenario.context.partitions:
        seen += _split(scenario, split_judge)
    return judgement(seen)


def _acceptance(scenario: CaseScenario, pair: Pair | None) -> dict[str, Any]:
    """The acceptance part; steps without their own token count are compared with usage."""
    assert scenario.acceptance is not None
    part = scenario.acceptance.model_dump(exclude_none=True)
    if "completion_tokens" not in part and pair is not None:
        part["completion_tokens"] = pair.candidate.completion_tokens
    return part


def _split(scenario: CaseScenario, judge: SplitJudge | None) -> list[Finding | NotJudged]:
    context = scenario.context
    if not (context.tool_parser or context.reasoning_parser) or not context.tokenizer:
        return [NotJudged(f.SPLIT_VARIANT, "a parser and a tokenizer must be named")]
    if judge is None:
        return [NotJudged(f.SPLIT_VARIANT, NO_VLLM)]
    return judge(scenario)


def pair_of_scenario(scenario: CaseScenario) -> Pair | None:
    """The evidence of a scenario; `None` where it holds no candidate."""
    if scenario.candidate is None:
        return None
    return Pair(
        request=scenario.request,
        baseline=_baseline(scenario.baseline or CaseBaseline()),
        candidate=_candidate(scenario.candidate, scenario.route),
        neighbours=tuple(Neighbour(n.id, n.text) for n in scenario.candidate.neighbours),
        stop_match=scenario.context.stop_match,
        block_size=scenario.context.block_size,
    )


def _baseline(part: CaseBaseline) -> Side:
    served = part.message is not None or part.tokens is not None
    return Side(
        status=part.http_status if part.http_status is not None else 200 if served else None,
        message=None if part.message is None else message_of(part.message),
        finish_reason=part.finish_reason,
        tokens=_tokens(part.tokens),
        cached_tokens=part.cached_tokens,
        gap_p99_ms=part.gap_p99_ms,
    )


def _candidate(part: CaseCandidate, route: Route) -> Side:
    status = part.http_status
    if status is None and part.chunks is not None and part.error_body is None:
        status = 200
    body = part.error_body if isinstance(part.error_body, dict) or part.error_body is None else None
    error = body if body is not None else part.error_body and {"error": str(part.error_body)}
    if part.chunks is None and error is None:
        return Side(status=status, tokens=_tokens(part.tokens), raw_text=part.raw_text)
    stream = _stream(part, route, status, error)
    return Side(
        status=status,
        message=message_of_response(stream),
        finish_reason=stream.finish_reason,
        tokens=_tokens(part.tokens) if part.tokens is not None else stream.tokens,
        stream=stream,
        step_tokens=None if part.step_tokens is None else tuple(part.step_tokens),
        cached_tokens=stream.usage.cached if stream.usage else None,
        raw_text=part.raw_text,
    )


def _stream(
    part: CaseCandidate, route: Route, status: int | None, error: dict[str, Any] | None
) -> Response:
    if route in ("messages", "responses") and status == 200:
        read = read_events(route, part.chunks or [], part.chunk_times_ms or None)
        return replace(read, raw_text=part.raw_text, error=read.error or error)
    return response_of_chunks(
        part.chunks or [],
        done=part.done is not False,
        status=status,
        times_ms=part.chunk_times_ms or None,
        raw_text=part.raw_text,
        error=error,
    )


def message_of(message: dict[str, Any]) -> Message:
    """An assistant message as served: text, reasoning under either name, and whole calls."""
    read = read_message(message)
    calls = CallAssembler()
    calls.add([structs.replace(call, index=i) for i, call in enumerate(read.tool_calls or ())])
    return Message(read.text, read.thought, calls.finished())


def _tokens(tokens: list[CaseToken] | None) -> tuple[Token, ...] | None:
    if tokens is None:
        return None
    return tuple(
        Token(
            id=token.id,
            text=token.text,
            logprob=token.logprob,
            top=tuple(
                TopLogprob(top.id, top.text, top.logprob)
                for top in token.top_logprobs
                if top.logprob is not None
            ),
        )
        for token in tokens
    )


def refuse_invalid_schemas(scenario: CaseScenario, where: str) -> None:
    """Raise `InputError` for a tool's or a format's JSON Schema that is itself invalid."""
    request = scenario.request or {}
    rules = {f"tool {name!r}": rule for name, rule in tool_schemas(request).items()}
    wanted = output_format(request)
    if wanted is not None and wanted.kind == "json":
        rules["the output format"] = wanted.rule
    for name, rule in rules.items():
        problem = None if rule is None else schema_problem(rule)
        if problem is not None:
            raise InputError(
                f"{where}: the JSON Schema of {name} is invalid at {problem}",
                "correct the schema, or remove it to judge the case without it",
            )


def unknown_codes(case: Case) -> list[str]:
    """Codes a case expects that no check knows."""
    stated = {code for s in case.scenarios if s.expected for code in s.expected.codes or ()}
    return sorted(stated - set(CODES))
