"""What a server does not show of its decoding, and what can therefore not be judged.

vLLM before 0.32, gateways in front of it, and servers started without a flag leave fields out. A
run does not begin so unless the user wants it to: what remains is then judged, and the rest listed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from checks.servers.drafting_state import Mismatch, drafting_state
from traces.journal.path_facts import PathFacts

NEWER = "use vLLM 0.32 or later, and nothing in front of it that changes requests or answers"


@dataclass(frozen=True, slots=True)
class Observable:
    """Something a server may not show: what it is, what is not judged without it, how to get it.

    `flag` is vLLM's, where there is one. Without what `stops` no run begins unasked.
    """

    name: str
    cost: str
    lacks: Callable[[PathFacts], bool]
    flag: str = ""
    stops: bool = True


def _lacks_alternatives(facts: PathFacts) -> bool:
    seen = facts.observables
    return seen is not None and seen.alternatives is not None and seen.alternatives < 2


def _lacks(name: str) -> Callable[[PathFacts], bool]:
    return lambda facts: getattr(facts.observables, name) is False


OBSERVABLES = (
    Observable("token ids", "no token codes", _lacks("token_ids")),
    Observable(
        "logprobs with alternatives",
        "no argmax check, no free scoring",
        _lacks_alternatives,
        "--max-logprobs=20",
    ),
    Observable("prompt token ids", "no scoring, prompts not compared", _lacks("prompt_token_ids")),
    Observable("usage", "no token accounting", _lacks("usage")),
    Observable(
        "prompt logprobs",
        "no teacher forcing (lockstep scores instead)",
        _lacks("prompt_logprobs"),
        stops=False,
    ),
    Observable(
        "processed logprobs",
        "no argmax check under penalties, a bias or a grammar",
        _lacks("processed_logprobs"),
        "--logprobs-mode=processed_logprobs",
        stops=False,
    ),
    Observable(
        "cached tokens",
        "no prefix-cache check",
        _lacks("cached_tokens"),
        "--enable-prompt-tokens-details",
    ),
    Observable(
        "per-step speculation metrics",
        "no acceptance by boundary",
        lambda facts: (
            facts.path == "candidate"
            and drafting_state(facts) != "none"
            and _lacks("speculation")(facts)
        ),
        "--per-request-spec-decode-metrics=detailed",
    ),
    Observable(
        "counters on /metrics",
        "whether it drafts is not known",
        lambda facts: facts.path == "baseline" and drafting_state(facts) == "unseen",
    ),
)


def unseen(facts: PathFacts) -> list[str]:
    """One line per missing observable; none where the server was not asked."""
    return [
        f"{missing.name}: {missing.cost} ({facts.path} {facts.url} does not send them)"
        for missing in _missing(facts)
    ]


def judge_shown(servers: Mapping[str, Sequence[PathFacts]]) -> Mismatch | None:
    """Everything that keeps a run from being judged in full, with the flags to add; or None."""
    found = [
        (facts, missing)
        for path in servers.values()
        for facts in path
        for missing in _missing(facts)
        if missing.stops
    ]
    if not found:
        return None
    lines = [f"{f.path} {f.url} does not show {m.name} ({m.cost})" for f, m in found]
    return Mismatch("; ".join(lines), "; ".join((*_starts(found), _go_on(lines))))


def _missing(facts: PathFacts) -> Iterator[Observable]:
    if facts.observables is not None:
        yield from (missing for missing in OBSERVABLES if missing.lacks(facts))


def _starts(found: Iterable[tuple[PathFacts, Observable]]) -> Iterator[str]:
    """Per path the flags to start it with, and what no flag gives."""
    flags: dict[str, dict[str, None]] = {}
    for facts, missing in found:
        flags.setdefault(facts.path, {})[missing.flag] = None
    for path, names in flags.items():
        known = " ".join(name for name in names if name)
        if known:
            yield f"start the {path} with {known}"
    if any("" in names for names in flags.values()):
        yield NEWER


def _go_on(lines: Sequence[str]) -> str:
    what = "it" if len(lines) == 1 else "them"
    return f"or go on without {what}: --allow-missing (`run.allow_missing`)"
