"""Engine steps of one response, reconciled to the token, or the reason why they are not.

vLLM reports two arrays per request, `per_step_accepted` and `per_step_drafted`, one entry for each
engine step that drafted. Together with the prefill and the steps that drafted nothing they account
for every output token:

    completion_tokens = 1 (prefill) + Σ (accepted_s + 1) + steps without drafts - trimmed

`trimmed` counts accepted tokens past EOS, a stop or max_tokens; only the last step can have any,
and it commits at least one token. Where the prompt but for its last token came from the cache,
vLLM may pad the prefill with k placeholder drafts (v1/core/sched/scheduler.py, `pad_spec_decode`):
the first entry is then ``drafted k, accepted 0`` and is itself the prefill, not a draft.

Each reading of these facts that adds up is a hypothesis. Exactly one must remain; the token counts
of the stream (each SSE chunk is one or more whole steps) may then only confirm it. With several
left, the turn is unaligned: nothing is guessed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from checks.acceptance.drafting import Drafting
from traces.limits import STEP_DRAFTED, STEPS_SLACK
from traces.wire.response import Response

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Steps:
    """Engine steps in order, from the prefill (step 0). All arrays have one entry per step.

    `first` is the index of the first token a step committed, `committed` how many; `drafted` and
    `accepted` are 0 for the prefill and for steps without drafts. `reported` marks the steps that
    stand in vLLM's arrays and were drafted by the drafter. `draft_ids[s]` are the drafted token
    ids, where the server reports them or they could be recomputed.
    """

    first: Ints
    committed: Ints
    drafted: Ints
    accepted: Ints
    reported: npt.NDArray[np.bool_]
    draft_ids: tuple[tuple[int, ...], ...] | None = None

    def __len__(self) -> int:
        return len(self.first)

    @property
    def of_token(self) -> Ints:
        """The step that committed each token; shape (completion_tokens,)."""
        return np.repeat(np.arange(len(self), dtype=np.int32), self.committed)

    @property
    def draft_of_token(self) -> tuple[int, ...] | None:
        """The id that was drafted for each token, -1 where none was; `None` where none is known.

        The token after an accepted draft was drawn in place of the next one, if there was one.
        """
        if self.draft_ids is None:
            return None
        found = [-1] * int(self.committed.sum())
        for first, committed, drafted in zip(
            self.first, self.committed, self.draft_ids, strict=True
        ):
            for place, token in enumerate(drafted[:committed]):
                found[first + place] = token
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Unaligned:
    """Steps that do not reconcile with the tokens: why, as one word and in a sentence."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class StepFacts:
    """What the wire says of one response's steps."""

    accepted: tuple[int, ...]
    drafted: tuple[int, ...]
    completion: int
    chunks: tuple[int, ...] | None
    prompt: int | None = None
    cached: int | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read the facts: is the first entry the prefill; tokens trimmed, steps skipped."""

    phantom: bool
    trimmed: int
    skipped: int


def step_facts(response: Response) -> StepFacts | Unaligned:
    """The facts of a response, or what it lacks."""
    speculation, usage = response.speculation, response.usage
    if speculation is None:
        return Unaligned("no_metrics", "the server sent no per-request speculation metrics")
    accepted, drafted = speculation.accepted, speculation.drafted
    if accepted is None or drafted is None:
        if speculation.raw.get("num_spec_steps"):
            message = "per-step arrays are missing: the server reports at level `summary` only"
            return Unaligned("summary_only", message)
        accepted, drafted = (), ()
    if len(accepted) != len(drafted):
        message = f"{len(accepted)} steps accepted, {len(drafted)} steps drafted"
        return Unaligned("arrays_differ", message)
    if any(a > d or a < 0 for a, d in zip(accepted, drafted, strict=True)):
        return Unaligned("accepted_above_drafted", "a step accepted more than it drafted")
    if usage is None or usage.completion is None:
        return Unaligned("no_usage", "the server sent no completion_tokens")
    past = _past_limits(accepted, drafted, usage.completion)
    if past is not None:
        return past
    counts = tuple(c.token_ids for c in response.chunks if c.token_ids is not None)
    return StepFacts(
        accepted, drafted, usage.completion, counts or None, usage.prompt, usage.cached
    )


def _past_limits(
    accepted: Sequence[int], drafted: Sequence[int], completion: int
) -> Unaligned | None:
    """Why steps that can be no part of an answer of `completion` tokens are not laid out: a broken
    server's numbers would take any amount of time and memory.
    """
    if max(drafted, default=0) > STEP_DRAFTED:
        message = f"a step drafted {max(drafted):,} tokens, more than {STEP_DRAFTED}"
        return Unaligned("counts", message)
    most = completion + STEPS_SLACK
    if len(accepted) > most or sum(accepted) > most:
        message = f"{len(accepted):,} steps accepted {sum(accepted):,} of {completion:,} tokens"
        return Unaligned("counts", message)
    return None


def reconcile(facts: StepFacts, drafting: Drafting) -> Steps | Unaligned:
    """The steps, where the counts leave exactly one reading and the stream confirms it.

    Methods that may skip a step need their drafts recomputed (`checks.acceptance.drafts`),
    unless no step can have been skipped.
    """
    if facts.completion < 1:
        return Unaligned("no_tokens", "the response has no output tokens")
    found = list(readings(facts, drafting))
    if not found:
        total = 1 + sum(facts.accepted) + len(facts.accepted)
        message = (
            f"1 + Σ(accepted + 1) = {total} does not account for {facts.completion} tokens"
            + (" without skipped steps" if drafting.every_step else "")
        )
        return Unaligned("counts", message)
    if not facts.accepted:
        short = _missing_ids(facts)
        return short or confirm(plain_steps(facts.completion), facts)
    if len(found) > 1 or found[0].skipped:
        message = f"{len(found)} readings of the counts remain, or steps without drafts to place"
        return Unaligned("ambiguous", message)
    return confirm(_lay_out(facts, found[0]), facts)


def readings(facts: StepFacts, drafting: Drafting) -> Iterator[Reading]:
    """Every reading of the counts that adds up."""
    last = facts.accepted[-1] if facts.accepted else 0
    phantoms = (False, True) if phantom_possible(facts, drafting) else (False,)
    for phantom in phantoms:
        base = sum(facts.accepted) + len(facts.accepted) + (0 if phantom else 1)
        for trimmed in range(last + 1):
            skipped = facts.completion - base + trimmed
            if skipped == 0 or (skipped > 0 and not (drafting.every_step and facts.accepted)):
                yield Reading(phantom, trimmed, skipped)


def phantom_possible(facts: StepFacts, drafting: Drafting) -> bool:
    """Whether the first entry may be a prefill padded to k placeholder drafts.

    That needs k drafted, none accepted, and a prompt cached but for one token (unknown counts as
    possible).
    """
    if not facts.accepted or facts.accepted[0] or facts.drafted[0] < (drafting.k or 1):
        return False
    return facts.cached is None or facts.prompt is None or facts.cached >= facts.prompt - 1


def confirm(steps: Steps, facts: StepFacts) -> Steps | Unaligned:
    """`steps`, unless the stream contradicts them: a chunk may end only where a step ends."""
    missing = _missing_ids(facts)
    if missing is not None:
        return missing
    edges = set(np.cumsum(steps.committed).tolist())
    for end in accumulate(facts.chunks or ()):
        if end and end not in edges:
            message = f"a chunk ends after token {end}, inside an engine step"
            return Unaligned("chunk_inside_step", message)
    return steps


def _missing_ids(facts: StepFacts) -> Unaligned | None:
    """Where the stream does not show as many tokens as the usage counts."""
    if facts.chunks is None:
        return Unaligned("no_chunk_counts", "the stream does not say how many tokens a chunk has")
    sent = sum(facts.chunks)
    if sent != facts.completion:
        message = f"chunks carry {sent} token ids, completion_tokens is {facts.completion}"
        return Unaligned("ids_missing", message)
    return None


def plain_steps(tokens: int) -> Steps:
    """Steps of a response without drafts: one token each."""
    ones, zeros = np.ones(tokens, np.int32), np.zeros(tokens, np.int32)
    return Steps(np.arange(tokens, dtype=np.int32), ones, zeros, zeros, np.zeros(tokens, bool))


def build_steps(
    drafted: Sequence[int],
    accepted: Sequence[int],
    committed: Sequence[int],
    reported: Sequence[bool],
    draft_ids: tuple[tuple[int, ...], ...] | None = None,
) -> Steps:
    """Steps from one entry per step, prefill first."""
    count = np.asarray(committed, np.int32)
    first = np.cumsum(count, dtype=np.int32) - count
    return Steps(
        first,
        count,
        np.asarray(drafted, np.int32),
        np.asarray(accepted, np.int32),
        np.asarray(reported, bool),
        draft_ids,
    )


def _lay_out(facts: StepFacts, reading: Reading) -> Steps:
    start = 1 if reading.phantom else 0
    accepted, drafted = facts.accepted[start:], facts.drafted[start:]
    committed = [a + 1 for a in accepted]
    if committed:
        committed[-1] -= reading.trimmed
    reported = [True] * len(accepted)
    return build_steps((0, *drafted), (0, *accepted), (1, *committed), (False, *reported))
