"""Writing a first configuration, and saying what was found on the way."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checks.excerpt import printable
from draftgate.init.parsers import known_parsers
from draftgate.init.seen import SeenPaths, SeenSessions, ask_servers, look_at
from draftgate.init.text import config_text
from draftgate.init.wanted import Wanted
from traces.errors import ConfigError
from traces.output import write_whole


@dataclass(frozen=True, slots=True)
class Written:
    """The file, and what stands behind it."""

    file: Path
    wanted: Wanted
    paths: SeenPaths
    sessions: SeenSessions

    @property
    def warnings(self) -> list[str]:
        """What a run would stumble over."""
        found = [f"{text}; it is left out" for text in self.sessions.unread]
        if self.wanted.sessions and not self.sessions.replayable:
            found.append("no turn of these sessions can be replayed")
        return [printable(text) for text in (*found, *self.paths.warnings)]

    @property
    def open(self) -> list[str]:
        """What is still to be filled in: a gate cannot run, or judges less, without it."""
        wanted, parsers = self.wanted, known_parsers(self.wanted, self.paths, self.sessions)
        missing = [] if wanted.sessions else ["`run.sessions`"]
        if not wanted.model:
            unreachable = [name for name in ("baseline", "candidate") if not wanted.urls(name)]
            missing += [f"`{name}.urls` (or `server.model`)" for name in unreachable]
        elif not wanted.candidate_urls and not wanted.speculative_config:
            missing.append("`candidate.speculative_config`")
        if wanted.model and self.sessions.tool_calls and not wanted.tool_parser:
            missing.append("`server.flags` (--tool-call-parser)")
        return missing + [f"`run.{key}`" for key, known in parsers.items() if known.missed]

    def lines(self) -> Iterator[str]:
        """For people."""
        if self.wanted.sessions:
            yield f"sessions: {self.sessions}"
        for server in self.paths.servers:
            yield printable(f"{server.path}: {server.url}: {server}")
        yield f"wrote {self.file}"
        if self.open:
            yield f"still to fill in: {', '.join(self.open)}"
        yield f"next: draftgate doctor -c {self.file}, then draftgate gate -c {self.file}"

    def as_json(self) -> dict[str, Any]:
        """For ``--json``."""
        sessions = self.sessions
        return {
            "file": str(self.file),
            "sessions": {
                "sessions": sessions.sessions,
                "turns": sessions.turns,
                "replayable": sessions.replayable,
                "output_tokens": sessions.output_tokens,
                "longest_prompt": sessions.longest_prompt,
            },
            "servers": [
                {
                    "path": server.path,
                    "url": server.url,
                    "version": server.facts.version if server.facts else None,
                    "model": server.facts.models[0].id
                    if server.facts and server.facts.models
                    else None,
                    "draft_tokens": server.draft_tokens,
                    "tool_parsers": server.tool_parsers,
                    "splits_reasoning": server.splits_reasoning,
                    "problem": server.problem or None,
                }
                for server in self.paths.servers
            ],
            "warnings": self.warnings,
            "open": self.open,
        }


def write_config(file: Path, wanted: Wanted, *, ask: bool, force: bool) -> Written:
    """Look at the sessions, ask the endpoints where `ask`, write `file`.

    Raises ConfigError where the file exists and `force` is not set, InputError for sessions that
    are not there. A server that does not answer is a warning.
    """
    if file.exists() and not force:
        raise ConfigError(f"{file}: exists already", "--force overwrites it, -o names another file")
    sessions = look_at(wanted.sessions)
    urls = {path: wanted.urls(path) for path in ("baseline", "candidate")}
    key = os.environ.get(wanted.api_key_env, "") if wanted.api_key_env else ""
    paths = ask_servers(urls, key) if ask and wanted.attached else SeenPaths()
    write_whole(file, config_text(wanted, paths, sessions))
    return Written(file, wanted, paths, sessions)
