"""Advice about one stored run: where its drafter pays, as measured, and where acceptance is low.

A run gives one piece of advice per concurrency that it replayed: of its main arm, and of every
further one whose servers ran as they will be used.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from checks.stats.session_interval import Estimate, not_available
from reports.store.store import Store
from traces.errors import StoreError

Payoff = Literal["pays", "costs", "undecided"]

DIMENSIONS = ("all", "template", "tool", "context", "boundary")
"""Slices whose acceptance is looked at; a router can tell the first ones apart before a request is
served, a boundary only says where in an answer drafts are lost."""

ACCEPTANCE = """
select dimension::varchar as dimension, slice, acceptance_length, low, high, steps, sessions,
  enough, len(per_position_acceptance_rates) as positions
from v_acceptance_by_slice
where run = $run and arm = $arm and path = 'candidate'
  and list_contains($dimensions, dimension::varchar)
order by dimension <> 'all', acceptance_length, dimension, slice
"""

STEPS = """
with drafting as (
  select session, turn, attempt, sum(committed) as committed, count(*) as drafting,
    count(*) filter (accepted = 0) as empty
  from steps
  where run = $run and arm = $arm and path = 'candidate' and first_token is not null group by all
)
select coalesce(sum(empty), 0)::bigint as empty, coalesce(sum(drafting), 0)::bigint as drafting,
  coalesce(sum(completion_tokens - 1 - coalesce(committed, 0) + coalesce(drafting, 0)), 0)::bigint
    as steps
from captures left join drafting using (session, turn, attempt)
where run = $run and arm = $arm and path = 'candidate' and aligned
"""

MEASURED = """
select context_band, turns, sessions, tpot_speedup, low, high, token_speedup, token_low, token_high
from v_speedup where run = $run and $arm = 'main'
union all by name
select null as context_band, turns, sessions, tpot_speedup, low, high, token_speedup, token_low,
  token_high
from v_speedup_by_concurrency where run = $run and arm = $arm and $arm <> 'main'
order by context_band nulls first
"""

ARMS = """
select 'main' as arm, coalesce(concurrency, 1) as concurrency from runs where run = $run
union all by name
select arm, concurrency from arms
where run = $run and arm <> 'main' and prefix_cache and not small_kv
  and len(coalesce(perturb, [])) = 0 and arm <> 'sampled' and not coalesce(abort or grammar, false)
