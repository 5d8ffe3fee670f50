"""One greedy turn replayed on both paths, and the regrets that can be had from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from checks.tokens.fork import first_divergence, fork_between
from checks.tokens.regret import (
    Regrets,
    Scored,
    ScoreError,
    above,
    regret_at,
    scored_regrets,
    stream_regrets,
)
from traces.wire.response import Response, Token


@dataclass(frozen=True, slots=True)
class GreedyTurn:
    """Everything known of one turn at temperature 0.

    * `candidate`, `baseline`: the two main captures.
    * `repeat`: the baseline's second capture of the same request (the A/A arm), if taken.
    * `verify`: the target's capture of the same request in verify shape, all drafts rejected,
      right or not, if taken; what parts it from the baseline is the noise of verification.
    * `scored_candidate`: the candidate's output teacher-forced through the baseline; needed where
      the two outputs part, from the first divergence on at the latest.
    * `scored_baseline`: the baseline's own output teacher-forced through the baseline; wanted for
      a random sample of turns with at least as many tokens.
    * `scored_verify`: the output in verify shape, as `scored_candidate`.
    * `own_tokens`: output index -> the baseline's own next token after the *candidate's* tokens
      before that index; wanted only where a first judgement lists a suspect.
    * `processing`: request parameters that change logits before the argmax
      (`checks.request.processes_logits`); empty for most turns.
    * `processed_logprobs`: both servers run with ``--logprobs-mode processed_logprobs``.
    """

    session: str
    turn: str
    candidate: Response
    baseline: Response
    repeat: Response | None = None
    scored_candidate: Scored | None = None
    scored_baseline: Scored | None = None
    verify: Response | None = None
    scored_verify: Scored | None = None
    own_tokens: Mapping[int, Token] = field(default_factory=dict)
    processing: tuple[str, ...] = ()
    processed_logprobs: bool = False


@dataclass(frozen=True, slots=True)
class TurnRegrets:
    """The regrets of one turn, each position once.

    `candidate` covers the candidate's tokens, `noise` the baseline's own. `unscored` counts
    candidate tokens that lack a score, `processed` those that cannot have one because raw scores
    of processed logits mean nothing. `divergence` is the index of the first differing token.
    `verify_tokens` counts the noise in verify shape, where that was measured. `noise_forked` is
    whether the baseline's other capture (in verify shape, else its repeat) parts from its first;
    `None` without one. `not_judged` says why
    the turn holds no regrets at all; `sent` counts all tokens of the candidate.
    """

    session: str
    turn: str
    candidate: tuple[Regrets, ...] = ()
    noise: tuple[Regrets, ...] = ()
    divergence: int | None = None
    repeat_divergence: int | None = None
    unscored: int = 0
    processed: int = 0
    verify_tokens: int = 0
    noise_forked: bool | None = None
    not_judged: str | None = None
    sent: int = 0

    @property
    def tokens(self) -> int:
        """Candidate tokens with a regret."""
        return sum(len(part) for part in self.candidate)


def measure_turn(turn: GreedyTurn) -> TurnRegrets:
    """All regrets of a turn. Raises `ScoreError` where a score belongs to other tokens."""
    reason = _unusable(turn)
    if reason is not None:
        sent = len(turn.candidate.token_ids or ())
        return TurnRegrets(turn.session, turn.turn, not_judged=reason, sent=sent)
    ids, baseline = turn.candidate.token_ids or (), turn.baseline.token_ids or ()
    divergence = first_divergence(ids, baseline)
    parts, unscored, processed = _candidate_parts(turn, ids, divergence)
    repeat_divergence = None
    if turn.repeat is not None and turn.repeat.token_ids is not None:
        repeat_divergence = first_divergence(turn.repeat.token_ids, baseline)
    noise = () if turn.processing else _noise_parts(turn, repeat_divergence)
    return TurnRegrets(
        session=turn.session,
        turn=turn.turn,
        candidate=parts,
        noise=noise,
        divergence=divergence,
        repeat_divergence=repeat_divergence,
        unscored=unscored,
        processed=processed,
        verify_tokens=0 if turn.verify is None else sum(len(part) for part in noise),
        noise_forked=None if turn.processing else _noise_forked(turn, baseline),
        sent=len(ids),
    )


def _noise_forked(turn: GreedyTurn, baseline: tuple[int, ...]) -> bool | None:
    other = turn.repeat if turn.verify is None else turn.verify
    if other is None or other.status != 200 or other.token_ids is None:
        return None
    return first_divergence(other.token_ids, baseline) is not None


def _unusable(turn: GreedyTurn) -> str | None:
    for name, side in (("candidate", turn.candidate), ("baseline", turn.baseline)):
        if side.status != 200:
            return f"the {name} answered {side.status}"
        if side.token_ids is None:
            return f"the {name} sent no token ids"
    candidate, baseline = turn.candidate.prompt_token_ids, turn.baseline.prompt_token_ids
    if candidate is not None and baseline is not None and candidate != baseline:
        return "the prompt token ids differ"
    if turn.processing and not turn.processed_logprobs:
        return "raw scores of processed logits mean nothing"
    return None


def _candidate_parts(
    turn: GreedyTurn, ids: tuple[int, ...], divergence: int | None
) -> tuple[tuple[Regrets, ...], int, int]:
    """(regrets, tokens that lack a score, tokens whose raw score would mean nothing)."""
    free = stream_regrets(ids, turn.baseline.tokens or (), divergence)
    scored = turn.scored_candidate
    if free is not None and len(free) and free.bounded[-1] and _reaches(scored, len(free) - 1):
        free = free.head(len(free) - 1)
    parts = [] if free is None or not len(free) else [free]
    covered = sum(len(part) for part in parts)
    left = len(ids) - covered
    if left == 0:
        return tuple(parts), 0, 0
    if turn.processing:
        return tuple(parts), 0, left
    if scored is None or not _reaches(scored, covered):
        return tuple(parts), left, 0
    _same_tokens(turn, scored, ids, "candidate")
    parts.append(scored_regrets(scored, covered))
    return tuple(parts), 0, 0


def _reaches(scored: Scored | None, index: int) -> bool:
    return scored is not None and scored.start <= index


def _noise_parts(turn: GreedyTurn, repeat_divergence: int | None) -> tuple[Regrets, ...]:
    """Decode shape: the repeat seen by the first stream. Prefill shape: own tokens re-read.

    Where the target was captured in verify shape, its tokens take the place of both: chosen in the
    shape in which the candidate's are, and scored in the same. Own tokens, chosen in decode shape,
    would thin its noise out.
    """
    parts = []
    if turn.verify is not None:
        parts += _parts_of(turn, turn.verify, turn.scored_verify)
    elif turn.repeat is not None:
        parts += _free_part(turn, turn.repeat, repeat_divergence)
    if turn.scored_baseline is not None:
        _same_tokens(turn, turn.scored_baseline, turn.baseline.token_ids or (), "baseline")
    if turn.scored_baseline is not None and turn.verify is None:
        parts.append(scored_regrets(turn.scored_baseline, turn.scored_baseline.start))
    return tuple(parts)


def _free_part(turn: GreedyTurn, again: Response, divergence: int | None) -> list[Regrets]:
    """Up to the divergence, the baseline's own stream scores another capture of its."""
    if again.status != 200 or again.token_ids is None:
        return []
    free = stream_regrets(again.token_ids, turn.baseline.tokens or (), divergence)
    return [] if free is None else [free]


