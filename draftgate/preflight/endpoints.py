"""What attached servers say to `doctor`: each URL, then both paths as the gate judges them."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from checks.servers.drafting_state import State as DraftingState
from checks.servers.drafting_state import drafting_state, idle_notes, judge_states
from checks.servers.paths import compare_paths
from checks.servers.unseen import judge_shown
from draftgate.config.config import Config
from draftgate.machine.doctor import Check, State
from draftgate.preflight.paths import check_urls
from draftgate.run.paths import api_key, ask_servers, attach, section_of
from draftgate.run.target import Servers, served_parsers
from replay.facts.model_list import ROUTE, models_of
from replay.sending.endpoint import Endpoint
from traces.errors import DraftgateError, ServerError
from traces.journal.exchange import PATHS
from traces.journal.path_facts import ModelFacts


def attached_checks(config: Config, names: Sequence[str]) -> Iterator[Check]:
    """Keys, URLs, and where all servers answer what they show of themselves."""
    found: list[Check] = []
    for name in names:
        section = section_of(config, name)
        key = Check.of(f"{name} key", partial(_key, config, name))
        found += [key] if section.api_key_env else []
        if key.state == "ok":
            found += [
                Check.of(f"{name} {u}", partial(_endpoint, config, name, u)) for u in section.urls
            ]
    if names:
        found.append(Check.of("urls", partial(_urls, config)))
    yield from found
    if names and all(check.state == "ok" for check in found):
        yield from _shown(config, names)


def _key(config: Config, name: str) -> str:
    api_key(name, section_of(config, name))
    return f"{section_of(config, name).api_key_env} is set"


def _endpoint(config: Config, name: str, url: str) -> str:
    async def models() -> tuple[ModelFacts, ...] | None:
        key = api_key(name, section_of(config, name))
        async with Endpoint(url, api_key=key, timeout_s=5) as server:
            return models_of(await server.get_json(ROUTE), url)

    found = asyncio.run(models())
    if found is None:
        raise ServerError(f"no answer from {ROUTE}", "start it, or fix the URL")
    served, wanted = [model.id for model in found], config.server.served_model_name
    if not served or (wanted and wanted not in served):
        raise ServerError(
            f"serves {', '.join(served) or 'nothing'}, not {wanted or 'a model'}",
            "set `server.served_model_name` to a model both paths serve",
        )
    return f"serves {', '.join(served)}"


def _urls(config: Config) -> str:
    check_urls(config)
    return "each path has servers of its own"


def _shown(config: Config, names: Sequence[str]) -> Iterator[Check]:
    """What the servers show of themselves, judged as the gate does before it sends a turn."""
    try:
        servers: Servers = {name: ask_servers(attach(config, name)) for name in names}
    except DraftgateError as error:
        yield Check("servers", "missing", str(error), error.fix)
        return
    mismatch, missing = judge_states(servers, config.run.kind), judge_shown(servers)
    if mismatch is not None:
        yield Check("drafting", "missing", mismatch.message, mismatch.fix)
    elif notes := idle_notes(servers, config.run.kind):
        yield Check("drafting", "warn", "; ".join(notes))
    else:
        yield Check("drafting", "ok", _states(servers))
    if missing is None:
        yield Check("observability", "ok", "the servers show all that is judged")
    else:
        state: State = "warn" if config.run.allow_missing else "missing"
        yield Check("observability", state, missing.message, missing.fix)
    if set(PATHS) <= servers.keys():
        yield from _differences(servers)
    yield _tokenizer(config, servers)


WORDS: Mapping[DraftingState, str] = {
    "drafts": "drafts",
    "idle": "has a drafter",
    "none": "has no drafter",
    "unseen": "shows nothing of a drafter",
}


def _states(servers: Servers) -> str:
    return ", ".join(
        f"the {path} {WORDS[state]}"
        for path, found in servers.items()
        for state in dict.fromkeys(map(drafting_state, found))
    )


def _differences(servers: Servers) -> Iterator[Check]:
    fix = "start both servers alike but for the drafter"
    for finding in compare_paths(servers["baseline"], servers["candidate"]).findings:
        found = f"{finding.message}: {finding.baseline} / {finding.candidate}"
        yield Check("paths differ", "missing", found, fix)


def _tokenizer(config: Config, servers: Servers) -> Check:
    """Without one, outputs are not cut anew; everything else is judged."""
    served = served_parsers(config, servers)
    name = served[next(iter(servers))].tokenizer
    if not name:
        fix = "name in `run.tokenizer` the folder or name of the servers' tokenizer"
        return Check("tokenizer", "warn", "not known, so split invariance is not judged", fix)
    if Path(name).is_dir() or not name.startswith(("/", ".", "~")):
        return Check("tokenizer", "ok", name)
    fix = "name in `run.tokenizer` a folder of this machine, or a name of the hub"
    return Check("tokenizer", "warn", f"{name} is not here: no split invariance", fix)
