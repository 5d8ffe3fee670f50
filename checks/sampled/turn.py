"""One sampled turn (temperature above 0), and the distribution its tokens are checked against."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from checks.sampled.distribution import Floats, TopLists, distribution_of
from checks.sampled.draft_acceptance import DraftCount, draft_count
from checks.sampled.e_process import Growth, increments
from checks.sampled.pit import legendre, pit, pit_draws
from checks.sampled.sampling import obstacles, sampling_of
from checks.sampled.surprisal import Surprisal, surprisal_of
from checks.sampled.tail_count import TailCount, tail_count
from traces.journal.score import Score


@dataclass(frozen=True, slots=True)
class SampledTurn:
    """What is known of one sampled turn.

    `candidate` and `baseline` are each path's own output, teacher-forced through the baseline with
    ``prompt_logprobs`` as wide as the server allows (20): the baseline's own is the A/A arm.
    `drafts` are drafted token ids per output token of the candidate where they are known (as the
    server reports them, or n-gram drafts computed again) and one-hot, -1 elsewhere. `sent` counts
    the candidate's tokens.
    """

    session: str
    turn: str
    request: Mapping[str, Any]
    candidate: TopLists | None
    baseline: TopLists | None = None
    drafts: tuple[int, ...] | None = None
    sent: int = 0


def top_lists(
    tokens: Sequence[int], entries: Sequence[Mapping[int, float]], width: int
) -> TopLists:
    """Lists of one output; `entries[i]` holds token id -> raw log probability at `tokens[i]`.

    vLLM adds the token that stands there where it is not among the `width` best; it is left out
    again, because what is listed may not depend on what was drawn.
    """
    ids = np.zeros((len(tokens), width), dtype=np.int64)
    logprobs = np.zeros((len(tokens), width))
    for row, entry in enumerate(entries):
        best = sorted(entry.items(), key=lambda item: -item[1])[:width]
        if len(best) < width:
            raise ValueError(f"position {row} lists {len(best)} of {width} tokens")
        ids[row] = [token for token, _ in best]
        logprobs[row] = [value for _, value in best]
    return TopLists(np.asarray(tokens, dtype=np.int64), ids, logprobs)


def listed_tokens(score: Score | None, tokens: Sequence[int], width: int) -> TopLists | None:
    """The lists of one teacher-forced output; `None` where the server gave none as wide.

    `tokens` is the whole output: a distribution with penalties depends on what came before.
    """
    if score is None or score.outcome != "scored" or len(score.listed) != len(tokens):
        return None
    if not tokens or min(len(entry) for entry in score.listed) < width:
        return None
    return top_lists(tokens, score.listed, width)


@dataclass(frozen=True, slots=True)
class SampledScores:
    """The statistics of one path's output of one turn; arrays cover judged positions, in order.

    `smooth` [4] are the sums of the smooth components, `open` counts positions too open to judge.
    """

    session: str
    surprisal: Surprisal
    smooth: Floats
    growth: Growth
    tail: TailCount
    draft: DraftCount
    open: int

    @property
    def tokens(self) -> int:
        """Judged positions."""
        return len(self.surprisal.excess)


def score_lists(
    turn: SampledTurn, lists: TopLists, drafts: tuple[int, ...] | None, seed: int
) -> SampledScores:
    """Statistics of one output under the distribution the turn's request asks for."""
    distribution = distribution_of(lists, sampling_of(turn.request))
    u = pit(distribution, pit_draws(seed, turn.session, turn.turn, len(lists)))
    known = None if drafts is None else np.asarray(drafts, dtype=np.int64)
    return SampledScores(
        session=turn.session,
        surprisal=surprisal_of(distribution),
        smooth=legendre(u[distribution.judged]).sum(axis=0),
        growth=increments(distribution, u, known),
        tail=tail_count(distribution),
        draft=DraftCount() if known is None else draft_count(distribution, known),
        open=int((~distribution.judged).sum()),
    )


@dataclass(frozen=True, slots=True)
class ScoredTurn:
    """The statistics of both paths' outputs of one turn; both `None` where it is `not_judged`.

    `seed` is the one that was sent with the request, `None` without; `cut` whether top-p or top-k
    leaves tokens out; `sent` counts the candidate's tokens.
    """

    session: str
    turn: str
    not_judged: str | None
    candidate: SampledScores | None = None
    baseline: SampledScores | None = None
    seed: int | None = None
    cut: bool = False
    sent: int = 0


def score_turn(turn: SampledTurn, seed: int) -> ScoredTurn:
    """Statistics of a turn; the baseline's draws are others than the candidate's."""
    reason, lists, own = reason_not_judged(turn), turn.candidate, turn.baseline
    sampling, seed_sent = sampling_of(turn.request), turn.request.get("seed")
    cut = sampling.top_k > 0 or sampling.top_p < 1
    if reason is not None or lists is None:
        return ScoredTurn(turn.session, turn.turn, reason, seed=seed_sent, cut=cut, sent=turn.sent)
    return ScoredTurn(
        turn.session,
        turn.turn,
        None,
        candidate=score_lists(turn, lists, turn.drafts, seed),
        baseline=None if own is None else score_lists(turn, own, None, seed + 1),
        seed=seed_sent,
        cut=cut,
        sent=turn.sent,
    )


def reason_not_judged(turn: SampledTurn) -> str | None:
    """Why a whole turn cannot be judged; `None` where it can."""
    if turn.request.get("temperature") is None:
        return "the request leaves the temperature to the server"
    found = obstacles(turn.request)
    if found:
        return f"the distribution cannot be rebuilt: {', '.join(found)}"
    if turn.candidate is None:
        return "the candidate's tokens were not scored"
    return None
