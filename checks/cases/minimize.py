"""Make a case scenario as small as it can be while it still shows the same.

Whole parts are tried first (history, tools, tokens, neighbours), then single fields. A cut is kept
where the judgement of what is left still satisfies the judge.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

Scenario = dict[str, Any]
Shows = Callable[[Scenario], bool]
Path = tuple[str | int, ...]

BULK: tuple[Path, ...] = (
    ("candidate", "neighbours"),
    ("candidate", "step_tokens"),
    ("candidate", "chunk_times_ms"),
    ("candidate", "raw_text"),
    ("candidate", "tokens"),
    ("baseline", "tokens"),
    ("baseline", "message"),
    ("baseline",),
    ("context",),
    ("request", "tools"),
)
"""Parts that are left out whole where they are not needed."""


WORK = 20_000_000
"""Characters of scenarios judged for one case, so that a huge answer costs no more than any other:
thousands of tries on a usual turn, twenty on one of a million characters."""


def minimized(scenario: Scenario, judge: Shows) -> Scenario:
    """The smallest scenario found within `WORK`; `scenario` itself must satisfy `judge`."""
    shows = Budgeted(judge, scenario)
    for messages in _histories(scenario):
        smaller = _with(scenario, ("request", "messages"), messages)
        if shows(smaller):
            scenario = smaller
            break
    for path in BULK:
        scenario = _try_without(scenario, path, shows)
    scenario = _without_blocks(scenario, shows)
    for path in list(_details(scenario)):
        if shows.spent:
            break
        scenario = _try_without(scenario, path, shows)
    return scenario


def _without_blocks(scenario: Scenario, shows: Shows) -> Scenario:
    """Runs of chunks left out, ever shorter ones: what a long stream does not need goes in a few
    tries."""
    where: Path = ("candidate", "chunks")
    size = len((scenario.get("candidate") or {}).get("chunks") or []) // 2
    while size > 1:
        chunks = scenario["candidate"]["chunks"]
        for start in reversed(range(0, len(chunks), size)):
            fewer = chunks[:start] + chunks[start + size :]
            smaller = _with(scenario, where, fewer)
            if shows(smaller):
                scenario, chunks = smaller, fewer
        size //= 2
    return scenario


class Budgeted:
    """`judge`, which says no once as much has been judged as `WORK` allows."""

    def __init__(self, shows: Shows, scenario: Scenario) -> None:
        self._shows = shows
        self._left = WORK
        self._size = _size(scenario)

    @property
    def spent(self) -> bool:
        return self._left < 0

    def __call__(self, scenario: Scenario) -> bool:
        self._left -= self._size
        if self._left < 0 or not self._shows(scenario):
            return False
        self._size = _size(scenario)
        return True


def _size(scenario: Scenario) -> int:
    return len(json.dumps(scenario))


def _histories(scenario: Scenario) -> Iterator[list[Any]]:
    """Ever longer ends of the history, the empty one first."""
    messages = (scenario.get("request") or {}).get("messages") or []
    size = 0
    while size < len(messages):
        yield messages[len(messages) - size :]
        size = max(1, 2 * size)


def _details(scenario: Scenario) -> Iterator[Path]:
    """Single entries, the last of a list first, so that earlier indices stay right."""
    for name in list(scenario.get("request") or {}):
        if name != "messages":
            yield ("request", name)
    for where in (("request", "tools"), ("candidate", "neighbours"), ("candidate", "chunks")):
        entries = (scenario.get(where[0]) or {}).get(where[1]) or []
        for index in reversed(range(len(entries))):
            yield (*where, index)
    for side in ("baseline", "candidate"):
        for index, token in reversed(list(enumerate((scenario.get(side) or {}).get("tokens", [])))):
            if token.get("top_logprobs"):
                yield (side, "tokens", index, "top_logprobs")
        for name in list(scenario.get(side) or {}):
            yield (side, name)


def _try_without(scenario: Scenario, path: Path, shows: Shows) -> Scenario:
    smaller = _without(scenario, path)
    return smaller if smaller is not None and shows(smaller) else scenario


def _with(value: Any, path: Path, new: Any) -> Any:
    if not path:
        return new
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _with(value[path[0]], path[1:], new)
    return copy


def _without(value: Any, path: Path) -> Any:
    """A copy without the entry at `path`; `None` where there is no such entry."""
    key: Any = path[0]
    there = key in value if isinstance(value, dict) else key < len(value)
    if not there:
        return None
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    if len(path) == 1:
        del copy[key]
        return copy
    inner = _without(value[key], path[1:])
    if inner is None:
        return None
    copy[key] = inner
    return copy
