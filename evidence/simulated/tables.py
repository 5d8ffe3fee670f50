"""The tables of `docs/evidence.md`: false alarms and detection on synthetic runs and on a pool.

    python -m evidence.simulated.tables --runs 200 > tables.md
    python -m evidence.simulated.tables --pool evidence/simulated/pool.jsonl.gz --runs 200

A pool is made by `evidence.simulated.pool`; pseudo-runs draw its sessions with replacement.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from checks.greedy.bounds import LADDER, RATE
from checks.greedy.judge import GreedyJudgement, judge_measured
from checks.policy import Policy
from checks.power import detectable_rate
from checks.sampled.distribution import distribution_of
from checks.sampled.e_process import e_value, increments
from checks.sampled.pit import pit, pit_draws
from checks.sampled.sampling import Sampling
from evidence.markdown import table
from evidence.simulated.noise_runs import NoiseModel, RunSize, judge_run, simulate
from evidence.simulated.pool import Run, read, tokens
from evidence.simulated.sampled_faults import (
    Fault,
    contexts,
    divergence,
    draw,
    lenient,
    listed,
    now_and_then,
    tempered,
    wrong_residual,
)

MARGIN = 3e-4
LIGHT = Policy(rate_margin=MARGIN, noise_tails="light")
NOISE = (
    ("dense", "light", NoiseModel(0.05)),
    ("dense, twice in verify shape", "light", NoiseModel(0.05, verify=2.0)),
    ("Pareto 3, twice", "heavy", NoiseModel(0.05, 0.05, 0.2, 3.0, 2.0)),
    ("Pareto 2.5, twice", "heavy", NoiseModel(0.05, 0.05, 0.1, 2.5, 2.0)),
    ("Pareto 3, twice, not known", "auto", NoiseModel(0.05, 0.02, 0.1, 3.0, 2.0)),
)


def verdict_of(judgement: GreedyJudgement) -> str:
    """``fail``, ``inconclusive`` or ``pass`` of the two bounds on regret."""
    states = {bound.state for bound in judgement.bounds if bound.name in (LADDER, RATE)}
    return next((word for word in ("fail", "inconclusive") if word in states), "pass")


def counted(name: str, verdicts: Iterable[str]) -> tuple[object, ...]:
    """One row: how often each word."""
    counts = Counter(verdicts)
    return (name, counts.total(), counts["fail"], counts["inconclusive"], counts["pass"])


def false_alarms(seeds: range) -> str:
    """A sound candidate under five kinds of noise."""
    rows = []
    for name, tails, model in NOISE:
        policy = Policy.model_validate({"rate_margin": MARGIN, "noise_tails": tails})
        found = (verdict_of(judge_run(model, RunSize(), policy, seed)) for seed in seeds)
        rows.append(counted(f"{name} ({tails} tails)", found))
    return table(("noise", "runs", "fail", "inconclusive", "pass"), rows)


def resampled(pool: Run, runs: int, sessions: int | None = None) -> Iterable[Run]:
    """Pseudo-runs of a pool: whole sessions, drawn with replacement, each under a new name.

    `sessions` of them each time; by default as many as the pool holds.
    """
    by_session: dict[str, Run] = {}
    for turn, regrets in zip(*pool, strict=True):
        turns, measured = by_session.setdefault(turn.session, ([], []))
        turns.append(turn)
        measured.append(regrets)
    names = sorted(by_session)
    for seed in range(runs):
        drawn = np.random.default_rng(seed).choice(len(names), sessions or len(names))
        run: Run = ([], [])
        for place, which in enumerate(drawn):
            turns, measured = by_session[names[which]]
            run[0].extend(replace(turn, session=f"{place:04}") for turn in turns)
            run[1].extend(replace(regrets, session=f"{place:04}") for regrets in measured)
        yield run


def pool_alarms(pool: Run, runs: int, sizes: Sequence[int | None] = (None,)) -> str:
    """False alarms among pseudo-runs of a captured A/A pool, of several numbers of sessions."""
    rows = []
    for size in sizes:
        found = (
            verdict_of(judge_measured(*run, LIGHT, seed))
            for seed, run in enumerate(resampled(pool, runs, size))
        )
        drawn = size or len({turn.session for turn in pool[0]})
        rows.append(counted(f"{drawn} sessions", found))
    return table(("sessions of a pseudo-run", "runs", "fail", "inconclusive", "pass"), rows)


def pool_noise(pool: Run) -> str:
    """What is in a pool, by the run that it was taken from."""
    rows = []
    for run in sorted({turn.session.split("/")[0] for turn in pool[1]}):
        part = [turn for turn in pool[1] if turn.session.split("/")[0] == run]
        regrets = np.concatenate([p.values for turn in part for p in turn.candidate])
        noise = np.concatenate([np.empty(0), *(p.values for turn in part for p in turn.noise)])
        rows.append(
            (
                run,
                len({turn.session for turn in part}),
                len(part),
                f"{tokens(part):,}",
                sum(turn.divergence is not None for turn in part),
                f"{regrets.max():.3f}",
                f"{len(noise):,}",
                f"{noise.max(initial=0.0):.3f}",
            )
        )
    head = ("run", "sessions", "turns", "tokens", "forks", "largest regret (nat)", "A/A tokens",
            "largest A/A regret (nat)")  # fmt: skip
    return table(head, rows)


def greedy_detection(seeds: range) -> str:
    """Wrong tokens at three rates: in how many runs caught, against the prediction."""
    rows = []
    for rate in (1e-3, 3e-4, 1e-4):
        caught = sum(_corrupted(rate, seed) == "fail" for seed in seeds)
        tokens = RunSize().sessions * RunSize().turns * RunSize().tokens
        expected = -np.expm1(tokens * np.log1p(-rate))
        rows.append((f"{rate:g}", len(seeds), f"{caught / len(seeds):.2f}", f"{expected:.2f}"))
    head = ("rate of wrong tokens", "runs", "caught", "predicted")
    need = f"Rule of three: {detectable_rate(20_160):.2g} shows in 95% of runs of 20,160 tokens."
    return table(head, rows) + "\n\n" + need


def _corrupted(rate: float, seed: int) -> str:
    """A run in which tokens are replaced by ones 2 nat less likely, at this rate."""
    rng = np.random.default_rng(seed)
    turns, measured = simulate(NoiseModel(0.05), RunSize(), rng, streams=-1.0)
    # The baseline would not repeat a wrong token, so it is not asked.
    turns = [replace(turn, own_tokens={}) for turn in turns]
    for place, regrets in enumerate(measured):
        parts = []
        for part in regrets.candidate:
            hit = rng.random(len(part)) < rate
            parts.append(replace(part, values=np.where(hit, part.values + 2.0, part.values)))
        measured[place] = replace(regrets, candidate=tuple(parts))
    return verdict_of(judge_measured(turns, measured, LIGHT, seed))


FAULTS: tuple[tuple[str, Fault], ...] = (
    ("recovered token from p, not the residual", wrong_residual),
    ("the same in half of the places", now_and_then(wrong_residual, 0.5)),
    ("the same in a quarter", now_and_then(wrong_residual, 0.25)),
    ("accept if p(d) > 0.8 u", lenient(0.8)),
    ("accept if p(d) > 0.9 u", lenient(0.9)),
    ("accept if p(d) > 0.95 u", lenient(0.95)),
    ("temperature 1.2", tempered(1.2)),
    ("temperature 1.1", tempered(1.1)),
    ("temperature 1.05", tempered(1.05)),
)


def sampled_detection(seeds: range, tokens: int = 20_000) -> str:
    """Tokens until the e-process reaches 100, without and with the drafted tokens known.

    The best possible knows the fault: ``ln(100)`` over the divergence of the two distributions.
    """
    rows = []
    for name, fault in FAULTS:
        blind, informed = [], []
        best = np.log(100.0) / divergence(fault, contexts(np.random.default_rng(0), tokens))
        for seed in seeds:
            rng = np.random.default_rng(seed)
            c = contexts(rng, tokens)
            distribution = distribution_of(
                listed(c, draw(rng, np.asarray(fault(c)))), Sampling(1.0)
            )
            u = pit(distribution, pit_draws(seed, "evidence", name, tokens))
            blind.append(e_value(increments(distribution, u), 100.0).crossed)
            informed.append(e_value(increments(distribution, u, c.drafts), 100.0).crossed)
        middles = (_median(blind, tokens), _median(informed, tokens))
        rows.append((name, len(seeds), *middles, f"{best:,.0f}"))
    head = ("fault", "runs", "drafts unknown", "drafts known", "best possible")
    return table(head, rows)


def _median(crossed: Sequence[int | None], limit: int) -> str:
    known = sorted(limit + 1 if value is None else value for value in crossed)
    middle = known[len(known) // 2]
    return f"{middle:,}" if middle <= limit else f"more than {limit:,}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="the first of the runs' seeds")
    parser.add_argument("--pool", type=Path)
    arguments = parser.parse_args()
    if arguments.pool is not None:
        pool = read(arguments.pool)
        print(pool_noise(pool) + "\n")
        whole = len({turn.session for turn in pool[0]})
        print(pool_alarms(pool, arguments.runs, (24, whole, 3 * whole)))
        return
    first, few = arguments.seed, max(arguments.runs // 10, 5)
    many, some = range(first, first + arguments.runs), range(first, first + few)
    print("### False alarms\n\n" + false_alarms(many) + "\n")
    print("### Wrong greedy tokens\n\n" + greedy_detection(some) + "\n")
    print("### Sampled faults\n\n" + sampled_detection(some))


if __name__ == "__main__":
    main()
