"""What sessions and servers show, as far as a first configuration depends on it."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from checks.servers.paths import compare_paths
from replay.facts.facts import gather_facts
from replay.facts.model_list import ROUTE, first_model
from replay.facts.probes import REASONING
from replay.facts.prometheus import parse_metrics
from replay.sending.endpoint import Endpoint
from traces.counted import counted
from traces.errors import ServerError
from traces.importing.importer import import_files
from traces.importing.inspection import inspect_file
from traces.journal.path_facts import PathFacts

PER_POSITION = "vllm:spec_decode_num_accepted_tokens_per_pos_total"


@dataclass(frozen=True, slots=True)
class SeenSessions:
    """Counts over all files. `output_tokens` and `longest_prompt` are estimates, in tokens;
    `unread` are files that hold nothing to replay, with the reason.
    """

    files: int = 0
    sessions: int = 0
    turns: int = 0
    replayable: int = 0
    tool_calls: int = 0
    output_tokens: int = 0
    longest_prompt: int = 0
    unread: tuple[str, ...] = ()

    def __str__(self) -> str:
        return (
            f"{counted(self.sessions, 'session')} in {counted(self.files, 'file')}, "
            f"{self.replayable:,} of {self.turns:,} turns can be replayed, about "
            f"{self.output_tokens:,} output tokens, longest prompt about {self.longest_prompt:,}"
        )


def look_at(sessions: Sequence[str]) -> SeenSessions:
    """Read every file that `sessions` name. Raises InputError for a path that does not exist."""
    facts = [inspect_file(file) for file in import_files(sessions)] if sessions else []
    names = ("sessions", "turns", "replayable", "tool_calls")
    return SeenSessions(
        files=len(facts),
        **{name: sum(getattr(fact.file.counts, name) for fact in facts) for name in names},
        output_tokens=sum(fact.output_tokens for fact in facts),
        longest_prompt=max((fact.longest_prompt for fact in facts), default=0),
        unread=tuple(f"{f.file.file}: {f.file.reason}" for f in facts if f.file.reason),
    )


@dataclass(frozen=True, slots=True)
class SeenServer:
    """One server's facts, and the number of draft tokens its counters have positions for;
    `problem` where it could not be asked.
    """

    path: str
    url: str
    facts: PathFacts | None = None
    draft_tokens: int | None = None
    problem: str = ""

    @property
    def drafts(self) -> bool | None:
        """Whether it has a drafter; `None` where it does not say."""
        return self.facts.speculation_metrics if self.facts else None

    @property
    def tool_parsers(self) -> list[str]:
        """Families of parsers whose markup it makes tool calls of, by vLLM's names."""
        return [name for name, text in self._probed.items() if json.loads(text)["calls"]]

    @property
    def splits_reasoning(self) -> bool | None:
        """Whether it takes reasoning out of the content; `None` where that was not to be seen."""
        text = self._probed.get(REASONING)
        return None if text is None else bool(json.loads(text)["reasoning"])

    @property
    def _probed(self) -> Mapping[str, str]:
        return (self.facts.parser_probe if self.facts else None) or {}

    def __str__(self) -> str:
        if self.facts is None:
            return f"did not answer: {self.problem}"
        model = next(iter(self.facts.models or ()), None)
        drafter = f"drafts {self.draft_tokens} tokens" if self.draft_tokens else "drafts"
        length = model.max_model_len if model else None
        parts = [
            f"vLLM {self.facts.version or 'of unknown version'}",
            f"model {model.id}" if model else "",
            f"context {length:,} tokens" if length else "",
            {True: drafter, False: "no drafter", None: ""}[self.drafts],
            f"tool calls as {' or '.join(self.tool_parsers)}" if self.tool_parsers else "",
            "reasoning split off" if self.splits_reasoning else "",
        ]
        return ", ".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class SeenPaths:
    """Every server asked, and in what the two paths differ beside the drafter."""

    servers: tuple[SeenServer, ...] = ()
    differences: tuple[str, ...] = ()

    def of(self, path: str) -> list[SeenServer]:
        """The servers of one path."""
        return [server for server in self.servers if server.path == path]

    @property
    def warnings(self) -> list[str]:
        """What would make a run invalid, or was not to be seen."""
        found = [f"{s.path} {s.url} {s}" for s in self.servers if s.problem]
        for server in self.servers:
            if server.path == "baseline" and server.drafts:
                found.append(f"{server.url} has a drafter, and is named as the baseline")
            if server.path == "candidate" and server.drafts is False:
                found.append(f"{server.url} has no drafter, and is named as the candidate")
        return found + list(self.differences)


def ask_servers(urls: Mapping[str, Sequence[str]], api_key: str = "") -> SeenPaths:
    """Ask every URL (by path); one that does not answer is a `problem`, not an error."""

    async def every() -> list[SeenServer]:
        return [await _ask(path, url, api_key) for path, named in urls.items() for url in named]

    servers = asyncio.run(every())
    baseline, candidate = (
        [s.facts for s in servers if s.path == path and s.facts] for path in urls
    )
    found = compare_paths(baseline, candidate).findings if baseline and candidate else ()
    differences = tuple(f"{f.message}: {f.baseline} | {f.candidate}" for f in found)
    return SeenPaths(tuple(servers), differences)


async def _ask(path: str, url: str, api_key: str) -> SeenServer:
    try:
        async with Endpoint(url, api_key=api_key) as server:
            model = first_model(await server.get_json(ROUTE), server.base_url)
            samples = parse_metrics(await server.get_text("/metrics") or "")
        facts = await gather_facts(path, url, model, api_key=api_key)
    except ServerError as error:
        return SeenServer(path, url, problem=f"{error} ({error.fix})")
    places = [s.labels.get("position", "") for s in samples if s.name == PER_POSITION]
    k = max((int(place) + 1 for place in places if place.isdecimal()), default=None)
    return SeenServer(path, url, facts, k)
