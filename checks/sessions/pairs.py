"""The turns of a run as pairs of evidence, with what only the run knows of each.

A turn that got no answer on a path is paired all the same: errors and time-outs count against the
path that produced them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from checks.acceptance.steps import Steps
from checks.pair import NO_ANSWER, Message, Pair, message_of_response, pair_of_responses
from checks.request import processes_logits
from checks.servers.restarts import Restart, cold_turns
from checks.sessions.evidence import ServerFacts, SessionEvidence
from checks.sessions.reading import Reading
from checks.tokens.text_fork import near_tie_in_text
from traces.journal.arm import MAIN, PLAIN, REPEAT, SERVED
from traces.journal.exchange import PATHS, Evidence, Exchange, TurnId
from traces.wire.response import Response
from traces.wire.route import Route
from traces.wire.tokens import joined_text, known_texts


@dataclass(frozen=True, slots=True)
class RunWide:
    """What a pair needs to know of the whole run: the servers, the text of every token id that an
    answer holds, the 99% quantile (ms) of the waits between events of the baseline's streams as
    users see them, `None` without any, and when the candidate's servers began anew. `breaches` are
    those of the baseline's streams, as (arm, kind); `processed` is whether log probabilities are
    those the sampler saw."""

    server: ServerFacts
    texts: Mapping[int, str]
    gap_p99: float | None
    restarts: Sequence[Restart] = ()
    breaches: frozenset[tuple[str, str]] = frozenset()
    processed: bool = False

    def cold(self, session: SessionEvidence, arm: str) -> frozenset[TurnId]:
        """The candidate's turns that may have found an empty prefix cache."""
        mine = [restart for restart in self.restarts if restart.arm == arm]
        return cold_turns(session.captures.of("candidate", arm), mine)


@dataclass(frozen=True, slots=True)
class LivePair:
    """A pair, the turn it is of, and the arm it was taken in."""

    turn: TurnId
    arm: str
    pair: Pair


def main_pairs(
    session: SessionEvidence,
    readings: Mapping[TurnId, Reading],
    arm: str,
    hard_bound: float,
    known: RunWide,
) -> Iterator[LivePair]:
    """The judged arms; stalls are left to the plain arm, whose stream is the users'."""
    baseline = session.captures.of("baseline", arm)
    server, cold = known.server, known.cold(session, arm)
    for turn, exchange in session.captures.of("candidate", arm).items():
        if turn not in baseline:
            continue
        reading = readings[turn]
        steps = reading.steps
        yield LivePair(
            turn,
            arm,
            pair_of_responses(
                exchange.request,
                _answered(baseline[turn]),
                replace(_answered(exchange), raw_text=reading.raw),
                step_tokens=tuple(steps.committed.tolist()) if isinstance(steps, Steps) else None,
                neighbours=session.neighbours.get((arm, *turn), ()),
                eos=server.eos,
                block_size=server.block_size,
                max_model_len=server.max_model_len,
                hard_bound=hard_bound,
                compare_text=not _forks_unseen(
                    exchange.response, baseline[turn].response, hard_bound, known.texts
                ),
                cold=turn in cold,
            ),
        )


def served_pairs(
    session: SessionEvidence, arm: str, hard_bound: float, known: RunWide
) -> Iterator[LivePair]:
    """The turns as users send them, on the route of the arm. Texts are compared only where the
    judged arms, and the baseline against itself, gave the same tokens, and where neither text
    leaves those tokens at a near tie: else rounding may explain a difference.
    """
    evidence = session.captures
    baseline, cold = evidence.of("baseline", arm), known.cold(session, arm)
    for turn, exchange in evidence.of("candidate", arm).items():
        if turn not in baseline:
            continue
        comparable = _comparable(evidence, arm, turn, hard_bound, known)
        yield LivePair(
            turn,
            arm,
            pair_of_responses(
                exchange.request,
                _answered(baseline[turn]),
                _answered(exchange),
                gap_p99_ms=known.gap_p99 if arm == PLAIN else None,
                block_size=known.server.block_size,
                max_model_len=known.server.max_model_len,
                compare_text=comparable,
                known_equal=comparable,
                cold=turn in cold,
                known_breaches=frozenset(k for name, k in known.breaches if name == arm),
            ),
        )


