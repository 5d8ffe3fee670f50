"""Answers that are not quite as the protocol has them, and were read all the same.

the candidate sent 12 answers in which call arguments came as an object
"""

from collections import Counter

from traces.journal.exchange import Evidence


def irregular_notes(evidence: Evidence) -> list[str]:
    """One line per path and irregularity: a stricter client than draftgate may stumble there."""
    seen = Counter(
        (exchange.key.path, text) for exchange in evidence for text in exchange.response.irregular
    )
    return [
        f"the {path} sent {count} answers in which {text}"
        for (path, text), count in sorted(seen.items())
    ]
