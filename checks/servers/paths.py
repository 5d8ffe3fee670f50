"""PATHS_DIFFER: the two paths may differ in speculation, in what follows from it, and nothing else.

What a server does not say cannot be compared; it is listed as unverified, never taken for equal.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from checks.findings import PATHS_DIFFER, Finding
from checks.servers.unseen import unseen
from traces.journal.path_facts import PathFacts
from traces.journal.vllm_flags import parse_flags

FLAGS_MAY_DIFFER = frozenset(
    {
        "--port",
        "--speculative-config",
        "--per-request-spec-decode-metrics",
        "--async-scheduling",
        "--no-async-scheduling",
        "--num-gpu-blocks-override",
    }
)
"""The address, the drafter, and what vLLM derives from one."""

CACHE_MAY_DIFFER = frozenset(
    {
        "engine",
        "num_gpu_blocks",
        "num_cpu_blocks",
        "num_gpu_blocks_override",
        "kv_cache_size_tokens",
        "kv_cache_max_concurrency",
    }
)
"""Labels of vLLM's cache_config_info that a drafter changes: it takes a share of the KV blocks."""

ADDRESSES = frozenset({"--port", "engine"})
"""Differences that say nothing of the servers."""

HIDDEN = (
    "drafter flags in effect (only the acceptance reference shows that they are applied)",
    "chat template text",
    "tool and reasoning parser names",
)
"""What no public route of an attached server shows."""


@dataclass(frozen=True, slots=True)
class PathComparison:
    """Differences as findings, and in words what could not be compared. `explained` are those that
    speculation brings: (what, the baseline's, the candidate's)."""

    findings: tuple[Finding, ...]
    unverified: tuple[str, ...]
    explained: tuple[tuple[str, str | None, str | None], ...] = ()


def compare_paths(baseline: Sequence[PathFacts], candidate: Sequence[PathFacts]) -> PathComparison:
    """Compare every server of both paths (one per URL) with the baseline's first.

    One finding per aspect and server that differs; one line per aspect that some server is silent
    on, and per aspect that attached servers never show.
    """
    if not baseline or not candidate:
        raise ValueError("both paths need at least one server")
    first, *others = servers = [*baseline, *candidate]
    attached = [facts for facts in servers if facts.command is None]
    findings: list[Finding] = []
    unverified: list[str] = []
    for aspect, look in ASPECTS:
        known = look(first)
        silent = [f"{facts.path} {facts.url}" for facts in servers if look(facts) is None]
        if silent and aspect != COMMAND_LINE:
            unverified.append(f"{aspect}: not reported by {', '.join(silent)}")
        for other in others:
            left, right = known, look(other)
            if left is None or right is None:
                continue
            if aspect == PARSERS:
                left, right = _reported_by_both(left, right)
            if left != right:
                findings.append(_finding(aspect, first, other, left, right))
    unverified += [line for facts in servers for line in unseen(facts)]
    if attached:
        unverified += [f"{hidden}: attached servers do not tell" for hidden in HIDDEN]
    explained = tuple(_explained(baseline[0], candidate[0]))
    return PathComparison(tuple(findings), tuple(unverified), explained)


def compare_prompts(
    session: str,
    turn: str,
    baseline: Sequence[int] | None,
    candidate: Sequence[int] | None,
) -> Finding | None:
    """PATHS_DIFFER where the two paths made other prompt token ids of the same request."""
    what = "the paths made other prompts of the same request"
    return _other_prompts(session, turn, baseline, candidate, what)


def compare_repeats(
    session: str, turn: str, first: Sequence[int] | None, again: Sequence[int] | None
) -> Finding | None:
    """PATHS_DIFFER where the baseline made other prompt token ids of a request it had before.

    Its template knows more than the request (the time of day, say), so that neither its repeat nor
    the other path's answer is one to the same prompt.
    """
    what = "the baseline made another prompt of the same request when it was sent again"
    return _other_prompts(session, turn, first, again, what)


