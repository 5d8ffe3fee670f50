"""How often a sound run may fail by chance: one budget, and every test that draws on it.

    level("tool_success") -> 0.001        p at or below it fails the run

A run asks many questions, and any of them may say `fail`. By the union bound a sound run fails with
probability at most the sum of their levels, `TOTAL` of them all together: one run in a hundred. A
test takes its level from here; several questions inside one share are adjusted by the test itself
(Holm or Bonferroni).

A new test that can fail a run gets a line in `SHARES`, out of what `spare` still holds. A bound or
code that compares without chance (a count that must be zero, text that must be equal) gets its name
in `EXACT_BOUNDS`; a code, in `EXACT_CODES`. `tests/checks/test_alpha.py` fails on one that has none
of these.

One rule has no level: a single token far beyond the baseline's largest regret, on a target whose
tails are known to be light (`checks.greedy.noise`). It stands with the ladder, and is not bounded
by its share: docs/evidence.md says how often it failed sound runs in simulation.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from checks import findings as f

TOTAL = 0.01
"""Most sound runs that may fail by chance, as a share."""


@dataclass(frozen=True, slots=True)
class Share:
    """A part of the budget: `level` is the chance that a sound run fails by it.

    `bounds` and `codes` are what it can fail a run by; `question` is what is asked, for people.
    """

    name: str
    level: float
    question: str
    bounds: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()


SHARES = (
    Share(
        "regret_ladder",
        0.001,
        "seven thresholds in either shape and both (Holm); one token far out, of light tails",
        ("greedy_regret_ladder",),
        (f.REGRET_RATE, f.GREEDY_DIVERGENCE),
    ),
    Share(
        "regret_rate",
        0.0005,
        "regrets above the soft bound: counts and sign-flip test, half of it each",
        ("greedy_regret_rate",),
        (f.REGRET_RATE,),
    ),
    Share(
        "small_regrets",
        0.0005,
        "mean regret and fork rate against a floor in verify shape, half of it each",
        ("greedy_small_regrets",),
        (f.REGRET_RATE,),
    ),
    Share(
        "further_arms",
        0.001,
        "the three above in every further arm, Bonferroni over the arms",
        ("greedy_regret_ladder", "greedy_regret_rate"),
        (f.REGRET_RATE, f.GREEDY_DIVERGENCE),
    ),
    Share(
        "sampled_process",
        0.001,
        "the e-process over sampled tokens, by Ville's inequality",
        ("sampled_evidence",),
        (f.SAMPLED_SHIFT,),
    ),
    Share(
        "sampled_tests",
        0.001,
        "surprisal, smooth components, tail count and drafts, Holm-adjusted",
        ("sampled_evidence",),
        (f.SAMPLED_SHIFT,),
    ),
    Share(
        "tool_success",
        0.001,
        "tool calls lost beyond the margin, by turns and by sessions",
        ("tool_success",),
        (f.TOOL_SUCCESS_INFERIOR,),
    ),
    Share(
        "call_agreement",
        0.0003,
        "calls changed beyond the margin and the baseline's own changes, by sessions",
        ("call_agreement",),
        (f.CALLS_CHANGED,),
    ),
    Share(
        "answers_shifted",
        0.0004,
        "rates of calls, lengths and ends where words cannot be compared, Bonferroni",
        codes=(f.ANSWERS_SHIFTED,),
    ),
    Share(
        "scores_shifted",
        0.0003,
        "scores of equal tokens against rounding, all tokens and three places, Bonferroni",
        codes=(f.LOGPROBS_SHIFTED,),
    ),
    Share(
        "slices",
        0.001,
        "regret rate and tool success of every slice, Holm-adjusted (`slice_p`)",
        codes=(f.REGRET_RATE, f.TOOL_SUCCESS_INFERIOR),
    ),
    Share(
        "acceptance_loss",
        0.001,
        "acceptance lost against a reference: half over all, half over the boundaries (Bonferroni)",
        ("acceptance_loss",),
        (f.ACCEPTANCE_LOSS,),
    ),
    Share(
        "acceptance_reference",
        0.001,
        "shares of the profile against the reference's, Bonferroni over all of them",
        codes=(
            f.ACCEPTANCE_DEAD,
            f.ACCEPTANCE_COLLAPSE,
            f.ACCEPTANCE_STICKY,
            f.ACCEPTANCE_DEPTH_DECAY,
        ),
    ),
)
"""In the order of the report."""

_LEVELS = {share.name: share.level for share in SHARES}


def level(name: str) -> float:
    """The level of a share. Raises KeyError where the budget has none of this name."""
    return _LEVELS[name]


def spent(shares: Iterable[Share] = SHARES) -> float:
    """The sum of the levels: the most sound runs that fail by chance."""
    return sum(share.level for share in shares)


def spare() -> float:
    """What is left of the budget for tests to come."""
    return TOTAL - spent()


EXACT_BOUNDS = frozenset({"candidate_argmax"})
"""Bounds that fail a run by what chance cannot do: a greedy token that is not the best of its own
list."""

DEMANDED_BOUNDS = frozenset({"mean_acceptance_length"})
"""Bounds that compare with a number the policy demands, and are absent without one: what fails them
is no fault of equivalence. Two-sided 95% intervals."""

EXACT_FAMILIES = frozenset({f.SETUP, f.TRANSPORT, f.CONTENT, f.TOOL_CALLS})
"""Families whose codes compare without chance, equal or not, valid or not; but for a code that
has a share."""

EXACT_CODES = frozenset(
    {
        f.NEAR_TIE_FORK,
        f.SAMPLER_NOT_ARGMAX,
        f.DUPLICATED_TOKEN,
        f.DROPPED_TOKEN,
        f.DEGENERATE_REPETITION,
        f.CROSS_REQUEST_LEAK,
        f.PREMATURE_EOS,
        f.MIN_TOKENS_IGNORED,
        f.LOGIT_BIAS_IGNORED,
        f.METRIC_NOT_MONOTONE,
        f.METRIC_SUM,
        f.PREFIX_CACHE_LOST,
    }
)
"""Codes of the other families that do."""
