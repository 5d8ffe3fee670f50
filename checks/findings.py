"""The finding codes, in report order, and what a finding is.

A code is a constant of this module; its severity may be changed by policy, never by mechanism.
`docs/findings.md` holds one entry per code: meaning, computation, example, upstream reports, cure.
"""

from dataclasses import dataclass, field, replace
from typing import Any

ERROR, WARNING, INFO = "error", "warning", "info"

SETUP, TRANSPORT, CONTENT = "Set-up", "Transport", "Content"
TOOL_CALLS, TOKENS = "Tool calls", "Tokens"
ACCEPTANCE, BEHAVIOR = "Acceptance", "Behavior"


@dataclass(frozen=True, slots=True)
class Code:
    """A code: its family, its default severity, and its meaning in one line."""

    name: str
    family: str
    severity: str
    meaning: str


CODES: dict[str, Code] = {}
"""All codes by name, in report order."""


def _code(name: str, family: str, meaning: str, severity: str = ERROR) -> str:
    CODES[name] = Code(name, family, severity, meaning)
    return name


PATHS_DIFFER = _code("PATHS_DIFFER", SETUP, "the servers visibly differ in more than speculation")
CONTROL_NOT_CAUGHT = _code("CONTROL_NOT_CAUGHT", SETUP, "a planted fault passed")
NO_DRAFTS = _code("NO_DRAFTS", SETUP, "no draft in the whole run, or none accepted of 100 or more")
DRAFTER_CONFIG_LOST = _code(
    "DRAFTER_CONFIG_LOST", SETUP, "the effective drafter config lacks a flag its checkpoint sets"
)
UNALIGNED = _code("UNALIGNED", SETUP, "engine steps do not reconcile with the tokens", INFO)

HTTP_STATUS_MISMATCH = _code(
    "HTTP_STATUS_MISMATCH", TRANSPORT, "one path refuses what the other serves"
)
STREAM_ERROR_CHUNK = _code("STREAM_ERROR_CHUNK", TRANSPORT, "an error object inside a 200 stream")
STREAM_NO_FINISH = _code("STREAM_NO_FINISH", TRANSPORT, "the stream ends without a finish_reason")
STREAM_NO_DONE = _code("STREAM_NO_DONE", TRANSPORT, "the stream ends without its [DONE] event")
STREAM_PROTOCOL = _code(
    "STREAM_PROTOCOL", TRANSPORT, "events break the order of their route, or contradict each other"
)
CHUNK_STALL = _code("CHUNK_STALL", TRANSPORT, "a gap inside the stream far beyond the baseline's")
SERVER_RESTARTED = _code(
    "SERVER_RESTARTED", TRANSPORT, "the server ended or lost its connections with turns in flight"
)
USAGE_MISSING = _code("USAGE_MISSING", TRANSPORT, "usage was asked for and not sent")
USAGE_UNDERCOUNT = _code("USAGE_UNDERCOUNT", TRANSPORT, "more token ids than completion_tokens")
TOKEN_IDS_GAP = _code("TOKEN_IDS_GAP", TRANSPORT, "fewer token ids than completion_tokens")
LOGPROBS_COUNT = _code(
    "LOGPROBS_COUNT", TRANSPORT, "a chunk with another number of logprob entries than token ids"
)
NON_FINITE_LOGPROBS = _code("NON_FINITE_LOGPROBS", TRANSPORT, "scores are NaN or infinite")
LOGPROBS_CONSTANT = _code(
    "LOGPROBS_CONSTANT", TRANSPORT, "all logprobs identical where the baseline's vary"
)
LOGPROBS_SHIFTED = _code(
    "LOGPROBS_SHIFTED",
    TRANSPORT,
    "equal tokens, other logprobs than the baseline's beyond its noise",
)
UTF8_REPLACEMENT = _code("UTF8_REPLACEMENT", TRANSPORT, "U+FFFD that the baseline lacks")

