"""What a run of this size could have seen."""

import math

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


def token_statement(tokens: int, sessions: int, off: str | None) -> str:
    """One sentence for the report about single wrong tokens.

    A fault that any session may meet shows once by its rate per token; one that keeps to some
    sessions by their share alone, however many tokens it spoils there. `off` says why no single
    token condemns, `None` where one does.
    """
    rate = detectable_rate(tokens)
    if rate is None:
        return "no greedy token was judged"
    if off is not None:
        return f"a single wrong token would not have shown: {off}"
    confined = detectable_rate(sessions) or 1.0
    return (
        f"one wrong token in {1 / rate:,.0f} would have shown at least once if spread over "
        f"sessions (95%); confined to sessions, where at least {confined:.0%} of "
        "them have one"
    )