order by arm <> 'main', concurrency, arm
"""


@dataclass(frozen=True, slots=True)
class SliceAcceptance:
    """Mean acceptance length (tokens per step that drafted) of one slice, with its 95% interval.

    `low`: the whole interval lies below the mean of the arm.
    """

    dimension: str
    slice: str
    length: Estimate
    low: bool


@dataclass(frozen=True, slots=True)
class BandSpeedup:
    """The speed-up per token of the turns of one context band."""

    context_band: str
    speedup: Estimate
    payoff: Payoff


@dataclass(frozen=True, slots=True)
class Advice:
    """What one arm of a run says about its drafter; everything in it was measured.

    `ran` is the number of draft tokens per step, `None` where no draft could be aligned with its
    tokens; `payoff` is that of the speed-up per token. `fallback` is the share of the candidate's
    steps in which nothing was drafted or nothing accepted. `slices` begin with the lowest
    acceptance length.
    """

    run: str
    arm: str
    concurrency: int
    ran: int | None
    fallback: float | None
    per_turn: Estimate
    per_token: Estimate
    payoff: Payoff
    bands: tuple[BandSpeedup, ...]
    length: Estimate
    slices: tuple[SliceAcceptance, ...]

    def as_json(self) -> dict[str, Any]:
        """The machine-readable form."""
        return {
            "run": self.run,
            "arm": self.arm,
            "concurrency": self.concurrency,
            "num_speculative_tokens_run": self.ran,
            "enable": {"pays": True, "costs": False, "undecided": None}[self.payoff],
            "state": self.payoff,
            "measured_speedup": {
                "per_turn": estimate_json(self.per_turn),
                "per_token": estimate_json(self.per_token),
            },
            "context_bands": [
                {
                    "slice": band.context_band,
                    "speedup": estimate_json(band.speedup),
                    "state": band.payoff,
                }
                for band in self.bands
            ],
            "fallback_ratio": self.fallback,
            "acceptance_length": estimate_json(self.length),
            "acceptance": [
                {
                    "dimension": one.dimension,
                    "slice": one.slice,
                    "acceptance_length": estimate_json(one.length),
                    "low": one.low,
                }
                for one in self.slices
            ],
        }


def advise(store: Store, name: str) -> list[Advice]:
    """Advice about the run that `name` names: an id, a unique beginning of one, or ``last``.

    That of the main arm comes first; a further arm without times of both paths is left out. Raises
    StoreError where the run is not there, or its main arm has no times of both paths.
    """
    run = store.resolve(name)
    arms = store.rows(ARMS, {"run": run})
    found = [_advise(store, run, row["arm"], row["concurrency"]) for row in arms]
    if found[0] is None:
        raise StoreError(
            f"run {run}: no turn has a time per token on both paths",
            "advice needs a run that replayed both paths; see `draftgate query verdicts`",
        )
    return [advice for advice in found if advice is not None]


def payoff_of(speedup: Estimate) -> Payoff:
    """``pays`` where the whole interval is above 1, ``costs`` where it is below."""
    if speedup.low is None or speedup.high is None:
        return "undecided"
    return "pays" if speedup.low > 1 else "costs" if speedup.high < 1 else "undecided"


def fallback_ratio(empty: int, drafting: int, steps: int) -> float | None:
    """Share of the candidate's steps in which nothing was accepted or nothing drafted.

    `empty` of the `drafting` steps have no accepted token. `None` without steps.
    """
    return (empty + steps - drafting) / steps if steps else None


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    """``{"value", "low", "high", "count", "sessions"}``; `null` where not given."""
    return {name: getattr(estimate, name) for name in Estimate.__slots__}


def _advise(store: Store, run: str, arm: str, concurrency: int) -> Advice | None:
    of_arm = {"run": run, "arm": arm}
    measured = store.rows(MEASURED, of_arm)
    whole = next((row for row in measured if row["context_band"] is None), None)
    if whole is None or whole["token_speedup"] is None:
        return None
    bands = [row for row in measured if row["context_band"] is not None]
    (steps,) = store.rows(STEPS, of_arm)
    lengths = store.rows(ACCEPTANCE, {**of_arm, "dimensions": list(DIMENSIONS)})
    per_token = _per_token(whole)
    mean = next((row for row in lengths if row["dimension"] == "all"), None)
    length = not_available(0, 0) if mean is None else _length(mean)
    return Advice(
        run=run,
        arm=arm,
        concurrency=concurrency,
        ran=None if mean is None else mean["positions"],
        fallback=fallback_ratio(**steps),
        per_turn=_estimate(whole, ("tpot_speedup", "low", "high"), "turns"),
        per_token=per_token,
        payoff=payoff_of(per_token),
        bands=tuple(
            BandSpeedup(row["context_band"], found := _per_token(row), payoff_of(found))
            for row in (bands if len(bands) > 1 else ())
        ),
        length=length,
        slices=tuple(_slices(lengths, length)),
    )


def _slices(rows: Sequence[Mapping[str, Any]], mean: Estimate) -> Iterator[SliceAcceptance]:
    for row in rows:
        if row["dimension"] == "all" or not row["enough"]:
            continue
        length = _length(row)
        below = mean.value is not None and length.high is not None and length.high < mean.value
        yield SliceAcceptance(row["dimension"], row["slice"], length, below)


def _length(row: Mapping[str, Any]) -> Estimate:
    found = _estimate(row, ("acceptance_length", "low", "high"), "steps")
    return found if row["enough"] else replace(found, low=None, high=None)


def _per_token(row: Mapping[str, Any]) -> Estimate:
    return _estimate(row, ("token_speedup", "token_low", "token_high"), "turns")


def _estimate(row: Mapping[str, Any], names: tuple[str, str, str], count: str) -> Estimate:
    value, low, high = (row[name] for name in names)
    return Estimate(value, low, high, row[count], row["sessions"])
