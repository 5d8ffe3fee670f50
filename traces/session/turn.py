"""One response of a model in a recorded session, and where its prompt came from.

{"record":"turn","turn_id":"t0007","index":7,"base":"t0006","keep":15,"added":["4be1…"],
 "fidelity":"rebuilt","output":"9d3c…","reasoning":"none","replayable":true}
"""

from typing import Any, Literal

from traces.session.record import Record

Fidelity = Literal["exact", "rebuilt", "after_compaction", "lossy"]
"""How true the prefix is: ``exact`` the source logged it; ``rebuilt`` from the conversation, so
parts the harness added at run time may be missing; ``after_compaction`` rebuilt on top of a
summary; ``lossy`` known to miss text."""

Restart = Literal["start", "compaction", "rewind", "rewritten", "copied"]
"""Why a prefix does not continue the turn before it in its thread: ``start`` of a thread;
``compaction`` of the history into a summary; ``rewind`` to an earlier message; ``rewritten`` by
the harness (elided results, dropped reasoning); ``copied`` from another session."""

ReasoningState = Literal["visible", "summary", "encrypted", "empty_signed", "none"]
DiffFormat = Literal["unified", "apply_patch", "search_replace"]


class Sampling(Record, frozen=True, kw_only=True):
    """Sampling parameters as recorded, and the scores asked for; None = not recorded.

    Only a request for `logprobs` may name how many alternatives, `top_logprobs`; 0 is one of them.
    """

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] | None = None
    seed: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    repetition_penalty: float | None = None
    effort: str | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None


class Usage(Record, frozen=True, kw_only=True):
    """Token counts as the recording server gave them, in its own tokenizer; None = not recorded.

    `completion` includes hidden `reasoning`, so it can exceed the visible text.
    """

    prompt: int | None = None
    cached: int | None = None
    completion: int | None = None
    reasoning: int | None = None


class Times(Record, frozen=True, kw_only=True):
    """ISO 8601 moments of a response, as recorded."""

    request: str | None = None
    first_token: str | None = None
    end: str | None = None


class Diff(Record, frozen=True, kw_only=True):
    """A patch in the named `arguments` of call number `call` of the output."""

    call: int
    format: DiffFormat
    arguments: tuple[str, ...]


class Shell(Record, frozen=True, kw_only=True):
    """A shell command in `argument` of call number `call`; exit code and duration if recorded."""

    call: int
    argument: str
    exit_code: int | None = None
    duration_ms: float | None = None


class Turn(Record, frozen=True, kw_only=True, tag_field="record", tag="turn"):
    """`prefix` = the first `keep` messages of (prefix + output of turn `base`), then `added`.

    A turn that simply continues keeps them all. `restart` says why one does not. `thread` is
    ``main`` or ``sidechain:<id>``. `toolset` names the tools offered (a key of the session's
    toolsets). `response_format` and `tool_choice` are as in the chat-completions API. `rows`
    are the source rows of the response; a prompt-only turn has no `output`.
    """

    turn_id: str
    index: int
    thread: str = "main"
    base: str | None = None
    keep: int = 0
    added: tuple[str, ...] = ()
    restart: Restart | None = None
    fidelity: Fidelity
    output: str | None = None
    reasoning: ReasoningState = "none"
    finish_reason: str | None = None
    replayable: bool = True
    skip_reason: str | None = None
    model: str | None = None
    toolset: str | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    response_format: dict[str, Any] | None = None
    sampling: Sampling | None = None
    usage: Usage | None = None
    times: Times | None = None
    tool_wait_ms: float | None = None
    diffs: tuple[Diff, ...] = ()
    shells: tuple[Shell, ...] = ()
    response_id: str | None = None
    rows: tuple[int, ...] = ()
