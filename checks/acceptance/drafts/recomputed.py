"""Steps of an n-gram drafter: drafts are recomputed from the token ids, so every step is known.

The n-gram proposer is a pure function of the tokens so far. From the prompt and output ids follow,
step by step, whether vLLM drafted, what it drafted, and how much of it was accepted: the longest
common prefix of the draft and what was then committed. The recomputed steps must match
`per_step_drafted` and `per_step_accepted` one for one. Two departures are allowed: a draft cut
short (by max_model_len, the token budget or a grammar), and accepted tokens past the end of the
output.
Where tokens are sampled a third is read, though no sound sampler makes it: a draft that was
rejected, and drawn again in its own place. The turns that show such a fault must not be lost.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from checks.acceptance.drafting import Drafting
from checks.acceptance.steps import (
    StepFacts,
    Steps,
    Unaligned,
    build_steps,
    confirm,
    phantom_possible,
    plain_steps,
)


@dataclass(frozen=True, slots=True)
class _Row:
    """One engine step: what it drafted, how much vLLM calls accepted, how much it committed."""

    draft: tuple[int, ...]
    accepted: int
    committed: int


_PREFILL = _Row((), 0, 1)

Propose = Callable[[Sequence[int]], Sequence[int]]
"""All token ids so far (prompt, then output) → drafted ids; empty where nothing matches."""


def recompute(
    facts: StepFacts,
    drafting: Drafting,
    prompt_ids: Sequence[int],
    output_ids: Sequence[int],
    propose: Propose,
    *,
    sampled: bool = False,
) -> Steps | Unaligned:
    """The steps with their draft ids, or why the recomputed drafts do not match the arrays.

    Of `sampled` tokens a rejected draft may have been drawn again, where nothing else adds up.
    """
    if len(output_ids) != facts.completion:
        message = f"{len(output_ids)} output ids, completion_tokens is {facts.completion}"
        return Unaligned("ids_missing", message)
    if not output_ids:
        return Unaligned("no_tokens", "the response has no output tokens")
    if not facts.accepted:
        return confirm(plain_steps(facts.completion), facts)
    phantoms = (False, True) if phantom_possible(facts, drafting) else (False,)
    tried: list[Steps | Unaligned] = []
    for redrawn in (False, True) if sampled else (False,):
        read = [
            _replay(facts, prompt_ids, output_ids, propose, phantom, redrawn)
            for phantom in phantoms
        ]
        found = [steps for steps in read if isinstance(steps, Steps)]
        if len(found) > 1:
            return Unaligned("ambiguous", "the first entry may or may not be a padded prefill")
        if found:
            return confirm(found[0], facts)
        tried += read
    return tried[0]


def _replay(
    facts: StepFacts,
    prompt: Sequence[int],
    output: Sequence[int],
    propose: Propose,
    phantom: bool,
    redrawn: bool,
) -> Steps | Unaligned:
    tokens = [*prompt, output[0]]
    rows: list[_Row] = [_PREFILL]
    entry, at = (1 if phantom else 0), 1
    while at < len(output):
        draft = tuple(propose(tokens))
        if not draft:
            row = _Row((), 0, 1)
        elif entry == len(facts.accepted):
            return _mismatch(at, f"a draft of {len(draft)} ids, and no entry is left")
        else:
            said, cut = facts.accepted[entry], facts.drafted[entry]
            entry += 1
            if cut > len(draft):
                return _mismatch(at, f"a draft of {len(draft)} ids, {cut} reported")
            matched = _common(draft[:cut], output, at)
            if redrawn:
                matched = min(matched, said)
            ended = at + matched == len(output)
            if said != matched and not (ended and said > matched):
                return _mismatch(at, f"{matched} of the draft match, {said} reported accepted")
            row = _Row(draft[:cut], said, matched if ended else matched + 1)
        rows.append(row)
        tokens.extend(output[at : at + row.committed])
        at += row.committed
    if entry != len(facts.accepted):
        return _mismatch(at, f"{len(facts.accepted) - entry} entries are left over")
    return build_steps(
        [len(row.draft) for row in rows],
        [row.accepted for row in rows],
        [row.committed for row in rows],
        [bool(row.draft) for row in rows],
        tuple(row.draft for row in rows),
    )


def _common(draft: Sequence[int], output: Sequence[int], at: int) -> int:
    """Length of the common prefix of `draft` and the output from `at` on."""
    for i, token in enumerate(draft):
        if at + i == len(output) or output[at + i] != token:
            return i
    return len(draft)


def _mismatch(at: int, what: str) -> Unaligned:
    return Unaligned("drafts_differ", f"at output token {at}: recomputed {what}")