def _parts_of(turn: GreedyTurn, verify: Response, scored: Scored | None) -> list[Regrets]:
    """The capture in verify shape: free up to its divergence, teacher-forced beyond it."""
    ids = verify.token_ids or ()
    divergence = first_divergence(ids, turn.baseline.token_ids or ())
    parts = _free_part(turn, verify, divergence)
    covered = sum(len(part) for part in parts)
    if scored is not None and _reaches(scored, covered) and covered < len(ids):
        _same_tokens(turn, scored, ids, "target in verify shape")
        parts.append(scored_regrets(scored, covered))
    return parts


def _same_tokens(turn: GreedyTurn, scored: Scored, ids: tuple[int, ...], name: str) -> None:
    if scored.ids != ids[scored.start :]:
        raise ScoreError(
            f"session {turn.session}, turn {turn.turn}: the scores of the {name} belong to other "
            "tokens than it sent",
            "score the token ids of the same capture, all of them from `start` on",
        )


def excused(turn: GreedyTurn, index: int, hard: float) -> bool:
    """Whether the baseline shows as large a regret itself at the candidate's prefix.

    It does where (a) its own next token there is the candidate's, (b) another capture of it (its
    repeat, or the target in verify shape) emitted a token there that its first stream finds as
    unlikely, (c) its own token is as unlikely when re-read, or (d) its own token lies so far below
    the best of its list that the candidate's is within the bound of it. (b) to (d) can be known
    only up to the first divergence, where prefixes are equal.
    """
    candidate, baseline = turn.candidate.tokens or (), turn.baseline.tokens or ()
    own = turn.own_tokens.get(index)
    if own is not None and own.id == candidate[index].id:
        return True
    same = first_divergence(turn.candidate.token_ids or (), turn.baseline.token_ids or ())
    if (same is not None and index > same) or index >= len(baseline):
        return False
    if any(_shows(turn, again, index, hard) for again in (turn.repeat, turn.verify)):
        return True
    if index == same and _within_own(baseline[index], candidate[index].id, hard):
        return True
    scored = turn.scored_baseline
    if scored is None or index < scored.start:
        return False
    place = index - scored.start
    return above(float(scored.best[place] - scored.logprobs[place]), hard)


def _within_own(baseline: Token, wanted: int | None, hard: float) -> bool:
    """Whether `wanted` is listed at most `hard` nat below the baseline's own token."""
    fork = fork_between([Token(wanted)], [baseline], hard)
    return fork is not None and fork.kind == "near_tie"


def _shows(turn: GreedyTurn, again: Response | None, index: int, hard: float) -> bool:
    """Whether another capture emitted a token at `index` that the first stream finds unlikely."""
    if again is None or again.tokens is None or index >= len(again.tokens):
        return False
    parted = first_divergence(again.token_ids or (), turn.baseline.token_ids or ())
    if parted is not None and parted < index:
        return False
    seen = regret_at((turn.baseline.tokens or ())[index], again.tokens[index].id)
    return seen is not None and above(seen.value, hard)
