"""Does each path do its part: the baseline decodes without a drafter, the candidate with one?

Decided before anything is replayed, by what the servers show of themselves:

    drafts   an answer or the counters show steps that drafted
    idle     a drafter is configured and has drafted nothing yet (n-gram on new text, say)
    none     the server says that it has no drafter
    unseen   it says nothing of it

Whatever else two paths have in common, a run on paths in other states compares nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from traces.journal.path_facts import PathFacts
from traces.journal.vllm_flags import parse_flags

State = Literal["drafts", "idle", "none", "unseen"]
DRAFTING: tuple[State, ...] = ("drafts", "idle")
SPECULATIVE_FLAG = "--speculative-config"

Kind = Literal["gate", "aa"]
"""What a run compares: a candidate with its baseline, or equal paths with each other (A/A)."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why two paths cannot be compared, and what to do about it."""

    message: str
    fix: str


def drafting_state(facts: PathFacts) -> State:
    """What one server shows of its drafter; what it does counts more than how it was started."""
    seen = facts.observables
    if facts.drafts_counted or (seen is not None and seen.drafted):
        return "drafts"
    if facts.speculation_metrics or (seen is not None and seen.drafted is not None):
        return "idle"
    if facts.command is not None and SPECULATIVE_FLAG in parse_flags(facts.command):
        return "idle"
    if facts.speculation_metrics is False or facts.command is not None:
        return "none"
    return "unseen"


def judge_states(servers: Mapping[str, Sequence[PathFacts]], kind: Kind) -> Mismatch | None:
    """Why the servers asked so far cannot be the two paths of a run; None where they can.

    `servers` holds those of one path or of both, by path: what one path shows can be reason enough.
    """
    baseline, candidate = servers.get("baseline", ()), servers.get("candidate", ())
    if kind == "aa":
        return _unequal([*baseline, *candidate])
    drafting = next((f for f in baseline if drafting_state(f) in DRAFTING), None)
    plain = next((f for f in candidate if drafting_state(f) == "none"), None)
    if drafting is None and plain is None:
        return None
    same = next((b.url for b in baseline for c in candidate if same_server(b, c)), None)
    if same is not None:
        return one_server(same)
    return _swapped(drafting, plain, baseline=baseline, candidate=candidate)


def one_server(url: str) -> Mismatch:
    """Both paths lead to the same server."""
    return Mismatch(
        f"both URLs are one server ({url}): it cannot be the baseline and the candidate",
        "start a second server, the same but for the drafter, and name it in the other path's "
        '`urls`; to compare a server with itself, set `kind = "aa"` under [run]',
    )


def _swapped(
    drafting: PathFacts | None,
    plain: PathFacts | None,
    *,
    baseline: Sequence[PathFacts],
    candidate: Sequence[PathFacts],
) -> Mismatch:
    """`drafting` is a baseline with a drafter, `plain` a candidate without one; one is there."""
    if drafting is not None and plain is not None:
        return Mismatch(
            f"the baseline drafts and the candidate does not: are the paths swapped? "
            f"(baseline {_shown(drafting)}; candidate {_shown(plain)})",
            "exchange the URLs of [baseline] and [candidate]",
        )
    if drafting is not None:
        if any(drafting_state(facts) in DRAFTING for facts in candidate):
            return Mismatch(
                f"both paths draft: these are two candidates (baseline {_shown(drafting)})",
                "start the baseline without --speculative-config",
            )
        return Mismatch(
            f"the baseline drafts: are the paths swapped? (baseline {_shown(drafting)})",
            "exchange the URLs of [baseline] and [candidate], or start the baseline without "
            "--speculative-config",
        )
    assert plain is not None
    start = "start the candidate with --speculative-config"
    if baseline and all(drafting_state(facts) == "none" for facts in (*baseline, *candidate)):
        return Mismatch(
            f"neither path has a drafter: these are two baselines (candidate {_shown(plain)})",
            f'{start}; to compare equal paths, set `kind = "aa"` under [run]',
        )
    return Mismatch(f"the candidate has no drafter (candidate {_shown(plain)})", start)


def _unequal(servers: Sequence[PathFacts]) -> Mismatch | None:
    """An A/A run needs paths that all draft, or none of which does."""
    drafting = next((f for f in servers if drafting_state(f) in DRAFTING), None)
    plain = next((f for f in servers if drafting_state(f) == "none"), None)
    if drafting is None or plain is None:
        return None
    return Mismatch(
        f"an A/A run compares equal paths, and only one of these drafts "
        f"({drafting.path} {_shown(drafting)}; {plain.path} {_shown(plain)})",
        'take `kind = "aa"` out of [run] to gate a drafter, or start both servers alike',
    )


def same_server(one: PathFacts, other: PathFacts) -> bool:
    """Whether two URLs lead to one process: it, and its counters, began at the same instant.

    Two processes may start in the same hundredth of a second, which is all the first clock tells;
    the second one, of the counters, is exact, and not every server shows it.
    """
    if one.url == other.url:
        return True
    return (
        one.started_at is not None
        and one.started_at == other.started_at
        and one.counting_since == other.counting_since
    )


def idle_notes(servers: Mapping[str, Sequence[PathFacts]], kind: Kind) -> list[str]:
    """What a reader should know of candidates whose drafter has done nothing yet."""
    if kind == "aa":
        return []
    return [
        f"candidate {facts.url}: a drafter is configured, and drafted nothing in the probes"
        for facts in servers.get("candidate", ())
        if drafting_state(facts) == "idle"
    ]


def _shown(facts: PathFacts) -> str:
    """The server, and what of it shows its state."""
    seen = facts.observables
    if facts.drafts_counted:
        why = f"its counters show {facts.drafts_counted:,.0f} drafts"
    elif seen is not None and seen.drafted:
        why = f"its answers show {seen.drafted:,} drafts"
    elif drafting_state(facts) in DRAFTING:
        why = "a drafter is configured"
    elif facts.speculation_metrics is False:
        why = "it has no counters of speculation"
    else:
        why = f"it was started without {SPECULATIVE_FLAG}"
    return f"{facts.url}: {why}"
