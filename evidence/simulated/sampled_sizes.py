"""Sampled turns under rounding of known kinds: do sound candidates pass, and are faults caught?

    python -m evidence.simulated.sampled_sizes --runs 1000 > sizes.md
    python -m evidence.simulated.sampled_sizes --runs 1000 --share    # the share that a gate adds
    python -m evidence.simulated.sampled_sizes --runs 1000 --drafts   # with and without draft ids

Of every case a pool of sessions of 200 tokens is drawn once: the baseline's tokens from
distributions with one rounding, the candidate's with another of up to twice the scale, both checked
against scores with a third. A run takes sessions of the pool at random. A `fail` of a sound
candidate is a false alarm. In one case all turns draw the same random numbers, as under one seed
for all of them.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from checks.policy import Policy
from checks.sampled.distribution import TopLists
from checks.sampled.judge import judge_scored
from checks.sampled.turn import SampledTurn, ScoredTurn, score_turn
from evidence.markdown import table
from evidence.simulated.sampled_faults import (
    LISTED,
    VOCABULARY,
    Contexts,
    Fault,
    Ints,
    contexts,
    draw,
    lenient,
    now_and_then,
    sound,
    tempered,
    wrong_residual,
)

Floats = npt.NDArray[np.float64]

LENGTH = 200
"""Tokens of a session."""
SHARE = (35, 60)
"""Turns and tokens of each that a tenth of this repository's samples is, each in a session of its
own."""
POOL = 1000
"""Sessions of a pool."""
DRAFT = 3
"""Tokens drafted in a step."""
FEW_TOKENS = (2000, 3000, 5000, 10_000, 20_000)
"""Sizes of runs with faults, with and without draft ids."""


@dataclass(frozen=True, slots=True)
class Rounding:
    """Noise of every logit (nat): of standard deviation `sd`, `kind` normal or laplace; at a share
    `jumps` of the places all logits jump besides, normally (`tail` is `None`) or as Pareto of index
    `tail`, by `scale`. `spread`: standard deviation of the log scale between sessions."""

    sd: float = 0.05
    kind: str = "normal"
    jumps: float = 0.0
    scale: float = 0.0
    tail: float | None = None
    spread: float = 0.3

    def draw(self, rng: np.random.Generator, places: int) -> Floats:
        """Noise of `places` positions: [places, V]."""
        shape = (places, VOCABULARY)
        if self.kind == "laplace":
            drawn = rng.laplace(0.0, self.sd / 2**0.5, shape)
        else:
            drawn = rng.normal(0.0, self.sd, shape)
        hit = np.flatnonzero(rng.random(places) < self.jumps)
        inside = (len(hit), VOCABULARY)
        if self.tail is None:
            drawn[hit] += rng.normal(0.0, self.scale, inside)
        else:
            sign = rng.choice([-1.0, 1.0], inside)
            drawn[hit] += self.scale * sign * rng.pareto(self.tail, inside)
        return np.asarray(drawn)


SOUND: tuple[tuple[str, Rounding, float], ...] = (
    ("none", Rounding(0.0), 1.0),
    ("dense", Rounding(), 1.0),
    ("dense, twice", Rounding(), 2.0),
    ("Laplace, twice", Rounding(kind="laplace"), 2.0),
    ("Pareto 3 at 5% of places, twice", Rounding(jumps=0.05, scale=0.2, tail=3.0), 2.0),
    ("Pareto 2.5 at 5% of places, twice", Rounding(jumps=0.05, scale=0.1, tail=2.5), 2.0),
    ("expert flips at 5% of places, twice", Rounding(jumps=0.05, scale=0.5), 2.0),
    ("larger flips at 5% of places, twice", Rounding(jumps=0.05, scale=0.8), 2.0),
    ("dense, twice, clustered in sessions", Rounding(spread=0.8), 2.0),
)
"""Name, rounding, scale of the candidate's."""

