"""All controls that are planted in one live pair each."""

from collections.abc import Iterable, Sequence

from checks.controls.duplicate import DUPLICATE
from checks.controls.finish import FINISH
from checks.controls.leak import Donor, donor_of, leak_control
from checks.controls.pair_control import Judge, Planted, plant_in
from checks.controls.tail import ARGUMENT_TAIL, TEXT_TAIL
from checks.pair import Pair
from checks.stats.sessions import hash_place
from traces.wire.response import Response

DONORS = 8
"""So many outputs of a run are kept to take a neighbor's run of tokens from."""


def donors_of(pairs: Iterable[tuple[str, Response]], seed: int) -> dict[str, Donor]:
    """The outputs that come first in the hash order, by their place in it."""
    placed = {hash_place(name, seed): (name, response) for name, response in pairs}
    return {place: donor_of(*placed[place]) for place in sorted(placed)[:DONORS]}


def plant_pair_controls(
    pairs: Sequence[tuple[str, Pair, Sequence[str]]],
    donors: Sequence[Donor],
    judge: Judge,
    seed: int,
) -> tuple[Planted, ...]:
    """Each control in the first suitable pair of the hash order; `pairs` are (name, live pair,
    the error codes it fires itself). Answers for parts of a run are added up one by one."""
    placed = [(hash_place(name, seed), pair, own) for name, pair, own in pairs]
    controls = (TEXT_TAIL, ARGUMENT_TAIL, FINISH, DUPLICATE, leak_control(donors))
    return tuple(plant_in(control, placed, judge) for control in controls)
