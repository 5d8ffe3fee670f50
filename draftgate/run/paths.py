"""Opening a path: attach to its URLs, or launch its server and end it again."""

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from draftgate.config.config import CandidateSection, Config, PathSection
from draftgate.progress import Advance, Reporter
from draftgate.run.folder import RunFolder
from replay.facts.facts import gather_facts
from replay.facts.model_list import ROUTE, first_model
from replay.launch.command import ServerSpec
from replay.launch.cpus import cpu_shares
from replay.launch.draft_ids import synchronous
from replay.launch.server import Server, Waiting
from replay.sending.endpoint import Endpoint
from traces.errors import ConfigError, ServerError
from traces.journal.path_facts import PathFacts


@dataclass(frozen=True, slots=True)
class OpenPath:
    """A path that answers. `server` is set where the gate launched it."""

    name: str
    urls: tuple[str, ...]
    model: str
    api_key: str = field(default="", repr=False)
    server: Server | None = None

    def check_alive(self) -> None:
        """Raise ServerError with the log's last lines if a launched server has died."""
        if self.server is not None:
            self.server.check_alive()


def section_of(config: Config, name: str) -> PathSection:
    """`[baseline]` or `[candidate]`."""
    return config.baseline if name == "baseline" else config.candidate


def server_spec(config: Config, name: str, cpus: tuple[int, ...] | None = None) -> ServerSpec:
    """What to launch for a path: the shared `[server]`, its own flags, and the drafter.

    With draft ids both paths schedule alike, and the one that drafts loads the plugin. Raises
    ConfigError for flags that forbid it.
    """
    section = section_of(config, name)
    drafter = section.speculative_config if isinstance(section, CandidateSection) else {}
    flags = (*config.server.flags, *section.flags)
    return ServerSpec(
        name=name,
        model=config.server.model,
        flags=synchronous(name, flags) if config.run.draft_ids else flags,
        speculative_config=drafter,
        env=config.server.env,
        python=config.server.python,
        served_model_name=config.server.served_model_name,
        start_timeout_s=config.server.start_timeout_s,
        cpus=cpus,
        draft_ids=config.run.draft_ids and bool(drafter),
    )


def _unchanged(spec: ServerSpec) -> ServerSpec:
    return spec


@contextmanager
def open_paths(
    config: Config,
    names: Sequence[str],
    folder: RunFolder,
    reporter: Reporter,
    change: Callable[[ServerSpec], ServerSpec] = _unchanged,
) -> Iterator[dict[str, OpenPath]]:
    """Paths that are ready for requests, by name; servers start side by side, each as `change`
    makes it.

    Launched servers are ended when the context is left, whatever the reason. Raises ServerError
    where a server does not start or an attached one does not answer.
    """
    launched = [name for name in names if not section_of(config, name).urls]
    shares = dict(zip(launched, cpu_shares(len(launched)), strict=True))
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(
                Server(change(server_spec(config, name, shares[name])), folder.log(name))
            )
            for name in launched
        }
        for name, server in servers.items():
            limit = int(server.spec.start_timeout_s)
            with reporter.step(f"{name}: starting vLLM", limit) as advance:
                server.wait_healthy(_seconds_to(advance))
        yield {name: _open(config, name, servers.get(name)) for name in names}


def _seconds_to(advance: Advance) -> Waiting:
    return lambda seconds, line: advance(int(seconds))


def _open(config: Config, name: str, server: Server | None) -> OpenPath:
    if server is not None:
        return OpenPath(name, (server.url,), server.spec.model_name, server=server)
    return attach(config, name)


def attach(config: Config, name: str) -> OpenPath:
    """An attached path. Raises ServerError where a server of it does not answer, or its servers
    serve different models."""
    section = section_of(config, name)
    key = api_key(name, section)
    model = config.server.served_model_name or asyncio.run(_served_model(section.urls, key))
    return OpenPath(name, section.urls, model, key)


def ask_servers(path: OpenPath) -> list[PathFacts]:
    """What every server of a path says of itself; asking also warms it up."""

    async def ask() -> list[PathFacts]:
        return [
            await gather_facts(path.name, url, path.model, api_key=path.api_key, server=path.server)
            for url in path.urls
        ]

    return asyncio.run(ask())


def api_key(name: str, section: PathSection) -> str:
    if not section.api_key_env:
        return ""
    if section.api_key_env not in os.environ:
        raise ConfigError(
            f"environment variable {section.api_key_env} ({name}.api_key_env) is not set",
            f"export {section.api_key_env}=…, or take `api_key_env` out",
        )
    return os.environ[section.api_key_env]


async def _served_model(urls: tuple[str, ...], api_key: str) -> str:
    """The one model every URL serves."""
    names: dict[str, str] = {}
    for url in urls:
        async with Endpoint(url, api_key=api_key) as endpoint:
            names[url] = first_model(await endpoint.get_json(ROUTE), endpoint.base_url)
    if len(set(names.values())) > 1:
        raise ServerError(f"the URLs of one path serve different models: {names}", "fix `urls`")
    return next(iter(names.values()))