FAULTS: tuple[tuple[str, Fault], ...] = (
    ("temperature 1.2", tempered(1.2)),
    ("temperature 1.1", tempered(1.1)),
    ("temperature 1.05", tempered(1.05)),
    ("recovered token from p, not the residual", wrong_residual),
    ("the same in half of the places", now_and_then(wrong_residual, 0.5)),
    ("the same in a quarter", now_and_then(wrong_residual, 0.25)),
    ("accept if p(d) > 0.8 u", lenient(0.8)),
    ("accept if p(d) > 0.9 u", lenient(0.9)),
)


def pool(
    noise: Rounding,
    scale: float,
    seed: int,
    sessions: int = POOL,
    fault: Fault = sound,
    length: int = LENGTH,
    drafts: bool = False,
) -> list[ScoredTurn]:
    """One turn per session, of `length` tokens; the fault acts on the candidate's distribution.
    The tokens are the same whether the `drafts` are known or not."""
    rng = np.random.default_rng(seed)
    turns = (_turn(f"{place:06}", noise, scale, rng, fault, length) for place in range(sessions))
    if not drafts:
        turns = (replace(turn, drafts=None) for turn in turns)
    return [score_turn(turn, seed) for turn in turns]


def _turn(
    session: str,
    noise: Rounding,
    scale: float,
    rng: np.random.Generator,
    fault: Fault,
    length: int,
) -> SampledTurn:
    c = contexts(rng, length)
    factor = float(np.exp(rng.normal(0.0, noise.spread)))

    def served(times: float) -> Floats:
        return _moved(c.probs, times * factor * noise.draw(rng, length))

    seen = np.log(served(1.0))
    own = draw(rng, served(1.0))
    other = draw(rng, fault(Contexts(served(scale), c.drafts)))
    request = {"temperature": 1.0}
    lists = _lists(seen, other), _lists(seen, own)
    return SampledTurn(session, "t", request, *lists, drafts=reached(c.drafts, other))


def reached(drafts: Ints, tokens: Ints) -> tuple[int, ...]:
    """The draft that each token was compared with; -1 for the bonus token of a step whose drafts
    were all emitted."""
    found, run = [], 0
    for draft, token in zip(drafts.tolist(), tokens.tolist(), strict=True):
        found.append(-1 if run == DRAFT else draft)
        run = run + 1 if token == draft and run < DRAFT else 0
    return tuple(found)


def seeded_run(one_seed: bool, sessions: int, seed: int) -> list[ScoredTurn]:
    """A sound run of traffic whose turns prefer the same tokens, as texts do. vLLM draws by
    dividing probabilities by exponential numbers (`v1/sample/ops/topk_topp_sampler.py`,
    `random_sample`); with one seed for all turns those are the same at the same place of each."""
    rng = np.random.default_rng(seed)
    common = rng.normal(0.0, 1.5, VOCABULARY)
    streams = [np.random.default_rng((seed, arm)).exponential(size=(LENGTH, VOCABULARY))
               for arm in (1, 2)]  # fmt: skip
    turns = []
    for place in range(sessions):
        own = rng.normal(0.0, 1.0, (LENGTH, VOCABULARY))
        probs = _moved(np.ones_like(own), common + own)
        drawn = [
            (probs / (stream if one_seed else rng.exponential(size=stream.shape))).argmax(axis=1)
            for stream in streams
        ]
        seen = np.log(probs)
        lists = [_lists(seen, tokens) for tokens in drawn]
        turns.append(SampledTurn(f"{place:04}", "t", {"temperature": 1.0}, *lists))
    return [score_turn(turn, seed) for turn in turns]


def _moved(probs: Floats, noise: Floats) -> Floats:
    weights = probs * np.exp(noise)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _lists(seen: Floats, tokens: npt.NDArray[np.int64]) -> TopLists:
    order = np.argsort(-seen, axis=1)[:, :LISTED]
    return TopLists(tokens, order, np.take_along_axis(seen, order, axis=1))


