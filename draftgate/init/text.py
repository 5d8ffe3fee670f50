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
POLICY = ("rate_margin", "success_margin", "min_sessions", "min_turns", "acceptance_floor")
"""Bounds a first run is likely to meet; docs/configuration.md has all of them."""

RULE_OF_THREE = 3.0
HEAD = """\
# What `draftgate gate` replays, on which paths, under which policy. A key that is commented out
# shows its default; docs/configuration.md explains each, `draftgate doctor` says what is missing.
"""

Notes = Mapping[str, Sequence[str]]
"""Key -> lines to say above it."""


def config_text(wanted: Wanted, paths: SeenPaths, sessions: SeenSessions) -> str:
    """The whole file; it is valid as soon as both paths can be reached."""
    parts = [HEAD]
    parts += _section("run", RunSection, *_run(wanted, paths, sessions))
    if not wanted.attached or wanted.model:
        parts += _section("server", ServerSection, *_server(wanted, sessions))
    parts += _section("baseline", PathSection, *_path("baseline", wanted, paths))
    parts += _section("candidate", CandidateSection, *_path("candidate", wanted, paths))
    parts += _section("policy", Policy, {}, _policy(sessions), POLICY)
    return "\n".join(parts) + "\n"


def _run(wanted: Wanted, paths: SeenPaths, sessions: SeenSessions) -> tuple[dict[str, Any], Notes]:
    values: dict[str, Any] = {}
    notes: dict[str, Sequence[str]] = {}
    if wanted.sessions:
        values["sessions"] = wanted.sessions
        notes["sessions"] = [f"seen: {sessions}"]
    for key, known in known_parsers(wanted, paths, sessions).items():
        if known.value:
            values[key] = known.value
        if known.comment:
            notes[key] = [known.comment]
    return values, notes


def _server(wanted: Wanted, sessions: SeenSessions) -> tuple[dict[str, Any], Notes]:
    notes: dict[str, Sequence[str]] = {}
    if sessions.longest_prompt:
        length = -(-(sessions.longest_prompt + 1024) // 4096) * 4096
        notes["flags"] = [
            f'for these sessions: "--max-model-len", "{length}"',
            'for tool calls: "--enable-auto-tool-choice", "--tool-call-parser", "…"',
            'for reasoning: "--reasoning-parser", "…"',
        ]
    given = {"model": wanted.model, "flags": server_flags(wanted)}
    return {key: value for key, value in given.items() if value}, notes


def _path(name: str, wanted: Wanted, paths: SeenPaths) -> tuple[dict[str, Any], Notes]:
    urls = wanted.urls(name)
    values: dict[str, Any] = {"urls": urls} if urls else {}
    notes: dict[str, Sequence[str]] = {}
    if paths.of(name):
        notes["urls"] = [f"seen: {server}" for server in paths.of(name)]
    if wanted.api_key_env and urls:
        values["api_key_env"] = wanted.api_key_env
    if name == "candidate":
        drafter = dict(wanted.speculative_config)
        k = next((s.draft_tokens for s in paths.of(name) if s.draft_tokens), None)
        if k and "num_speculative_tokens" not in drafter:
            drafter["num_speculative_tokens"] = k
            notes["speculative_config"] = [
                "seen: the server's counters have that many draft positions; add the method "
                "(and the drafter's model, to have its configuration compared)"
            ]
        if drafter:
            values["speculative_config"] = drafter
    return values, notes


def _policy(sessions: SeenSessions) -> Notes:
    if not sessions.output_tokens:
        return {}
    policy = Policy()
    needed = round(RULE_OF_THREE * DEFAULT_DEFF / policy.rate_margin)
    margin = RULE_OF_THREE * DEFAULT_DEFF / sessions.output_tokens
    enough = (
        f"seen: about {sessions.output_tokens:,} output tokens; this margin needs {needed:,} "
        f"({RULE_OF_THREE:g} × a design effect of {DEFAULT_DEFF:g} / the margin)"
    )
    if sessions.output_tokens >= needed:
        return {"rate_margin": [enough]}
    short = f"with fewer a run ends inconclusive; what these tokens can show is {margin:.1e}"
    return {"rate_margin": [enough, short]}


def _section(
    name: str,
    model: type[BaseModel],
    values: Mapping[str, Any],
    notes: Notes,
    keys: Sequence[str] = (),
) -> Iterator[str]:
    yield f"[{name}]"
    for key in keys or model.model_fields:
        field = model.model_fields[key]
        for text in (field.description or "", *notes.get(key, ())):
            yield from _comment(text)
        default = field.get_default(call_default_factory=True)
        if key in values:
            yield f"{key} = {toml_value(values[key])}"
        elif default is None:
            yield f"# {key} is not set"
        else:
            yield f"# {key} = {toml_value(default)}"
    yield ""


def toml_value(value: Any) -> str:
    """`value` on one line. A mapping, whose keys are plain words, is an inline table."""
    if isinstance(value, Mapping):
        entries = ", ".join(f"{key} = {toml_value(inner)}" for key, inner in value.items())
        return f"{{ {entries} }}" if entries else "{}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _comment(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="# ", subsequent_indent="#   ")
