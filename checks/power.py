"""What a run of this size could have seen."""

import math
from collections.abc import Sequence

LEVEL = 0.95


def detectable_rate(tokens: int) -> float | None:
    """Smallest rate per token, spread evenly over sessions, seen at least once with 95%; or of
    sessions, the smallest share of them.

        1 - 0.05^(1 / n)      (rule of three: about 3.0 / n)

    1e-3 needs 2,995 tokens, 1e-4 needs 29,956.
    """
    if tokens <= 0:
        return None
    return float(-math.expm1(math.log(1 - LEVEL) / tokens))


def token_statement(
    tokens: int, sessions: int, unsure: str | None, shown: Sequence[tuple[float, float]]
) -> str:
    """One sentence for the report about wrong tokens.

    A fault that any session may meet shows once by its rate per token; one that keeps to some
    sessions by their share alone, however many tokens it spoils there. `unsure` says why no single
    token condemns, `None` where one does; then counts do: `shown` are (regret in nat, rate per
    token) that would have failed.
    """
    rate = detectable_rate(tokens)
    if rate is None:
        return "no greedy token was judged"
    if unsure is not None:
        counted = "and no number of them"
        if shown:
            regret, rate = min(shown, key=lambda one: one[1])
            counted = f"one in {1 / rate:,.0f} above {regret:g} nat, in three sessions or more"
            counted += ", would have"
        return f"a single wrong token would not have failed, since {unsure}; {counted}"
    confined = detectable_rate(sessions) or 1.0
    return (
        f"one wrong token in {1 / rate:,.0f} would have shown at least once if spread over "
        f"sessions (95%); confined to sessions, where at least {confined:.0%} of "
        "them have one"
    )