def verdict(turns: Sequence[ScoredTurn], seed: int) -> str:
    """``fail``, ``inconclusive`` or ``pass`` of the two bounds on sampled turns."""
    states = {bound.state for bound in judge_scored(turns, Policy(), seed).bounds}
    return next((word for word in ("fail", "inconclusive") if word in states), "pass")


def runs(
    drawn: Sequence[ScoredTurn], count: int, sessions: int, seed: int
) -> Iterator[Sequence[ScoredTurn]]:
    """`count` runs of so many sessions each, drawn without replacement."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield [drawn[i] for i in rng.choice(len(drawn), sessions, replace=False)]


def counted(name: str, tokens: int, words: Sequence[str]) -> tuple[object, ...]:
    """One row: how often each word."""
    counts = Counter(words)
    return (name, f"{tokens:,}", len(words), *(counts[w] for w in ("fail", "inconclusive", "pass")))


def of_share(count: int, seed: int) -> Iterator[tuple[object, ...]]:
    """Sound candidates and faults in runs of `SHARE`."""
    turns, length = SHARE
    for name, noise, scale in SOUND:
        drawn = pool(noise, scale, seed, length=length)
        words = [verdict(run, 0) for run in runs(drawn, count, turns, seed)]
        yield counted(f"sound; rounding: {name}", turns * length, words)
    for name, fault in (("temperature 1.5", tempered(1.5)), *FAULTS):
        drawn = pool(Rounding(), 1.0, seed, 300, fault, length)
        words = [verdict(run, 0) for run in runs(drawn, max(count // 10, 5), turns, seed)]
        yield counted(name, turns * length, words)


def of_drafts(count: int, size: int, seed: int) -> Iterator[tuple[object, ...]]:
    """Sound candidates, and in how few tokens faults are caught, without and with draft ids."""
    for name, noise, scale in SOUND:
        cells = []
        for known in (False, True):
            drawn = pool(noise, scale, seed, drafts=known)
            words = [verdict(run, 0) for run in runs(drawn, count, size, seed)]
            cells.append(words.count("fail"))
        yield f"sound; rounding: {name}", f"{size * LENGTH:,}", count, *cells
    few = max(count // 10, 5)
    for name, fault in FAULTS:
        pools = [pool(Rounding(), 1.0, seed, 300, fault, drafts=known) for known in (False, True)]
        for tokens in FEW_TOKENS:
            cells = [
                sum(verdict(run, 0) == "fail" for run in runs(drawn, few, tokens // LENGTH, seed))
                for drawn in pools
            ]
            yield name, f"{tokens:,}", few, *cells


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--share", action="store_true", help="runs as small as the added share")
    parser.add_argument("--drafts", action="store_true", help="without and with draft ids")
    given = parser.parse_args()
    head = ("tokens of the candidate", "tokens", "runs", "fail", "inconclusive", "pass")
    if given.share:
        print(table(head, list(of_share(given.runs, given.seed))))
        return
    if given.drafts:
        named = ("candidate", "tokens", "runs", "fail", "fail, draft ids known")
        print(table(named, list(of_drafts(given.runs, given.sessions, given.seed))))
        return
    size, few = given.sessions, max(given.runs // 10, 5)
    rows = []
    for name, noise, scale in SOUND:
        drawn = pool(noise, scale, given.seed)
        words = [verdict(run, 0) for run in runs(drawn, given.runs, size, given.seed)]
        rows.append(counted(f"sound; rounding: {name}", size * LENGTH, words))
    for one in (True, False):
        words = [verdict(seeded_run(one, size, given.seed + i), 0) for i in range(few)]
        name = "one seed for all turns" if one else "a seed of its own for every turn"
        rows.append(counted(f"sound; {name}", size * LENGTH, words))
    for name, fault in FAULTS:
        drawn = pool(Rounding(), 1.0, given.seed, 300, fault)
        for sessions in (size // 2, size, 5 * size):
            words = [verdict(run, 0) for run in runs(drawn, few, sessions, given.seed)]
            rows.append(counted(name, sessions * LENGTH, words))
    print(table(head, rows))


if __name__ == "__main__":
    main()
