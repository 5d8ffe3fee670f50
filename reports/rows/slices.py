"""Rows about the slices of a run, its routes and its scope."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from checks.run.routes import RouteSums
from checks.run.slices import Slices
from checks.scope import Scope
from checks.slices.regret import RegretSlice
from checks.slices.tests import SliceTest
from traces.journal.arm import SERVED


def slice_rows(run: str, slices: Slices) -> Iterator[dict[str, Any]]:
    """One row per slice that was judged."""
    for one in slices.judged:
        profile = slices.acceptance[one.slice]
        yield {
            "run": run,
            "dimension": one.slice[0],
            "slice": one.slice[1],
            "verdict": one.verdict,
            "turns": one.turns,
            "sessions": one.sessions,
            "errors": one.errors,
            "tests": one.tests,
            **_test("regret", "tokens", "regret_excess", one.rate),
            **_test("tool", "tool_turns", "tool_difference", one.success),
            "acceptance_length": profile.length,
            "acceptance_difference": profile.difference.value,
            "acceptance_low": profile.difference.low,
            "acceptance_high": profile.difference.high,
            "acceptance_change": profile.change,
        }


def regret_rows(run: str, slices: Sequence[RegretSlice]) -> Iterator[dict[str, Any]]:
    """One row per kind of place in the answers."""
    for ordinal, one in enumerate(slices):
        yield {
            "run": run,
            "ordinal": ordinal,
            "dimension": one.part[0],
            "slice": one.part[1],
            "tokens": one.tokens,
            "sessions": one.sessions,
            "mean_regret": one.mean,
            "exceedances": one.exceed,
            "forks": one.forks,
            "noise_tokens": one.noise_tokens,
            "noise_mean_regret": one.noise_mean,
            "noise_exceedances": one.noise_exceed,
            "difference": one.difference.value,
            "low": one.difference.low,
            "high": one.difference.high,
            "change": one.change,
        }


def route_rows(run: str, routes: Mapping[str, RouteSums]) -> Iterator[dict[str, Any]]:
    """One row per served arm."""
    for arm, sums in routes.items():
        yield {"run": run, "arm": arm, "route": SERVED[arm], **asdict(sums)}


def scope_rows(run: str, scope: Scope) -> Iterator[dict[str, Any]]:
    """One row per slice that holds tokens."""
    for ordinal, ((dimension, name), tokens, turns) in enumerate(scope.ordered()):
        yield {
            "run": run,
            "ordinal": ordinal,
            "dimension": dimension,
            "slice": name,
            "tokens": tokens,
            "turns": turns,
            "share": scope.share(dimension, name),
        }


def _test(name: str, count: str, value: str, test: SliceTest | None) -> dict[str, Any]:
    if test is None:
        return {}
    return {
        count: test.n,
        value: test.value,
        f"{name}_limit": test.limit,
        f"{name}_p": test.adjusted_p,
        f"{name}_state": test.state,
    }