CONTENT_DIFF = _code("CONTENT_DIFF", CONTENT, "content lost, added or moved")
REASONING_DIFF = _code("REASONING_DIFF", CONTENT, "reasoning lost, added or moved")
MARKER_LEAK_CONTENT = _code("MARKER_LEAK_CONTENT", CONTENT, "parser markup shown in the content")
MARKER_LEAK_REASONING = _code(
    "MARKER_LEAK_REASONING", CONTENT, "parser markup shown in the reasoning"
)
MARKER_LEAK_ARGS = _code("MARKER_LEAK_ARGS", CONTENT, "parser markup inside call arguments")
FINISH_REASON_WRONG = _code(
    "FINISH_REASON_WRONG", CONTENT, "finish_reason contradicts the output or the reference"
)
MAX_TOKENS_ACCOUNTING = _code(
    "MAX_TOKENS_ACCOUNTING", CONTENT, "token counts and finish_reason contradict max_tokens"
)
TOKENS_AFTER_STOP = _code("TOKENS_AFTER_STOP", CONTENT, "output after a stop string or EOS")

TOOL_HEADER_MISSING = _code(
    "TOOL_HEADER_MISSING", TOOL_CALLS, "the first delta of a call lacks its id or name"
)
TOOL_HEADER_CHANGED = _code(
    "TOOL_HEADER_CHANGED", TOOL_CALLS, "one call, by index or id, is given a second name"
)
TOOL_INDEX_REUSED = _code("TOOL_INDEX_REUSED", TOOL_CALLS, "one index carries two calls")
EMPTY_TOOL_CALL = _code(
    "EMPTY_TOOL_CALL", TOOL_CALLS, "finish_reason says tool_calls, and no call is usable"
)
TOOL_CALL_LOST = _code("TOOL_CALL_LOST", TOOL_CALLS, "fewer calls than the reference")
TOOL_CALL_EXTRA = _code("TOOL_CALL_EXTRA", TOOL_CALLS, "more calls than the reference")
TOOL_UNKNOWN = _code("TOOL_UNKNOWN", TOOL_CALLS, "a call names no tool of the request")
ARGS_NOT_JSON = _code("ARGS_NOT_JSON", TOOL_CALLS, "call arguments do not parse as JSON")
ARGS_SCHEMA = _code(
    "ARGS_SCHEMA", TOOL_CALLS, "arguments violate the tool's schema; the reference's satisfy it"
)
ARGS_DIFFER = _code("ARGS_DIFFER", TOOL_CALLS, "another argument value or type than the reference")
ARGS_DUPLICATED = _code(
    "ARGS_DUPLICATED", TOOL_CALLS, "the argument text is repeated, or has a brace too many"
)
STRUCTURED_OUTPUT_INVALID = _code(
    "STRUCTURED_OUTPUT_INVALID", TOOL_CALLS, "content violates the output format asked for"
)
SPLIT_VARIANT = _code(
    "SPLIT_VARIANT", TOOL_CALLS, "another parse result under another cut of the same tokens"
)

GREEDY_DIVERGENCE = _code("GREEDY_DIVERGENCE", TOKENS, "regret above the hard bound")
NEAR_TIE_FORK = _code("NEAR_TIE_FORK", TOKENS, "a first fork inside the numeric noise", INFO)
REGRET_RATE = _code("REGRET_RATE", TOKENS, "small regrets too frequent against A/A")
SAMPLER_NOT_ARGMAX = _code(
    "SAMPLER_NOT_ARGMAX", TOKENS, "a greedy token is not the argmax of its own logprobs"
)
DUPLICATED_TOKEN = _code("DUPLICATED_TOKEN", TOKENS, "a token at a step edge is committed twice")
DROPPED_TOKEN = _code("DROPPED_TOKEN", TOKENS, "a committed token is never sent")
DEGENERATE_REPETITION = _code(
    "DEGENERATE_REPETITION", TOKENS, "the output falls into a short cycle the baseline lacks"
)
CROSS_REQUEST_LEAK = _code(
    "CROSS_REQUEST_LEAK", TOKENS, "a run of a neighbor's tokens in this request's output"
)
PREMATURE_EOS = _code("PREMATURE_EOS", TOKENS, "the output stops inside the reference's")
MIN_TOKENS_IGNORED = _code("MIN_TOKENS_IGNORED", TOKENS, "the output ends before min_tokens")
LOGIT_BIAS_IGNORED = _code("LOGIT_BIAS_IGNORED", TOKENS, "a banned token or bad word was emitted")
SAMPLED_SHIFT = _code(
    "SAMPLED_SHIFT", TOKENS, "sampled tokens do not follow the baseline's distribution"
)