def _answered(exchange: Exchange) -> Response:
    """The response; where none came, what the client met stands for the server's own error."""
    response = exchange.response
    if response.status is not None:
        return response
    error = {"error": {"message": exchange.error or "no answer"}}
    return replace(response, status=NO_ANSWER, error=error)


def _forks_unseen(
    candidate: Response, baseline: Response, hard_bound: float, texts: Mapping[int, str]
) -> bool:
    """Whether a candidate without token ids may leave the baseline's text at a near tie."""
    if candidate.token_ids is not None:
        return False
    if not _shows_ties(baseline):
        return True
    message = message_of_response(candidate)
    return near_tie_in_text(baseline, message, hard_bound, texts) is not None


def _shows_ties(response: Response) -> bool:
    """Whether its tokens tell where rounding may part it from another answer."""
    tokens = response.tokens
    return known_texts(tokens) is not None and any(token.top for token in tokens or ())


def _comparable(
    evidence: Evidence, arm: str, turn: TurnId, hard_bound: float, known: RunWide
) -> bool:
    """Whether only a fault, and no near tie, can make the served texts of a turn differ."""
    arms = [
        evidence.of(path, judged).get(turn)
        for path, judged in (("candidate", MAIN), ("baseline", MAIN), ("baseline", REPEAT))
    ]
    if None in arms[:2]:  # an answer that was lost: nobody knows which tokens it had
        return False
    responses = [exchange.response for exchange in arms if exchange is not None]
    ids = {response.token_ids for response in responses}
    if len(ids) != 1 or None in ids or not all(map(_shows_ties, responses)):
        return False
    if processes_logits(evidence.of("candidate", arm)[turn].request) and not known.processed:
        # The listed scores are not those that the tokens were chosen by: they show no near tie.
        return False
    own = evidence.of("baseline").get(turn)
    sides = [evidence.of(path, arm)[turn].response for path in PATHS]
    if own is None or (arm != PLAIN and not same_prompt(sides, own.response)):
        return False
    route, eos = SERVED[arm], known.server.eos
    seen = [_as_served(response, route, eos) for response in responses]
    judged = said(message_of_response(_as_served(own.response, route, eos)))
    served = [message_of_response(side) for side in sides]
    same = [said(message) == judged for message in served]
    if same == [False, True] or (arm != PLAIN and not same[0]):
        # The baseline alone leaves its own judged answer: whatever did that, it is no drafter. On
        # another route its tokens are known only where it gives that answer again.
        return False
    return not any(
        near_tie_in_text(response, message, hard_bound, known.texts)
        for message in served
        for response in seen
    )


def same_prompt(sides: Sequence[Response], judged: Response) -> bool:
    """Whether a route's answers are to a prompt of as many tokens as that of the judged arm."""
    ids = judged.prompt_token_ids
    sizes = {side.usage.prompt if side.usage else None for side in sides}
    return ids is not None and sizes == {len(ids)}


def _as_served(response: Response, route: Route, eos: Sequence[str]) -> Response:
    """A judged response as the route shows it: a completion is the text of its tokens."""
    if route != "completions":
        return response
    text = joined_text(response.tokens or ())
    for end in eos:
        text = text.removesuffix(end)
    return replace(response, content=text, reasoning="", tool_calls=())


def said(message: Message) -> tuple[str, str, tuple[tuple[str | None, str], ...]]:
    """What a client reads of a message; the ids of calls are drawn anew in every answer."""
    calls = tuple((call.name, call.arguments) for call in message.calls)
    return message.reasoning, message.content, calls
