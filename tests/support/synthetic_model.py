"""A synthetic model with known logits, so that every number the gate prints can be predicted.

The next-token logits depend on the prefix alone (by hash), lie on the bf16 grid of [16, 32), and
most positions are peaked, as in code. An *arm* (``baseline``, ``repeat``, ``candidate``) and a
shape (``decode``, ``prefill``) add rounding noise of their own to the same logits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from checks.greedy.turn import GreedyTurn
from checks.tokens.regret import Scored
from traces.journal.score import Score, ScoreRequest
from traces.wire.response import Chunk, Response, Token, TopLogprob, Usage

VOCABULARY = 200
LISTED = 5
GRID = 0.125
Noise = Callable[[np.random.Generator, int], npt.NDArray[np.float64]]
"""(generator, size) -> noise on logits, in nat."""


def quiet(rng: np.random.Generator, size: int) -> npt.NDArray[np.float64]:
    """No noise at all."""
    return np.zeros(size)


def gaussian(scale: float) -> Noise:
    """Normal noise, the rounding of a dense bf16 model (scale about 0.03 to 0.1)."""
    return lambda rng, size: rng.normal(0.0, scale, size)


def pareto(scale: float, index: float) -> Noise:
    """Symmetric Pareto tails: an expert flips, and one logit moves by much more than rounding."""
    return lambda rng, size: scale * rng.pareto(index, size) * rng.choice([-1.0, 1.0], size)


@dataclass(frozen=True, slots=True)
class SyntheticModel:
    """`noise` maps (arm, shape) to its noise; what is absent is quiet."""

    seed: int = 0
    noise: dict[tuple[str, str], Noise] = field(default_factory=dict)

    def listed(
        self, prefix: bytes, arm: str, shape: str
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """(ids, log probabilities) of the five best tokens after `prefix`, best first."""
        rng = np.random.default_rng(int.from_bytes(prefix[:8], "big") + self.seed)
        ids = rng.choice(np.arange(1, VOCABULARY), LISTED, replace=False)
        first = rng.exponential(0.7) if rng.random() < 0.15 else 1.0 + rng.exponential(5.0)
        gaps = np.cumsum([0.0, first, *rng.exponential(0.8, LISTED - 2)])
        logits = np.round((24.0 - gaps) / GRID) * GRID
        noise = self.noise.get((arm, shape), quiet)
        own = np.random.default_rng(_number(prefix, arm, shape, str(self.seed)))
        logits = np.round((logits + noise(own, LISTED)) / GRID) * GRID
        rest = logits.max() - 9.0
        total = np.log(np.exp(logits).sum() + np.exp(rest))
        order = np.lexsort((np.arange(LISTED), -logits))
        return ids[order], (logits - total)[order]

    def stream(self, prompt: Sequence[int], length: int, arm: str) -> Response:
        """A greedy decode of `length` tokens."""
        prefix, tokens = start(prompt), []
        for _ in range(length):
            ids, logprobs = self.listed(prefix, arm, "decode")
            tokens.append(token_of(ids, logprobs))
            prefix = step(prefix, int(ids[0]))
        return response_of(prompt, tokens)

    def score(self, request: ScoreRequest) -> Score:
        """Teacher forcing by the baseline, in prefill shape."""
        prefix, own, best, best_ids = start(request.prompt), [], [], []
        for token in request.continuation:
            ids, logprobs = self.listed(prefix, "baseline", "prefill")
            place = np.flatnonzero(ids == token)
            own.append(float(logprobs[place[0]]) if len(place) else float(logprobs[-1]) - 2.0)
            best.append(float(logprobs[0]))
            best_ids.append(int(ids[0]))
            prefix = step(prefix, token)
        return Score("scored", tuple(own), tuple(best), tuple(best_ids))


def start(prompt: Sequence[int]) -> bytes:
    """The state of a prompt: a hash chain over its tokens."""
    prefix = b"\x00" * 8
    for token in prompt:
        prefix = step(prefix, token)
    return prefix


def step(prefix: bytes, token: int) -> bytes:
    """The state one token later."""
    return blake2b(prefix + token.to_bytes(4, "big"), digest_size=8).digest()


def _number(*parts: bytes | str) -> int:
    joined = b"|".join(part if isinstance(part, bytes) else part.encode() for part in parts)
    return int.from_bytes(blake2b(joined, digest_size=8).digest(), "big")


def text_of(token: int) -> str:
    """The text of a token id; every id has its own."""
    return f"w{token} "


def token_of(ids: npt.NDArray[np.int64], logprobs: npt.NDArray[np.float64]) -> Token:
    """The first of the listed tokens, with the list, as it comes over the wire."""
    top = tuple(TopLogprob(int(i), None, float(p)) for i, p in zip(ids, logprobs, strict=True))
    return Token(int(ids[0]), text_of(int(ids[0])), float(logprobs[0]), top)


def response_of(prompt: Sequence[int], tokens: Sequence[Token]) -> Response:
    """A finished stream of these tokens, one chunk each."""
    return Response(
        status=200,
        content="".join(token.text or "" for token in tokens),
        reasoning="",
        tool_calls=(),
        finish_reason="stop",
        tokens=tuple(tokens),
        prompt_token_ids=tuple(prompt),
        usage=Usage(len(prompt), len(tokens)),
        speculation=None,
        chunks=tuple(Chunk(float(i), 1, 1, True) for i in range(len(tokens))),
        done=True,
    )


def scored(model: SyntheticModel, response: Response, begin: int = 0) -> Scored:
    """The output of a response teacher-forced through the baseline, from `begin` on."""
    prompt, ids = response.prompt_token_ids or (), response.token_ids or ()
    score = model.score(ScoreRequest((*prompt, *ids[:begin]), ids[begin:]))
    return Scored(
        begin,
        ids[begin:],
        np.array(score.logprobs),
        np.array(score.top_logprobs),
    )


def greedy_pool(model: SyntheticModel, sessions: int, turns: int, length: int) -> list[GreedyTurn]:
    """A whole run: every turn on both paths, repeated, and scored where the gate would score."""
    pool = []
    for s in range(sessions):
        for t in range(turns):
            prompt = (s + 1, t + 1)
            baseline = model.stream(prompt, length, "baseline")
            candidate = model.stream(prompt, length, "candidate")
            differs = candidate.token_ids != baseline.token_ids
            pool.append(
                GreedyTurn(
                    session=f"s{s:03}",
                    turn=f"t{t:03}",
                    candidate=candidate,
                    baseline=baseline,
                    repeat=model.stream(prompt, length, "repeat"),
                    scored_candidate=scored(model, candidate) if differs else None,
                    scored_baseline=scored(model, baseline),
                )
            )
    return pool