ACCEPTANCE_DEAD = _code(
    "ACCEPTANCE_DEAD",
    ACCEPTANCE,
    "next to nothing accepted where the reference accepts, or no more than by chance",
)
ACCEPTANCE_LOSS = _code(
    "ACCEPTANCE_LOSS",
    ACCEPTANCE,
    "more acceptance lost than the margin allows",
)
ACCEPTANCE_COLLAPSE = _code(
    "ACCEPTANCE_COLLAPSE", ACCEPTANCE, "acceptance lost in one context band or boundary"
)
ACCEPTANCE_STICKY = _code(
    "ACCEPTANCE_STICKY", ACCEPTANCE, "acceptance stays lost after the condition has passed"
)
ACCEPTANCE_DEPTH_DECAY = _code(
    "ACCEPTANCE_DEPTH_DECAY", ACCEPTANCE, "deep draft positions lost, the first kept"
)
METRIC_NOT_MONOTONE = _code(
    "METRIC_NOT_MONOTONE", ACCEPTANCE, "a later draft position accepted more often than an earlier"
)
METRIC_SUM = _code("METRIC_SUM", ACCEPTANCE, "acceptance counters contradict each other")
PREFIX_CACHE_LOST = _code(
    "PREFIX_CACHE_LOST", ACCEPTANCE, "cached prompt tokens far below the baseline's"
)

ANSWERS_SHIFTED = _code(
    "ANSWERS_SHIFTED",
    BEHAVIOR,
    "answers that cannot be compared word by word call, end or run on at other rates",
)
CALLS_CHANGED = _code(
    "CALLS_CHANGED", BEHAVIOR, "other calls more often than against itself, beyond the margin"
)
TOOL_SUCCESS_INFERIOR = _code(
    "TOOL_SUCCESS_INFERIOR", BEHAVIOR, "paired tool-call success below the margin"
)

INVALIDATING = frozenset({PATHS_DIFFER, CONTROL_NOT_CAUGHT, NO_DRAFTS})
"""Codes that make a run `invalid` rather than `fail`."""

_ORDER = {name: place for place, name in enumerate(CODES)}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing seen, with where it was seen and both sides of it.

    `token` is an index into the candidate's output tokens, `boundary` what is being written there:
    a label of the boundary labeler. `cause` is the likely one, where it is known. `baseline` and
    `candidate` are short texts to print (escape them: they hold model output). `baseline_too` means
    the baseline shows the same flaw: the model or the parser is at fault, not speculation, and the
    severity is then never `error`.
    """

    code: str
    message: str
    severity: str = ""
    session: str | None = None
    turn: str | None = None
    token: int | None = None
    boundary: str | None = None
    cause: str | None = None
    baseline: str | None = None
    candidate: str | None = None
    baseline_too: bool = False
    detail: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        severity = self.severity or CODES[self.code].severity
        if self.baseline_too and severity == ERROR:
            severity = WARNING
        object.__setattr__(self, "severity", severity)

    def at(self, session: str, turn: str) -> "Finding":
        """The same finding, placed in a session's turn."""
        return replace(self, session=session, turn=turn)

    def as_json(self) -> dict[str, Any]:
        """For ``--json``: fields that say nothing are left out."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {k: v for k, v in fields.items() if v is not None and v != {} and v is not False}


@dataclass(frozen=True, slots=True)
class NotJudged:
    """A check that lacked what it needs: it neither passes nor fails."""

    code: str
    reason: str


def in_report_order(findings: list[Finding]) -> list[Finding]:
    """Findings by code (declaration order), then as they came."""
    return sorted(findings, key=lambda finding: _ORDER[finding.code])


def error_codes(findings: list[Finding]) -> list[str]:
    """The codes at severity error, sorted, each once."""
    return sorted({finding.code for finding in findings if finding.severity == ERROR})
