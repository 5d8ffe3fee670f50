"""Case files (`*.case.json`, format 1): the smallest reproduction of one behavior.

    {"case": 1, "kind": "tool_call_lost", "description": "…", "sources": ["owner/repo#1"],
     "scenarios": [{"name": "bad", "request": {…}, "baseline": {…}, "candidate": {…},
                    "acceptance": {…}, "context": {…}, "expected": {"verdict": "fail", …}}]}

Any part may be absent. An unknown field is an error that names its place and the nearest known
name: a misspelled part would otherwise silently not be judged.
"""

import math
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from traces.cases.problems import problem_of
from traces.errors import InputError
from traces.wire.route import Route

CASE_FORMAT = 1


class Part(BaseModel):
    """A part of a case file: frozen, unknown fields refused. A field that is null is absent."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, part: Any) -> Any:
        if not isinstance(part, dict):
            return part
        return {k: v for k, v in part.items() if v is not None or k not in cls.model_fields}


TokenId = Annotated[int, Field(ge=0, lt=2**31)]
Count = Annotated[int, Field(ge=0, lt=2**31)]

Whole = Annotated[int, Field(gt=-(2**53), lt=2**53)]
"""A count that may be wrong, even negative, and that arithmetic of floats holds exactly."""


def _is_log(value: float) -> float:
    """Raises ValueError for a finite number that is the logarithm of no probability; one a little
    above 0 is rounding.
    """
    if math.isfinite(value) and value > 1:
        raise ValueError(f"{value} is the logarithm of no probability")
    return value


Logprob = Annotated[float, AfterValidator(_is_log)]


class CaseTopLogprob(Part):
    """One listed alternative; `logprob` in nat."""

    id: TokenId | None = None
    text: str | None = None
    logprob: Logprob | None = None


class CaseToken(Part):
    """One output token."""

    id: TokenId | None = None
    text: str | None = None
    logprob: Logprob | None = None
    top_logprobs: list[CaseTopLogprob] = Field(default_factory=list)


class CaseBaseline(Part):
    """What the path without speculation gave. `message` is an assistant message as served."""

    message: dict[str, Any] | None = None
    finish_reason: str | None = None
    tokens: list[CaseToken] | None = None
    http_status: Count | None = None
    cached_tokens: Count | None = None
    gap_p99_ms: float | None = None


class CaseNeighbour(Part):
    """The output of a request that was in flight beside the candidate's."""

    id: str
    text: str


class CaseCandidate(Part):
    """What the path with speculation gave.

    `chunks` are the stream's JSON objects in order, `chunk_times_ms` one arrival per chunk in ms
    since the request was sent (or none at all), `step_tokens` the tokens committed per engine step.
    """

    chunks: list[dict[str, Any]] | None = None
    done: bool | None = None
    raw_text: str | None = None
    tokens: list[CaseToken] | None = None
    step_tokens: list[Count] | None = None
    chunk_times_ms: list[float] | None = None
    http_status: Count | None = None
    error_body: Any = None
    neighbours: list[CaseNeighbour] = Field(default_factory=list)
    sse_comments: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _one_time_per_chunk(self) -> "CaseCandidate":
        times, chunks = self.chunk_times_ms, self.chunks
        if times and len(times) != len(chunks or []):
            raise ValueError(
                f"chunk_times_ms has {len(times)} entries for {len(chunks or [])} chunks"
            )
        return self


class CaseProfileRow(Part):
    """One row of an acceptance profile; `visit` indexes the order in which bands ran."""

    boundary: str
    context_bucket: str
    num_drafts: Whole
    num_draft_tokens: Whole
    accepted_per_pos: list[Whole]
    num_accepted_tokens: Whole
    visit: Whole | None = None


class CaseStep(Part):
    """One engine step: draft tokens, how many were accepted, how many tokens were committed."""

    drafted: Whole | None = None
    accepted: Whole | None = None
    committed: Whole | None = None
    terminal: bool = False


class CaseAcceptance(Part):
    """Acceptance of a run, its reference, and the drafter's configuration."""

    profile: list[CaseProfileRow] = Field(default_factory=list)
    reference: list[CaseProfileRow] = Field(default_factory=list)
    steps: list[CaseStep] = Field(default_factory=list)
    order: list[str] = Field(default_factory=list)
    completion_tokens: Count | None = None
    draft_config: dict[str, Any] | None = None
    effective_config: dict[str, Any] | None = None


class CaseContext(Part):
    """What else a check needs. `cuts` are token offsets: one partition, or a list of them."""

    stop_match: str | None = None
    block_size: Count | None = None
    tool_parser: str | None = None
    reasoning_parser: str | None = None
    tokenizer: str | None = None
    cuts: list[Count] | list[list[Count]] | None = None

    @property
    def partitions(self) -> tuple[tuple[int, ...], ...]:
        """`cuts` as partitions, each a sorted tuple of token offsets at which the text is cut."""
        if self.cuts is None:
            return ()
        cuts: list[Any] = list(self.cuts)
        if not cuts or isinstance(cuts[0], int):
            cuts = [cuts]
        return tuple(tuple(sorted(set(partition))) for partition in cuts)


class CaseExpected(Part):
    """What a judgement must say: the verdict and exactly the codes at severity error; without
    `codes`, the verdict alone.
    """

    verdict: Literal["pass", "fail"]
    codes: list[str] | None = None
    note: str = ""


class CaseScenario(Part):
    """One exchange, or one profile, to judge.

    `request` is a chat request, whatever the `route`: that says whose events the candidate's
    `chunks` are.
    """

    name: str
    route: Route = "chat"
    request: dict[str, Any] | None = None
    baseline: CaseBaseline | None = None
    candidate: CaseCandidate | None = None
    acceptance: CaseAcceptance | None = None
    context: CaseContext = CaseContext()
    expected: CaseExpected | None = None


class Case(Part):
    """A whole case file."""

    case: Literal[1]
    kind: str
    description: str = ""
    sources: list[str] = Field(default_factory=list)
    scenarios: list[CaseScenario] = Field(min_length=1)


def parse_case(data: str | bytes, where: str) -> Case:
    """The case in `data`; `where` names it in errors. Raises `InputError`."""
    try:
        return Case.model_validate_json(data)
    except ValidationError as error:
        what, fix = problem_of(Case, data, error)
        raise InputError(f"{where}: {what}", fix) from error


def read_case(file: Path) -> Case:
    """The case in `file`. Raises `InputError` naming the file, the scenario and the field."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}", "name a readable case file") from error
    return parse_case(data, str(file))
