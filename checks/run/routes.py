"""What users' clients got on each route: how many turns, to which prompt, and how alike."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

from checks.exact.judge import Judgement
from checks.pair import message_of_response
from checks.run.answered import answer_of
from checks.sessions.pairs import LivePair, said, same_prompt
from traces.journal.arm import PLAIN, SERVED
from traces.journal.exchange import PATHS as SIDES
from traces.journal.exchange import Evidence
from traces.wire.route import PATHS


@dataclass(frozen=True, slots=True)
class RouteSums:
    """Counts of turns that both paths were asked on one route.

    `answered` got an answer of both, `refused` a status 4xx of both (a server without the route).
    `same_prompt` counts answered turns whose prompt has as many tokens as that of the main arm,
    `compared` those whose texts were compared with each other, `equal` those whose texts and calls
    are alike, `errors` the findings at severity error that the candidate alone shows.
    """

    turns: int = 0
    answered: int = 0
    refused: int = 0
    same_prompt: int = 0
    compared: int = 0
    equal: int = 0
    errors: int = 0

    def __add__(self, other: "RouteSums") -> "RouteSums":
        names = [one.name for one in fields(self)]
        return RouteSums(*(getattr(self, name) + getattr(other, name) for name in names))


def route_sums(
    pairs: Mapping[str, Sequence[LivePair]],
    judged: Mapping[str, Sequence[Judgement]],
    captures: Evidence,
) -> dict[str, RouteSums]:
    """The sums of every served arm that ran."""
    return {
        arm: sum(
            (
                _of_turn(live, judgement, captures)
                for live, judgement in zip(pairs[arm], judged[arm], strict=True)
            ),
            RouteSums(),
        )
        for arm in SERVED
        if pairs[arm]
    }


def _of_turn(live: LivePair, judgement: Judgement, captures: Evidence) -> RouteSums:
    sides = [captures.of(path, live.arm)[live.turn].response for path in SIDES]
    answer = answer_of(*sides)
    both = answer == "answered"
    main = captures.of("baseline").get(live.turn)
    texts = [said(message_of_response(side)) for side in sides]
    return RouteSums(
        turns=1,
        answered=both,
        refused=answer == "refused",
        same_prompt=both and main is not None and same_prompt(sides, main.response),
        compared=both and live.pair.text_comparable,
        equal=both and texts[0] == texts[1],
        errors=len(judgement.codes),
    )


def route_notes(routes: Mapping[str, RouteSums]) -> Iterator[str]:
    """Routes that the servers do not have, and those that render other prompts."""
    for arm, sums in routes.items():
        where = PATHS[SERVED[arm]]
        if arm == PLAIN:
            continue
        if sums.refused:
            yield (
                f"arm {arm}: both servers refuse {sums.refused} of {sums.turns} turns on {where} "
                "(status 4xx), so nothing was judged of them there"
            )
        if sums.compared < sums.answered / 2:
            yield (
                f"arm {arm}: only {sums.compared} of {sums.answered} answers on {where} could be "
                f"compared by their text ({sums.answered - sums.same_prompt} have another prompt "
                "than in the main arm); of the others only the stream and the calls are judged"
            )
