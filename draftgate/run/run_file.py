"""What was planned and what the servers said, kept beside the journals: `run.json`, `paths.json`.

    run.json    {"run": "20261129-150300-7f3a", "version": "0.1.0", "started_at": "2026-…",
                 "config": {…}, "sessions": 24, "turns": 96,
                 "limits": [["s1", "t1", 1024], …], "too_long": [["s2", "t9", "the prompt has …"]],
                 "facts": [{"session": "s1", "turns": [{"turn": "t1", "fidelity": "exact", …}], …}]}
    paths.json  {"baseline": [{"path": "baseline", "url": "http://…", "version": "0.32.0", …}], …}

So that a later judgement knows which turns nobody answered, and a resumed run that it is the same
one. Neither holds a secret: keys are named by their environment variable, values of `server.env`
are left out, and what looks like a secret is replaced.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct, ValidationError, convert, to_builtins

from draftgate.config.config import Config
from draftgate.config.file import laid_over, parse_config
from draftgate.config.overrides import Overrides
from draftgate.run.folder import RunFolder
from draftgate.run.plan import Fitting, Plan
from draftgate.version import VERSION
from traces.errors import ConfigError, InputError
from traces.journal.path_facts import PathFacts
from traces.journal.vllm_flags import without_secrets
from traces.json_bytes import decode_json
from traces.output import write_whole
from traces.redaction.redaction import Redactor
from traces.session.facts import SessionFacts

T = TypeVar("T")

SAME = (
    "run.kind",
    "run.sessions",
    "run.max_sessions",
    "run.max_turns",
    "run.max_tokens",
    "run.plain_share",
    "run.routes",
    "run.route_turns",
    "run.concurrency",
    "run.arms",
    "run.draft_ids",
    "run.seed",
    "run.sampled_seeds",
    "run.sampled_share",
    "run.temperature",
    "run.top_p",
    "run.top_k",
    "arms",
    "server.model",
    "server.served_model_name",
    "server.flags",
    "server.env",
    "baseline.flags",
    "candidate.flags",
    "candidate.speculative_config",
)
"""Keys that decide what the servers are, what they are sent, and how much of it side by side: one
run has one value of each."""

FREE = ("run.output", "run.db", "run.report", "run.timeout_s", "server.start_timeout_s")
"""Keys that change nothing a verdict rests on."""


class RunFile(Struct, frozen=True):
    """`run.json`. `options` are what was given beside the configuration (section -> key -> value),
    `noise_tails` what ``auto`` came to; `limits` holds the `max_tokens` of every turn that fits the
    servers, `facts` what the recording says of every session; an older version wrote none."""

    run: str
    version: str
    started_at: str
    config: dict[str, Any]
    sessions: int
    turns: int
    options: Overrides = {}
    noise_tails: str = ""
    limits: list[tuple[str, str, int]] = []
    too_long: list[tuple[str, str, str]] = []
    facts: list[SessionFacts] = []


def write_run(
    folder: RunFolder,
    config: Config,
    plan: Plan,
    started: datetime,
    fitting: Fitting,
    *,
    options: Overrides | None = None,
    noise_tails: str = "",
) -> None:
    """Write `run.json`, again where more is known; `config` is as it was given."""
    file = RunFile(
        run=folder.run,
        version=VERSION,
        started_at=started.isoformat(),
        config=_shown(config),
        sessions=len(plan.sessions),
        turns=plan.turns,
        options=options or {},
        noise_tails=noise_tails,
        limits=[(*turn, limit) for turn, limit in fitting.limits.items()],
        too_long=[(*turn, reason) for turn, reason in fitting.too_long.items()],
        facts=[_without_secrets(session) for session in plan.facts],
    )
    _write(folder.plan, to_builtins(file))


def read_run(folder: RunFolder) -> RunFile | None:
    """What was planned; None where no gate has begun in this folder. Raises InputError."""
    return _read(folder.plan, RunFile)


def begun_config(begun: RunFile) -> Config:
    """The configuration a run was begun with, but for what `run.json` does not hold.

    Raises ConfigError where this version of draftgate does not know a key of it.
    """
    shown = {**begun.config, "server": {**begun.config.get("server", {}), "env": {}}}
    if begun.noise_tails:
        shown["policy"] = {**begun.config.get("policy", {}), "noise_tails": begun.noise_tails}
    try:
        return parse_config(shown, f"run {begun.run}, run.json")
    except ConfigError as error:
        raise ConfigError(str(error), "name a configuration with -c") from None


def begun_options(folder: RunFolder, given: Overrides) -> Overrides:
    """The options a run was begun with, under those `given` now: a resumed run needs none again."""
    begun = read_run(folder)
    return given if begun is None else laid_over(begun.options, given)


def begun_fitting(begun: RunFile) -> Fitting:
    """Which turns fitted the servers, as far as the run got to know."""
    return Fitting(
        limits={(session, turn): limit for session, turn, limit in begun.limits},
        too_long={(session, turn): reason for session, turn, reason in begun.too_long},
    )


def write_facts(folder: RunFolder, facts: Mapping[str, Sequence[PathFacts]]) -> None:
    """Write `paths.json`."""
    said = {path: [asdict(server) for server in servers] for path, servers in facts.items()}
    _write(folder.paths, Redactor().value(said))


def read_facts(folder: RunFolder) -> dict[str, list[PathFacts]]:
    """What the servers of each path said; empty where it is not on file. Raises InputError."""
    return _read(folder.paths, dict[str, list[PathFacts]]) or {}


def changes_since(folder: RunFolder, config: Config) -> list[str]:
    """What a resumed run sets otherwise than it was begun with, as notes.

    Raises ConfigError where it would no longer be the same run.
    """
    begun = read_run(folder)
    if begun is None:
        return []
    defaults = dict(_flat(_shown(Config.model_construct())))
    then, now = dict(_flat(begun.config)), dict(_flat(_shown(config)))
    known = {**{key: value for key, value in defaults.items() if key in now}, **then}
    changed = [key for key in {**then, **now} if known.get(key) != now.get(key)]
    words = {key: f"{key} was {_word(then, key)}, is {_word(now, key)}" for key in changed}
    other = [words[key] for key in changed if _within(key, SAME)]
    if other:
        raise ConfigError(
            f"{folder.root}: the run was begun with another configuration: {'; '.join(other)}",
            "resume it with the configuration it was begun with, or begin a new run",
        )
    return [f"resumed: {words[key]}" for key in changed if not _within(key, FREE)]


def _without_secrets(facts: SessionFacts) -> SessionFacts:
    """What the judgement needs of a session; its name is that in the journals."""
    redactor = Redactor()
    return replace(
        facts, source=redactor.value(facts.source), tags=redactor.value(dict(facts.tags))
    )


def _shown(config: Config) -> dict[str, Any]:
    shown: dict[str, Any] = config.model_dump(mode="json")
    shown["server"]["env"] = sorted(config.server.env)
    for section in ("server", "baseline", "candidate"):
        shown[section]["flags"] = list(without_secrets(shown[section]["flags"]))
    redacted: dict[str, Any] = Redactor().value(shown)
    return redacted


def _flat(value: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, inner in value.items():
        if isinstance(inner, dict) and inner:
            yield from _flat(inner, f"{before}{key}.")
        else:
            yield f"{before}{key}", inner


def _within(key: str, names: Sequence[str]) -> bool:
    return any(key == name or key.startswith(f"{name}.") for name in names)


def _word(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    return "not set" if value is None else json.dumps(value, ensure_ascii=True)[:80]


def _write(file: Path, value: Any) -> None:
    write_whole(file, json.dumps(value, indent=1) + "\n")


def _read(file: Path, kind: type[T]) -> T | None:
    if not file.exists():
        return None
    try:
        return convert(decode_json(file.read_bytes()), kind)
    except (ValidationError, ValueError, RecursionError) as error:
        raise InputError(
            f"{file}: is not what a gate writes there ({error!s:.200})",
            "restore it from a copy, or take it away",
        ) from None
