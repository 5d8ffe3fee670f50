"""The tables of `docs/evidence.md`: false alarms and detection on synthetic runs and on a pool.

    python -m evidence.tables --runs 200 > tables.md
    python -m evidence.tables --pool pool.pickle --runs 200     # a pool captured from a real pair

A pool is a pickled list of `GreedyTurn`; pseudo-runs draw its sessions with replacement.
"""

import argparse
import pickle
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from checks.e_process import e_value, increments
from checks.equivalence import judge_measured
from checks.greedy_bounds import HARD, RATE
from checks.greedy_judgement import GreedyJudgement
from checks.greedy_turn import GreedyTurn, TurnRegrets, measure_turn
from checks.law import law_of
from checks.pit import pit, pit_draws
from checks.policy import Policy
from checks.power import detectable_rate
from checks.sampling import Sampling
from evidence.noise_runs import NoiseModel, RunSize, judge_run, simulate
from evidence.sampled_faults import Fault, contexts, draw, lenient, listed, tempered, wrong_residual

MARGIN = 3e-4
NOISE = (
    ("dense", "light", NoiseModel(0.05)),
    ("dense, twice in verify shape", "light", NoiseModel(0.05, verify=2.0)),
    ("Pareto 3, twice", "heavy", NoiseModel(0.05, 0.05, 0.2, 3.0, 2.0)),
    ("Pareto 2.5, twice", "heavy", NoiseModel(0.05, 0.05, 0.1, 2.5, 2.0)),
    ("Pareto 3, twice, not declared", "light", NoiseModel(0.05, 0.02, 0.1, 3.0, 2.0)),
)


def verdict_of(judgement: GreedyJudgement) -> str:
    """``fail``, ``inconclusive`` or ``pass`` of the two bounds on regret."""
    states = {bound.state for bound in judgement.bounds if bound.name in (HARD, RATE)}
    return next((word for word in ("fail", "inconclusive") if word in states), "pass")


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def counted(name: str, verdicts: Iterable[str]) -> tuple[object, ...]:
    """One row: how often each word."""
    counts = Counter(verdicts)
    return (name, counts.total(), counts["fail"], counts["inconclusive"], counts["pass"])


def false_alarms(runs: int) -> str:
    """A sound candidate under five kinds of noise."""
    rows = []
    for name, tails, model in NOISE:
        policy = Policy.model_validate({"rate_margin": MARGIN, "noise_tails": tails})
        found = (verdict_of(judge_run(model, RunSize(), policy, seed)) for seed in range(runs))
        rows.append(counted(f"{name} ({tails} tails)", found))
    return table(("noise", "runs", "fail", "inconclusive", "pass"), rows)


Run = tuple[list[GreedyTurn], list[TurnRegrets]]


def resampled(pool: Sequence[GreedyTurn], runs: int) -> Iterable[Run]:
    """Pseudo-runs of a pool: whole sessions, drawn with replacement, each under a new name."""
    by_session: dict[str, Run] = {}
    for turn in pool:
        turns, measured = by_session.setdefault(turn.session, ([], []))
        turns.append(turn)
        measured.append(measure_turn(turn))
    names = sorted(by_session)
    for seed in range(runs):
        drawn = np.random.default_rng(seed).choice(len(names), len(names))
        run: Run = ([], [])
        for place, which in enumerate(drawn):
            turns, measured = by_session[names[which]]
            run[0].extend(replace(turn, session=f"{place:04}") for turn in turns)
            run[1].extend(replace(regrets, session=f"{place:04}") for regrets in measured)
        yield run


def pool_alarms(pool: Sequence[GreedyTurn], runs: int) -> str:
    """False alarms among pseudo-runs of a captured A/A pool."""
    policy = Policy(rate_margin=MARGIN)
    found = (
        verdict_of(judge_measured(*run, policy, seed))
        for seed, run in enumerate(resampled(pool, runs))
    )
    tokens = sum(len(turn.candidate.tokens or ()) for turn in pool)
    name = f"pool of {tokens} tokens, {len({turn.session for turn in pool})} sessions"
    return table(("pool", "runs", "fail", "inconclusive", "pass"), [counted(name, found)])


def greedy_detection(runs: int) -> str:
    """Wrong tokens at three rates: in how many runs caught, against the prediction."""
    rows = []
    for rate in (1e-3, 3e-4, 1e-4):
        caught = sum(_corrupted(rate, seed) == "fail" for seed in range(runs))
        tokens = RunSize().sessions * RunSize().turns * RunSize().tokens
        expected = -np.expm1(tokens * np.log1p(-rate))
        rows.append((f"{rate:g}", runs, f"{caught / runs:.2f}", f"{expected:.2f}"))
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
    return verdict_of(judge_measured(turns, measured, Policy(rate_margin=MARGIN), seed))


FAULTS: tuple[tuple[str, Fault], ...] = (
    ("recovered token from p, not the residual", wrong_residual),
    ("accept if p(d) > 0.9 u", lenient(0.9)),
    ("accept if p(d) > 0.8 u", lenient(0.8)),
    ("temperature 1.05", tempered(1.05)),
    ("temperature 1.1", tempered(1.1)),
)


def sampled_detection(runs: int, tokens: int = 20_000) -> str:
    """Tokens until the e-process reaches 100, without and with the drafted tokens known."""
    rows = []
    for name, fault in FAULTS:
        blind, informed = [], []
        for seed in range(runs):
            rng = np.random.default_rng(seed)
            c = contexts(rng, tokens)
            law = law_of(listed(c, draw(rng, np.asarray(fault(c)))), Sampling(1.0))
            u = pit(law, pit_draws(seed, "evidence", name, tokens))
            blind.append(e_value(increments(law, u), 100.0).crossed)
            informed.append(e_value(increments(law, u, c.drafts), 100.0).crossed)
        rows.append((name, runs, _median(blind, tokens), _median(informed, tokens)))
    return table(("fault", "runs", "tokens, drafts unknown", "tokens, drafts known"), rows)


def _median(crossed: Sequence[int | None], limit: int) -> str:
    known = sorted(limit + 1 if value is None else value for value in crossed)
    middle = known[len(known) // 2]
    return f"{middle:,}" if middle <= limit else f"more than {limit:,}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--pool", type=Path)
    arguments = parser.parse_args()
    if arguments.pool is not None:
        pool = pickle.loads(arguments.pool.read_bytes())
        print(pool_alarms(pool, arguments.runs))
        return
    few = max(arguments.runs // 10, 5)
    print("### False alarms\n\n" + false_alarms(arguments.runs) + "\n")
    print("### Wrong greedy tokens\n\n" + greedy_detection(few) + "\n")
    print("### Sampled faults\n\n" + sampled_detection(few))


if __name__ == "__main__":
    main()
