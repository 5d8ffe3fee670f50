"""A small draw of turns that covers the traffic: by tool, context band, and label.

Each stratum gets a share of the draw in proportion to its size, and at least one turn while there
is room, the larger strata first. The draw depends only on the turns and the seed.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from traces.bands import band_of
from traces.session.session import Session
from traces.session.turn_label import label_of, tool_of
from traces.session.turn_size import TokenCounter, TurnSizer, estimated_tokens

NOT_DRAWN = "not_sampled"


@dataclass(frozen=True, slots=True, order=True)
class Stratum:
    """What turns of one stratum share."""

    tool: str
    band: str
    label: str


TurnKey = tuple[str, str]
"""(session id, turn id)."""


def strata_of(
    sessions: Iterable[Session], count: TokenCounter = estimated_tokens
) -> dict[TurnKey, Stratum]:
    """The stratum of every replayable turn."""
    sizer = TurnSizer(count)
    found = {}
    for session in sessions:
        for turn, prompt, _ in sizer.sizes(session):
            if turn.replayable:
                key = session.session_id, turn.turn_id
                label = label_of(session, turn)
                found[key] = Stratum(tool_of(session, turn), band_of(prompt), label)
    return found


def draw(strata: Mapping[TurnKey, Stratum], size: int, seed: int) -> set[TurnKey]:
    """`size` turns (all, if there are fewer), drawn by `seed`."""
    members: dict[Stratum, list[TurnKey]] = defaultdict(list)
    for key in sorted(strata):
        members[strata[key]].append(key)
    shares = allot({stratum: len(keys) for stratum, keys in members.items()}, size)
    chance = random.Random(seed)
    drawn: set[TurnKey] = set()
    for stratum in sorted(members):
        drawn.update(chance.sample(members[stratum], shares[stratum]))
    return drawn


def allot(sizes: Mapping[Stratum, int], total: int) -> Counter[Stratum]:
    """How many turns each stratum gives: one each first, the rest by largest remainder."""
    total = min(total, sum(sizes.values()))
    ranked = sorted(sizes, key=lambda stratum: (-sizes[stratum], stratum))
    shares: Counter[Stratum] = Counter(dict.fromkeys(ranked[:total], 1))
    left = total - sum(shares.values())
    if not left:
        return shares
    spare = {stratum: sizes[stratum] - 1 for stratum in ranked}
    whole = sum(spare.values())
    exact = {stratum: left * spare[stratum] / whole for stratum in ranked}
    for stratum in ranked:
        shares[stratum] += int(exact[stratum])
    by_rest = sorted(ranked, key=lambda s: (-(exact[s] - int(exact[s])), s))
    for stratum in by_rest[: total - sum(shares.values())]:
        shares[stratum] += 1
    return shares


def only_drawn(sessions: Iterable[Session], drawn: set[TurnKey], seed: int) -> Iterator[Session]:
    """The sessions in which a turn was drawn; the others of their turns are not replayable.

    The draw is recorded in the tags ``sample_size`` and ``sample_seed``.
    """
    tags = {"sample_size": str(len(drawn)), "sample_seed": str(seed)}
    by_session: dict[str, set[str]] = defaultdict(set)
    for name, turn_id in drawn:
        by_session[name].add(turn_id)
    for session in sessions:
        kept = by_session.get(session.session_id)
        if not kept:
            continue
        turns = tuple(
            turn
            if turn.turn_id in kept or not turn.replayable
            else turn.replaced(replayable=False, skip_reason=NOT_DRAWN)
            for turn in session.turns
        )
        stats = session.stats.replaced(replayable=len(kept))
        yield session.replaced(turns=turns, stats=stats, tags={**session.tags, **tags})
