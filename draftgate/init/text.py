"""The text of a first `draftgate.toml`: every key with its meaning, what was seen beside it.

[run]
# files, folders or globs of recorded sessions
# seen: 26 sessions in 16 files, 349 of 349 turns can be replayed, …
sessions = ["traces/samples"]
# sessions replayed side by side, on each path
# concurrency = 4
"""

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from checks.greedy.rate_table import DEFAULT_DEFF
from checks.policy import Policy
from draftgate.config.config import CandidateSection, PathSection, RunSection, ServerSection
from draftgate.init.parsers import known_parsers, server_flags
from draftgate.init.seen import SeenPaths, SeenSessions
from draftgate.init.wanted import Wanted

WIDTH = 96
RULE_OF_THREE = 3.0
HEAD = """\
# What `draftgate gate` replays, on which paths, under which policy. A key that is commented out
# shows its default; `draftgate docs configuration` explains each, `draftgate doctor` says
# what is missing.
"""
SECTIONS: Mapping[str, type[BaseModel]] = {
    "run": RunSection,
    "server": ServerSection,
    "baseline": PathSection,
    "candidate": CandidateSection,
    "policy": Policy,
}

Keys = Mapping[str, Mapping[str, Any]]
"""Section -> key -> what to write there."""


def config_text(wanted: Wanted, paths: SeenPaths, sessions: SeenSessions) -> str:
    """The whole file; it is valid as soon as both paths can be reached."""
    values, notes = _values(wanted, paths, sessions), _notes(wanted, paths, sessions)
    left_out = "server" if wanted.attached and not wanted.model else ""
    lines = [
        line for name in SECTIONS if name != left_out for line in _section(name, values, notes)
    ]
    return "\n".join([HEAD, *lines]) + "\n"


def _values(wanted: Wanted, paths: SeenPaths, sessions: SeenSessions) -> Keys:
    parsers = known_parsers(wanted, paths, sessions)
    k = wanted.draft_tokens or _draft_tokens(paths)
    drafting = wanted.speculative_config | ({"num_speculative_tokens": k} if k else {})
    baseline, candidate = (
        {"urls": urls, "api_key_env": wanted.api_key_env if urls else ""}
        for urls in (wanted.baseline_urls, wanted.candidate_urls)
    )
    return {
        "run": {"sessions": wanted.sessions, **{key: one.value for key, one in parsers.items()}},
        "server": {"model": wanted.model, "flags": server_flags(wanted)},
        "baseline": baseline,
        "candidate": {**candidate, "speculative_config": drafting},
        "policy": {},
    }


def _notes(wanted: Wanted, paths: SeenPaths, sessions: SeenSessions) -> Keys:
    """Lines to say above a key."""
    parsers = known_parsers(wanted, paths, sessions).items()
    notes: dict[str, dict[str, Sequence[str]]] = {
        "run": {key: [one.comment] for key, one in parsers if one.comment},
        "server": {},
        "baseline": {"urls": [f"seen: {server}" for server in paths.of("baseline")]},
        "candidate": {"urls": [f"seen: {server}" for server in paths.of("candidate")]},
        "policy": {},
    }
    if wanted.sessions:
        notes["run"]["sessions"] = [f"seen: {sessions}"]
    if sessions.longest_prompt:
        length = -(-(sessions.longest_prompt + 1024) // 4096) * 4096
        notes["server"]["flags"] = [
            f'for these sessions: "--max-model-len", "{length}"',
            'for tool calls: "--enable-auto-tool-choice", "--tool-call-parser", "…"',
            'for reasoning: "--reasoning-parser", "…"',
        ]
    if _draft_tokens(paths) and not wanted.draft_tokens:
        notes["candidate"]["speculative_config"] = [
            "seen: the server's counters have that many draft positions; add the method "
            "(and the drafter's model, to have its configuration compared)"
        ]
    if sessions.output_tokens:
        notes["policy"]["rate_margin"] = _rate_margin(sessions.output_tokens)
    return notes


def _draft_tokens(paths: SeenPaths) -> int | None:
    return next((s.draft_tokens for s in paths.of("candidate") if s.draft_tokens), None)


def _rate_margin(tokens: int) -> list[str]:
    needed = round(RULE_OF_THREE * DEFAULT_DEFF / Policy().rate_margin)
    enough = (
        f"seen: about {tokens:,} output tokens; this margin needs {needed:,} "
        f"({RULE_OF_THREE:g} × a design effect of {DEFAULT_DEFF:g} / the margin)"
    )
    shown = RULE_OF_THREE * DEFAULT_DEFF / tokens
    short = f"with fewer a run ends inconclusive; what these tokens can show is {shown:.1e}"
    return [enough] if tokens >= needed else [enough, short]


def _section(name: str, values: Keys, notes: Keys) -> Iterator[str]:
    """One line per key; what is empty is shown by its default, commented out."""
    yield f"[{name}]"
    for key, field in SECTIONS[name].model_fields.items():
        for text in (field.description or "", *notes[name].get(key, ())):
            yield from textwrap.wrap(text, WIDTH, initial_indent="# ", subsequent_indent="#   ")
        default = field.get_default(call_default_factory=True)
        if values[name].get(key):
            yield f"{key} = {toml_value(values[name][key])}"
        else:
            yield f"# {key} is not set" if default is None else f"# {key} = {toml_value(default)}"
    yield ""


def toml_value(value: Any) -> str:
    """`value` on one line. A mapping, whose keys are plain words, is an inline table."""
    if isinstance(value, Mapping):
        entries = ", ".join(f"{key} = {toml_value(inner)}" for key, inner in value.items())
        return f"{{ {entries} }}" if entries else "{}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
