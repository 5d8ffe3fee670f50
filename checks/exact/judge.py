"""Judge one pair: every check that needs no tolerance, in the order its findings are reported.

A status that is not 200 on one path hides everything else; a stream that is cut, or carries an
error, is judged by the Transport codes alone. A check that lacks what it needs is listed in
`not_judged`; it neither passes nor fails.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from checks.calls.arguments import check_arguments
from checks.exact.after_stop import check_after_stop
from checks.exact.alone import check_alone
from checks.exact.banned import check_banned
from checks.exact.content import check_content, check_reasoning, check_replacement
from checks.exact.counts import (
    check_logprob_counts,
    check_max_tokens,
    check_min_tokens,
    check_prompt_usage,
    check_steps,
    check_usage,
    judge_prefix_cache,
)
from checks.exact.divergence import check_divergence, check_dropped, check_duplicated
from checks.exact.endings import check_finish, check_one_finish, check_premature
from checks.exact.logprobs import check_argmax, check_constant, check_finite, check_shifted
from checks.exact.markers import check_markers
from checks.exact.neighbours import check_leak
from checks.exact.repetition import check_repetition
from checks.exact.stream import check_stall, check_status, check_stream, is_cut
from checks.exact.tools import check_call_stream, check_known, check_lost
from checks.findings import (
    CODES,
    PREFIX_CACHE_LOST,
    Finding,
    NotJudged,
    error_codes,
    in_report_order,
)
from checks.pair import Pair

Check = Callable[[Pair], Iterator[Finding | NotJudged]]

TRANSPORT: tuple[Check, ...] = (
    check_stream,
    check_stall,
    check_usage,
    check_prompt_usage,
    check_logprob_counts,
    check_finite,
    check_constant,
    check_shifted,
    check_replacement,
)
"""Checks whose codes are judged on a stream that is cut as well."""

WHOLE: tuple[Check, ...] = (
    check_steps,
    check_content,
    check_reasoning,
    check_markers,
    check_finish,
    check_one_finish,
    check_max_tokens,
    check_after_stop,
    check_call_stream,
    check_lost,
    check_known,
    check_arguments,
    check_alone,
    check_argmax,
    check_duplicated,
    check_dropped,
    check_repetition,
    check_leak,
    check_premature,
    check_min_tokens,
    check_banned,
)
"""Checks of a stream that came to its end, but for its first fork."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one judgement found, in report order, and which checks lacked what they need."""

    findings: tuple[Finding, ...]
    not_judged: tuple[NotJudged, ...]

    @property
    def codes(self) -> list[str]:
        """The codes at severity error, sorted."""
        return error_codes(list(self.findings))

    @property
    def verdict(self) -> str:
        """``fail`` where any code is at severity error, else ``pass``."""
        return "fail" if self.codes else "pass"


def judge_pair(pair: Pair, *, forks: bool = True) -> Judgement:
    """All findings of one request and its two answers.

    With `forks` the pair judges its own first fork (GREEDY_DIVERGENCE, NEAR_TIE_FORK). A run leaves
    that to `checks.greedy`, which knows the noise floor.
    """
    seen = list(check_status(pair))
    candidate, baseline = pair.candidate, pair.baseline
    refused = [
        side for side in (candidate, baseline) if side.status is not None and not side.served
    ]
    if len(refused) == 1 and candidate.status is not None and baseline.status is not None:
        return judgement(seen)
    if refused:
        return judgement([*seen, *check_finite(pair)])
    for check in TRANSPORT:
        seen += check(pair)
    if not is_cut(candidate):
        for check in WHOLE:
            seen += check(pair)
        if forks:
            seen += check_divergence(pair)
        if pair.cold:
            seen.append(NotJudged(PREFIX_CACHE_LOST, "the candidate's server restarted before it"))
        else:
            cached = (baseline.cached_tokens, candidate.cached_tokens)
            seen += judge_prefix_cache(*cached, pair.block_size)
    return judgement(seen)


def judgement(seen: list[Finding | NotJudged]) -> Judgement:
    """Findings in report order; each reason not to judge once."""
    findings = [item for item in seen if isinstance(item, Finding)]
    reasons = dict.fromkeys(item for item in seen if isinstance(item, NotJudged))
    order = {code: place for place, code in enumerate(CODES)}
    return Judgement(
        tuple(in_report_order(findings)),
        tuple(sorted(reasons, key=lambda item: order[item.code])),
    )
