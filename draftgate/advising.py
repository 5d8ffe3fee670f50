"""Advice about one stored run: its sums and times, read from the store and handed to the checks.

A run gives one piece of advice per concurrency that it replayed: of its main arm, and of every
further one whose servers ran as they will be used.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from checks.acceptance.advice import Prediction, SliceCounts, StepTimes, fallback_ratio, predictions
from checks.acceptance.recommendation import (
    Recommendation,
    estimate_json,
    prediction_json,
    recommend,
)
from checks.stats.session_interval import Estimate, not_available
from reports.store.store import Store
from traces.errors import StoreError

DIMENSIONS = ("all", "template", "tool", "context", "boundary")
"""What is advised about; a boundary cannot be switched on its own, but tells where drafts pay."""

POSITIONS = """
select dimension::varchar as dimension, slice, session, position, reached, accepted
from position_sums
where run = $run and path = 'candidate' and arm = $arm and list_contains($dimensions, dimension)
order by dimension, slice, session, position
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
select turns, sessions, tpot_speedup, low, high, token_speedup, token_low, token_high
from v_speedup where run = $run and context_band is null and $arm = 'main'
union all by name
select turns, sessions, tpot_speedup, low, high, token_speedup, token_low, token_high
from v_speedup_by_concurrency where run = $run and arm = $arm and $arm <> 'main'
"""

ARMS = """
select 'main' as arm, coalesce(concurrency, 1) as concurrency from runs where run = $run
union all by name
select arm, concurrency from arms
where run = $run and arm <> 'main' and prefix_cache and not small_kv
  and len(coalesce(perturb, [])) = 0
order by arm <> 'main', concurrency, arm
"""

TIMES = """
with last_attempts as (
  select * from captures where run = $run and arm = $arm and status = 200
  qualify row_number() over (partition by path, session, turn order by attempt desc) = 1
),
committed as (
  select path, session, turn, attempt, sum(committed) as committed, count(*) as drafting
  from steps where run = $run and arm = $arm and first_token is not null group by all
)
select c.session,
  sum(b.tpot_ms * (b.completion_tokens - 1)) as baseline_ms,
  sum(b.completion_tokens - 1) as baseline_steps,
  sum(c.tpot_ms * (c.completion_tokens - 1)) as candidate_ms,
  sum(c.completion_tokens - 1 - coalesce(s.committed, 0) + coalesce(s.drafting, 0))
    as candidate_steps,
  sum(coalesce(s.drafting, 0)) as drafting
from (from last_attempts where path = 'candidate' and aligned) c
join (from last_attempts where path = 'baseline') b using (session, turn)
left join committed s on s.path = c.path and s.session = c.session and s.turn = c.turn
  and s.attempt = c.attempt
where b.tpot_ms > 0 and c.tpot_ms > 0
group by c.session order by c.session
"""


@dataclass(frozen=True, slots=True)
class Advice:
    """What one arm of a run says about its drafter. `ran` is the k that ran.

    `per_turn` and `per_token` are the speed-ups measured at that k, as every report shows them;
    predictions and the recommendation are per token.
    """

    run: str
    arm: str
    ran: int
    fallback: float | None
    per_turn: Estimate
    per_token: Estimate
    predictions: tuple[Prediction, ...]
    recommendation: Recommendation

    def as_json(self) -> dict[str, Any]:
        """The machine-readable form."""
        return {
            "run": self.run,
            "arm": self.arm,
            "num_speculative_tokens_run": self.ran,
            "fallback_ratio": self.fallback,
            "measured_speedup": {
                "per_turn": estimate_json(self.per_turn),
                "per_token": estimate_json(self.per_token),
            },
            "recommendation": self.recommendation.as_json(),
            "predictions": [prediction_json(prediction) for prediction in self.predictions],
        }


def advise(store: Store, name: str, seed: int = 0) -> list[Advice]:
    """Advice about the run that `name` names: an id, a unique beginning of one, or ``last``.

    That of the main arm comes first; a further arm with too little for advice is left out. Raises
    StoreError where the run is not there, its main arm drafted nothing that could be aligned, or
    has no times of both paths.
    """
    run = store.resolve(name)
    main, *further = store.rows(ARMS, {"run": run})
    found = [_advise(store, run, main["arm"], main["concurrency"], seed)]
    for arm in further:
        try:
            found.append(_advise(store, run, arm["arm"], arm["concurrency"], seed))
        except StoreError:
            continue
    return found


def _advise(store: Store, run: str, arm: str, concurrency: int, seed: int) -> Advice:
    of_arm = {"run": run, "arm": arm}
    sums = store.rows(POSITIONS, {**of_arm, "dimensions": list(DIMENSIONS)})
    if not sums:
        raise StoreError(
            f"run {run}: no drafted position could be aligned with its token",
            "see `draftgate query unaligned`; the candidate needs a drafter and "
            "--per-request-spec-decode-metrics detailed",
        )
    times = _times(store.rows(TIMES, of_arm), concurrency)
    if not len(times.sums):
        raise StoreError(
            f"run {run}: no turn has a time per token on both paths",
            "advice needs a run that replayed both paths; see `draftgate query verdicts`",
        )
    ran = 1 + max(row["position"] for row in sums)
    found = tuple(predictions(_slices(sums, ran), times, seed=seed))
    (steps,) = store.rows(STEPS, of_arm)
    fallback = fallback_ratio(**steps)
    measured = _measured(store, of_arm)
    return Advice(run, arm, ran, fallback, *measured, found, recommend(found, ran))


def _measured(store: Store, of_arm: Mapping[str, str]) -> tuple[Estimate, Estimate]:
    """(speed-up per turn, per token); not given where the arm has none."""
    for row in store.rows(MEASURED, of_arm):
        count, sessions = row["turns"], row["sessions"]
        return (
            Estimate(row["tpot_speedup"], row["low"], row["high"], count, sessions),
            Estimate(row["token_speedup"], row["token_low"], row["token_high"], count, sessions),
        )
    return not_available(0, 0), not_available(0, 0)


def _times(rows: Sequence[Mapping[str, Any]], concurrency: int) -> StepTimes:
    columns = ("baseline_ms", "baseline_steps", "candidate_ms", "candidate_steps", "drafting")
    sums = np.array([[float(row[name]) for name in columns] for row in rows])
    return StepTimes(concurrency, tuple(row["session"] for row in rows), sums.reshape(-1, 5))


def _slices(rows: Sequence[Mapping[str, Any]], ran: int) -> list[SliceCounts]:
    grouped: dict[tuple[str, str], dict[str, list[Mapping[str, Any]]]] = {}
    for row in rows:
        sessions = grouped.setdefault((row["dimension"], row["slice"]), {})
        sessions.setdefault(row["session"], []).append(row)
    found = []
    for (dimension, name), sessions in grouped.items():
        reached, accepted = np.zeros((2, len(sessions), ran))
        for place, positions in enumerate(sessions.values()):
            for row in positions:
                reached[place, row["position"]] = row["reached"]
                accepted[place, row["position"]] = row["accepted"]
        found.append(SliceCounts(dimension, name, tuple(sessions), reached, accepted))
    return sorted(found, key=lambda one: DIMENSIONS.index(one.dimension))
