"""Rows about what the servers gave: captures, tokens, steps, drafted positions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from checks.acceptance.steps import Steps, Unaligned
from checks.servers.timing import Timing, timing_of
from checks.sessions.reading import Reading
from checks.tokens.argmax import TOLERANCE, below_best
from checks.tokens.regret import SHAPES, Regrets
from reports.rows.columns import Columns, Values
from reports.rows.redacted import Redact, redacted_texts
from traces.boundaries.label import LABELS
from traces.coded import NONE, Coded
from traces.journal.exchange import Exchange
from traces.partial import Partial
from traces.wire.tokens import UNKNOWN, Tokens


def key_of(exchange: Exchange) -> dict[str, Any]:
    """The columns that name a capture."""
    key = exchange.key
    return {
        "run": key.run,
        "path": key.path,
        "arm": key.arm,
        "session": key.session,
        "turn": key.turn,
        "attempt": key.attempt,
    }


@dataclass(slots=True)
class ExchangeRows:
    """Collects the rows of all captures of a run."""

    redact: Redact
    captures: list[dict[str, Any]] = field(default_factory=list)
    tokens: Columns = field(default_factory=lambda: Columns("tokens"))
    steps: Columns = field(default_factory=lambda: Columns("steps"))
    positions: Columns = field(default_factory=lambda: Columns("draft_positions"))

    def add(
        self,
        reading: Reading,
        regrets: Sequence[Regrets],
    ) -> None:
        """One capture; `regrets` cover its tokens as the baseline sees them."""
        key = key_of(reading.exchange)
        self.captures.append({**key, **_capture(reading)})
        self._add_tokens(key, reading, regrets)
        if isinstance(reading.steps, Steps):
            self._add_steps(key, reading, reading.steps)
        positions = reading.positions
        if positions is not None and len(positions):
            alike = {"template": positions.template, "cached": positions.cached}
            self.positions.add(len(positions), {**key, **alike}, positions.columns())

    def _add_tokens(
        self,
        key: Mapping[str, Any],
        reading: Reading,
        regrets: Sequence[Regrets],
    ) -> None:
        tokens = Tokens.of(reading.exchange.response.tokens or ())
        if not len(tokens):
            return
        values, shapes = _regret_columns(len(tokens), regrets)
        columns: dict[str, Values] = {
            "token_index": np.arange(len(tokens)),
            "id": Partial(tokens.ids, tokens.ids != UNKNOWN),
            "logprob": Partial(tokens.logprobs, tokens.scored),
            "is_argmax": _is_argmax(tokens),
            "regret": values,
            "regret_shape": shapes,
        }
        if reading.texts is not None:
            columns["text"] = redacted_texts(reading.texts, self.redact)
        if reading.labels is not None:
            columns["label"] = reading.labels.names
            columns["language"] = reading.labels.languages
        if isinstance(reading.steps, Steps):
            columns["step"] = reading.steps.of_token
        self.tokens.add(len(tokens), key, columns)

    def _add_steps(self, key: Mapping[str, Any], reading: Reading, steps: Steps) -> None:
        chosen = np.flatnonzero(steps.reported)
        if not len(chosen):
            return
        first = steps.first[chosen]
        columns: dict[str, Values] = {
            "step": chosen,
            "drafted": steps.drafted[chosen],
            "accepted": steps.accepted[chosen],
            "committed": steps.committed[chosen],
            "first_token": first,
        }
        if reading.labels is not None:
            columns["label"] = Coded(reading.labels.labels[first], LABELS)
        self.steps.add(len(chosen), key, columns)


def _capture(reading: Reading) -> dict[str, Any]:
    exchange, response = reading.exchange, reading.exchange.response
    usage, steps = response.usage, reading.steps
    timing: Timing = timing_of(response)
    accepted = response.speculation.accepted if response.speculation else None
    unaligned = steps if isinstance(steps, Unaligned) else None
    return {
        "route": exchange.route,
        "status": response.status,
        "ended": exchange.ended,
        "finish_reason": response.finish_reason,
        "sent_at": exchange.sent_at,
        "prompt_tokens": usage.prompt if usage else None,
        "completion_tokens": usage.completion if usage else None,
        "cached_tokens": usage.cached if usage else None,
        "ttft_ms": timing.ttft_ms,
        "tpot_ms": timing.tpot_ms,
        "duration_ms": exchange.ended_ms,
        "max_gap_ms": timing.max_gap_ms,
        "chunks": len(response.chunks),
        "bytes": exchange.bytes,
        "drafter_steps": None if accepted is None else len(accepted),
        "aligned": None if steps is None else unaligned is None,
        "unaligned_reason": unaligned.message if unaligned else None,
        "error": exchange.error,
    }


def _is_argmax(tokens: Tokens) -> Partial:
    """Whether each token is the best of its own list; missing where that is unknown."""
    gaps = below_best(tokens)
    return Partial(gaps <= TOLERANCE, ~np.isnan(gaps))


def _regret_columns(count: int, regrets: Sequence[Regrets]) -> tuple[Partial, Coded]:
    values, shapes = np.zeros(count), np.full(count, NONE, np.int8)
    for part in regrets:
        span = slice(part.start, part.start + len(part))
        values[span] = part.values
        shapes[span] = SHAPES.index(part.shape)
    return Partial(values, shapes != NONE), Coded(shapes, SHAPES)
