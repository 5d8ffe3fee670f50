"""Asking the endpoints of a first configuration what they are."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from checks.servers.paths import PathComparison, compare_paths
from replay.facts.facts import gather_facts
from replay.facts.model_list import ROUTE, first_model
from replay.facts.probes import REASONING
from replay.facts.prometheus import parse_metrics
from replay.sending.endpoint import Endpoint
from traces.errors import ServerError
from traces.journal.path_facts import PathFacts

PER_POSITION = "vllm:spec_decode_num_accepted_tokens_per_pos_total"


@dataclass(frozen=True, slots=True)
class SeenServer:
    """What one server shows: `facts`, and the number of draft tokens its counters have positions
    for; `problem` where it could not be asked.
    """

    path: str
    url: str
    facts: PathFacts | None = None
    draft_tokens: int | None = None
    problem: str = ""

    @property
    def model(self) -> str:
        """The model it serves first."""
        models = self.facts.models if self.facts else None
        return models[0].id if models else ""

    @property
    def root(self) -> str:
        """The folder or the name that this model was loaded from, on the server's machine."""
        models = self.facts.models if self.facts else None
        return (models[0].root or "") if models else ""

    @property
    def tool_parsers(self) -> list[str]:
        """Families of parsers whose markup it makes tool calls of, by vLLM's names."""
        return [name for name, text in self._probed.items() if json.loads(text)["calls"]]

    @property
    def splits_reasoning(self) -> bool | None:
        """Whether it takes reasoning out of the content; `None` where that was not to be seen."""
        told = self._probed.get(REASONING)
        return None if told is None else bool(json.loads(told)["reasoning"])

    @property
    def _probed(self) -> Mapping[str, str]:
        return (self.facts.parser_probe if self.facts else None) or {}

    def lines(self) -> list[str]:
        """For people."""
        if self.facts is None:
            return [f"did not answer: {self.problem}"]
        models = self.facts.models or ()
        length = models[0].max_model_len if models else None
        told = [f"vLLM {self.facts.version or 'of unknown version'}"]
        told += [f"model {self.model}"] if self.model else []
        told += [f"context {length:,} tokens"] if length else []
        if self.facts.speculation_metrics is not None:
            k = self.draft_tokens
            drafts = f"drafts {k} tokens" if k else "drafts"
            told.append(drafts if self.facts.speculation_metrics else "no drafter")
        told += [f"tool calls as {' or '.join(self.tool_parsers)}"] if self.tool_parsers else []
        told += ["reasoning split off"] if self.splits_reasoning else []
        return [", ".join(told)]


@dataclass(frozen=True, slots=True)
class SeenPaths:
    """Every server asked, and how the two paths compare (`None` unless both answered)."""

    servers: tuple[SeenServer, ...] = ()
    comparison: PathComparison | None = None

    def of(self, path: str) -> list[SeenServer]:
        """The servers of one path."""
        return [server for server in self.servers if server.path == path]

    @property
    def warnings(self) -> list[str]:
        """What would make a run invalid, or was not to be seen."""
        found = [f"{s.path} {s.url} did not answer: {s.problem}" for s in self.servers if s.problem]
        for server in self.servers:
            drafts = server.facts.speculation_metrics if server.facts else None
            if server.path == "baseline" and drafts:
                found.append(f"{server.url} has a drafter, and is named as the baseline")
            if server.path == "candidate" and drafts is False:
                found.append(f"{server.url} has no drafter, and is named as the candidate")
        if self.comparison is not None:
            found += [
                f"{f.message}: {f.baseline} | {f.candidate}" for f in self.comparison.findings
            ]
        return found


def ask_servers(urls: Mapping[str, Sequence[str]], api_key: str = "") -> SeenPaths:
    """Ask every URL (by path); one that does not answer is a `problem`, not an error."""
    servers = asyncio.run(_ask_all(urls, api_key))
    known = {
        path: [s.facts for s in servers if s.path == path and s.facts is not None] for path in urls
    }
    both = all(known.get(path) for path in ("baseline", "candidate"))
    comparison = compare_paths(known["baseline"], known["candidate"]) if both else None
    return SeenPaths(tuple(servers), comparison)


async def _ask_all(urls: Mapping[str, Sequence[str]], api_key: str) -> list[SeenServer]:
    return [await _ask(path, url, api_key) for path, named in urls.items() for url in named]


async def _ask(path: str, url: str, api_key: str) -> SeenServer:
    try:
        async with Endpoint(url, api_key=api_key) as server:
            model = first_model(await server.get_json(ROUTE), server.base_url)
            metrics = await server.get_text("/metrics")
        facts = await gather_facts(path, url, model, api_key=api_key)
    except ServerError as error:
        return SeenServer(path, url, problem=f"{error} ({error.fix})")
    return SeenServer(path, url, facts, _draft_tokens(metrics))


def _draft_tokens(metrics: str | None) -> int | None:
    """k, from the counters vLLM keeps per draft position."""
    samples = parse_metrics(metrics or "")
    named = [s.labels.get("position", "") for s in samples if s.name == PER_POSITION]
    return max((int(place) + 1 for place in named if place.isdecimal()), default=None)
