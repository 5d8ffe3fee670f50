"""Were both paths asked the same? Two answers compare only if the requests do."""

from collections.abc import Mapping
from typing import Any

from checks import findings as f
from checks.findings import Finding

MAY_DIFFER = frozenset({"model", "cache_salt", "request_id", "user", "stream_options"})
"""Fields of a request that change no token: names, the prefix cache's salt, what usage is sent."""


def compare_requests(
    session: str, turn: str, baseline: Mapping[str, Any], candidate: Mapping[str, Any]
) -> Finding | None:
    """PATHS_DIFFER where a field that bears on the tokens differs; its value is not shown."""
    names = (set(baseline) | set(candidate)) - MAY_DIFFER
    other = sorted(name for name in names if baseline.get(name) != candidate.get(name))
    if not other:
        return None
    return Finding(
        f.PATHS_DIFFER,
        f"the two paths were sent other requests of the same turn: {', '.join(other)}",
        detail={"fields": other},
    ).at(session, turn)
