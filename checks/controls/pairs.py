"""All controls that are planted in one live pair each."""

from collections.abc import Sequence

from checks.bounds import ControlResult
from checks.controls.duplicate import DUPLICATE
from checks.controls.finish import FINISH
from checks.controls.leak import leak_control
from checks.controls.pair_control import Judge, judge_pair_control
from checks.controls.tail import ARGUMENT_TAIL, TEXT_TAIL
from checks.pair import Pair
from checks.stats.sessions import hash_order


def judge_pair_controls(
    pairs: Sequence[tuple[str, Pair]], judge: Judge, seed: int
) -> tuple[ControlResult, ...]:
    """Each control in the first suitable pair of the hash order; `pairs` are (name, live pair)."""
    named = dict(pairs)
    order = [named[name] for name in hash_order(named, seed)]
    controls = (TEXT_TAIL, ARGUMENT_TAIL, FINISH, DUPLICATE, leak_control(order))
    return tuple(judge_pair_control(control, order, judge) for control in controls)
