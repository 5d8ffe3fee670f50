"""Steps of a server that reports its drafts: of every step ids and place are known.

A launched server with draft ids (`run.draft_ids`) says of each step that drafted where in the
output it begins, and which tokens it drafted. Between two of them stand steps without drafts, of
one token each. What was accepted must be what was committed; of greedy tokens, what was rejected
must not be. A step that had nothing but placeholders (-1) drafted nothing: it is a padded prefill,
of the request's begin or of its return after it was preempted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checks.acceptance.steps import (
    StepFacts,
    Steps,
    Unaligned,
    build_steps,
    confirm,
    plain_steps,
)

PLACEHOLDER = -1
"""In place of a draft that a grammar ruled out, and of all drafts of a padded prefill."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """One step that stands in vLLM's arrays: its place in the output, its drafts as it reports
    them, and how many of them vLLM counts as drafted and as accepted."""

    first: int
    ids: tuple[int, ...]
    drafted: int
    accepted: int

    @property
    def padded(self) -> bool:
        return bool(self.drafted) and not self.accepted and {*self.ids} == {PLACEHOLDER}

    @property
    def draft(self) -> tuple[int, ...]:
        return () if self.padded else self.ids[: self.drafted]

    def committed(self, completion: int) -> int:
        """Tokens of the step that the output holds; it may end inside the step."""
        return min(self.accepted + 1, completion - self.first)

    def problem(self, output: Sequence[int], sampled: bool) -> Unaligned | None:
        """In what the step contradicts itself or the output."""
        if self.padded:
            return None
        draft, ruled_out = self.draft, self.ids[self.drafted :]
        if draft[:1] in ((), (PLACEHOLDER,)) and self.drafted:
            message = f"at output token {self.first}: {self.drafted} drafted, and not shown which"
            return Unaligned("draft_ids_unknown", message)
        if len(draft) != self.drafted or PLACEHOLDER in draft or {*ruled_out} - {PLACEHOLDER}:
            return _differ(self.first, f"{self.drafted} drafted, ids {list(self.ids)}")
        here = tuple(output[self.first : self.first + self.accepted])
        if here != draft[: len(here)]:
            return _differ(self.first, f"{self.accepted} of the draft accepted, others committed")
        end = self.first + self.accepted
        rejected = self.accepted < len(draft) and end < len(output)
        if rejected and not sampled and draft[self.accepted] == output[end]:
            return _differ(end, "the draft was rejected, and committed")
        return None


def place(
    facts: StepFacts,
    ids: Sequence[Sequence[int]],
    first: Sequence[int],
    output: Sequence[int],
    *,
    sampled: bool = False,
) -> Steps | Unaligned:
    """The steps with their draft ids, or why what the server reports does not match its output.

    `ids` [steps] are the drafts of every step that vLLM's arrays list, -1 for those a grammar ruled
    out; `first` [steps] the place of its first token in `output`. Of `sampled` tokens a rejected
    draft may be drawn again in its own place, which no sound sampler does.
    """
    if len(output) != facts.completion:
        message = f"{len(output)} output ids, completion_tokens is {facts.completion}"
        return Unaligned("ids_missing", message)
    if not output:
        return Unaligned("no_tokens", "the response has no output tokens")
    if not len(ids) == len(first) == len(facts.accepted):
        message = f"{len(facts.accepted)} steps, drafts of {len(ids)}, places of {len(first)}"
        return Unaligned("arrays_differ", message)
    if not facts.accepted:
        return confirm(plain_steps(facts.completion), facts)
    arrays = zip(first, ids, facts.drafted, facts.accepted, strict=True)
    entries = [_Entry(at, tuple(drafts), d, a) for at, drafts, d, a in arrays]
    problem = _misplaced(entries, facts.completion)
    for entry in entries:
        problem = problem or entry.problem(output, sampled)
    return problem or confirm(_laid_out(entries, facts.completion), facts)


def _misplaced(entries: Sequence[_Entry], completion: int) -> Unaligned | None:
    """The first step that does not stand behind the one before it, or not in the output. The
    prefill commits token 0, and only a padded one is listed."""
    free = 0 if entries[0].padded else 1
    for entry in entries:
        if not free <= entry.first < completion:
            return _differ(entry.first, f"a step begins there, {free} of {completion} are taken")
        free = entry.first + entry.accepted + 1
    return None


def _with_gaps(entries: Sequence[_Entry], completion: int) -> Iterator[tuple[_Entry, bool]]:
    """All steps from the prefill on, and which of them drafted."""
    at = 0
    for entry in entries:
        yield from ((_Entry(plain, (), 0, 0), False) for plain in range(at, entry.first))
        yield entry, not entry.padded
        at = entry.first + entry.committed(completion)
    yield from ((_Entry(plain, (), 0, 0), False) for plain in range(at, completion))


def _laid_out(entries: Sequence[_Entry], completion: int) -> Steps:
    rows = list(_with_gaps(entries, completion))
    return build_steps(
        [len(entry.draft) for entry, _ in rows],
        [entry.accepted for entry, _ in rows],
        [entry.committed(completion) for entry, _ in rows],
        [drafted for _, drafted in rows],
        tuple(entry.draft for entry, _ in rows),
    )


def _differ(at: int, what: str) -> Unaligned:
    return Unaligned("drafts_differ", f"at output token {at}: {what}")
