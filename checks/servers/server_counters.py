"""METRIC_SUM of a server: what it counted while an arm ran, against what its answers hold.

    vllm:generation_tokens_total     Σ completion_tokens
    vllm:spec_decode_num_drafts      Σ steps that drafted
    ..._num_draft_tokens             Σ drafted
    ..._num_accepted_tokens          Σ accepted

Dashboards read the counters, the gate reads the answers; where they contradict each other, one of
them lies. That is sound only where nobody else talks to the server and every answer came whole: on
servers the gate launched, in an arm that was not interrupted. An attached server may serve others
too, or hide behind a balancer: there the report only says how much else the server wrote meanwhile.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from checks.findings import METRIC_SUM, Finding
from traces.journal.server_sample import ServerSample
from traces.wire.response import Response

SLACK = 0.01
"""Share by which counter and sum may differ; besides, one step of each request in flight."""

OTHERS = 0.05
"""Further tokens on an attached server, as a share of this run's, that are worth saying."""

NAMES: Mapping[str, str] = {
    "generation_tokens": "generated tokens",
    "drafts": "drafts",
    "draft_tokens": "draft tokens",
    "accepted_tokens": "accepted draft tokens",
}


def growth(samples: Sequence[ServerSample], name: str) -> float | None:
    """How much a counter grew while samples were taken, summed over the servers and the parts of an
    interrupted arm; what was asked of them in between is in none.

    `None` where a sample lacks it, or it fell: the server was started anew in between.
    """
    taken: dict[tuple[str, float | None], list[float]] = {}
    for sample in samples:
        value = getattr(sample, name)
        if value is None:
            return None
        taken.setdefault((sample.url, sample.part), []).append(value)
    if not taken or any(sorted(values) != values for values in taken.values()):
        return None
    return sum(values[-1] - values[0] for values in taken.values())


@dataclass(frozen=True, slots=True)
class AnswerSums:
    """The same quantities from the answers, `None` where an answer does not tell; and the most
    tokens that one step drafted."""

    generation_tokens: int | None = 0
    drafts: int | None = 0
    draft_tokens: int | None = 0
    accepted_tokens: int | None = 0
    longest: int = 0

    def __add__(self, other: "AnswerSums") -> "AnswerSums":
        return AnswerSums(
            _plus(self.generation_tokens, other.generation_tokens),
            _plus(self.drafts, other.drafts),
            _plus(self.draft_tokens, other.draft_tokens),
            _plus(self.accepted_tokens, other.accepted_tokens),
            max(self.longest, other.longest),
        )


def _plus(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def sums(responses: Iterable[Response]) -> AnswerSums:
    """What these answers hold."""
    return sum((_of_answer(response) for response in responses), AnswerSums())


def _of_answer(response: Response) -> AnswerSums:
    completion = response.usage.completion if response.usage else None
    speculation = response.speculation
    if speculation is None:
        return AnswerSums(completion, None, None, None)
    drafted = speculation.drafted or ()
    return AnswerSums(
        completion,
        len(drafted),
        sum(drafted),
        sum(speculation.accepted or ()),
        max(drafted, default=0),
    )


def judge_counters(
    path: str,
    arm: str,
    samples: Sequence[ServerSample],
    answers: AnswerSums,
    concurrency: int,
) -> list[Finding]:
    """Contradictions between the counters and the answers of one arm.

    `samples` must span the arm, and `answers` be all that the server gave meanwhile.
    """
    found = []
    for name in NAMES:
        expected, counted = getattr(answers, name), growth(samples, name)
        if counted is None or expected is None:
            continue
        if abs(counted - expected) > _allowed(expected, answers, concurrency):
            text = f"the {path}'s server counted {counted:,.0f} {NAMES[name]} while arm {arm} ran, "
            text += f"its answers hold {expected:,}"
            detail = {"path": path, "counter": name, "counted": counted, "answers": expected}
            found.append(Finding(METRIC_SUM, text, detail=detail))
    return found


def other_traffic(
    path: str,
    arm: str,
    samples: Sequence[ServerSample],
    answers: AnswerSums,
    concurrency: int,
) -> str | None:
    """A sentence where an attached server visibly served others while the arm ran."""
    answered, counted = answers.generation_tokens, growth(samples, "generation_tokens")
    if not answered or counted is None:
        return None
    more = counted - answered
    if more <= max(OTHERS * answered, _allowed(answered, answers, concurrency)):
        return None
    return (
        f"the {path}'s server wrote {more:,.0f} tokens for others while arm {arm} ran "
        f"({more / answered:.0%} of this run's {answered:,}); times were taken beside that load"
    )


def preempted(samples: Sequence[ServerSample]) -> float | None:
    """How often turns were preempted while the samples were taken, before and after a resume."""
    by_url: dict[str, list[float]] = {}
    for sample in samples:
        if sample.preemptions is not None:
            by_url.setdefault(sample.url, []).append(sample.preemptions)
    steps = [after - before for values in by_url.values() for before, after in pairwise(values)]
    return sum(step for step in steps if step > 0) if steps else None


def _allowed(expected: int, answers: AnswerSums, concurrency: int) -> float:
    return SLACK * expected + concurrency * (answers.longest + 1)