def _other_prompts(
    session: str, turn: str, left: Sequence[int] | None, right: Sequence[int] | None, what: str
) -> Finding | None:
    if left is None or right is None or tuple(left) == tuple(right):
        return None
    pairs = zip(left, right, strict=False)
    shared = min(len(left), len(right))
    at = next((i for i, (first, second) in enumerate(pairs) if first != second), shared)
    return Finding(
        PATHS_DIFFER,
        f"{what}, from token {at} on",
        session=session,
        turn=turn,
        baseline=f"{len(left)} tokens, … {list(left[at : at + 5])}",
        candidate=f"{len(right)} tokens, … {list(right[at : at + 5])}",
        detail={"first_difference": at},
    )


def compare_fingerprints(path: str, fingerprints: Sequence[str | None]) -> Finding | None:
    """PATHS_DIFFER where one path's `system_fingerprint` changed during the run.

    vLLM hashes its whole configuration into it, so a change means another server answered.
    """
    seen = sorted({fingerprint for fingerprint in fingerprints if fingerprint})
    if len(seen) < 2:
        return None
    message = f"the {path}'s system_fingerprint changed during the run: {', '.join(seen)}"
    return Finding(PATHS_DIFFER, message, detail={"path": path, "fingerprints": seen})


def _finding(aspect: str, first: PathFacts, other: PathFacts, left: Any, right: Any) -> Finding:
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        left, right = _where_other(left, right), _where_other(right, left)
    return Finding(
        PATHS_DIFFER,
        f"{aspect}: {first.path} {first.url} and {other.path} {other.url} differ",
        baseline=str(left),
        candidate=str(right),
        detail={"aspect": aspect, "urls": [first.url, other.url]},
    )


def _explained(
    baseline: PathFacts, candidate: PathFacts
) -> Iterator[tuple[str, str | None, str | None]]:
    """What differs between the first server of each path, and may."""
    known: list[tuple[frozenset[str], Mapping[str, str], Mapping[str, str]]] = []
    if baseline.command is not None and candidate.command is not None:
        known.append((FLAGS_MAY_DIFFER, _parsed(baseline), _parsed(candidate)))
    if baseline.cache is not None and candidate.cache is not None:
        known.append((CACHE_MAY_DIFFER, baseline.cache, candidate.cache))
    for names, left, right in known:
        for name in sorted(names - ADDRESSES):
            if left.get(name) != right.get(name):
                yield name, left.get(name), right.get(name)


def _reported_by_both(
    left: Mapping[str, str], right: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """A sample that one server did not say to its end shows nothing of its parser."""
    both = sorted(left.keys() & right.keys())
    return {name: left[name] for name in both}, {name: right[name] for name in both}


def _where_other(side: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Of a mapping, only the entries that the other has not or has otherwise."""
    return {key: side[key] for key in sorted(side) if other.get(key, ...) != side[key]}


def _flags(facts: PathFacts) -> Mapping[str, str] | None:
    if facts.command is None:
        return None
    return {name: text for name, text in _parsed(facts).items() if name not in FLAGS_MAY_DIFFER}


def _parsed(facts: PathFacts) -> dict[str, str]:
    return {name: " ".join(values) for name, values in parse_flags(facts.command or ()).items()}


def _cache(facts: PathFacts) -> Mapping[str, str] | None:
    if facts.cache is None:
        return None
    return {name: value for name, value in facts.cache.items() if name not in CACHE_MAY_DIFFER}


COMMAND_LINE = "command line"
PARSERS = "parsers (forced outputs)"

ASPECTS: tuple[tuple[str, Callable[[PathFacts], Any]], ...] = (
    ("vLLM version", lambda facts: facts.version),
    ("served models", lambda facts: facts.models),
    ("cache configuration", _cache),
    ("chat template (probe prompt)", lambda facts: facts.probe_ids),
    (PARSERS, lambda facts: facts.parser_probe),
    (COMMAND_LINE, _flags),
)
"""What is compared, by the words the report uses."""
