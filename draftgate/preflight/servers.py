"""What the servers of both paths show of themselves, judged before a turn is sent.

Attached servers are asked before anything is launched; a launched one as soon as it is up. Whoever
is asked is judged beside those that were asked before.
"""

from collections.abc import Mapping, Sequence

from checks.servers.drafting_state import Mismatch, judge_states
from checks.servers.unseen import judge_shown
from draftgate.config.config import Config
from draftgate.run.paths import OpenPath, ask_servers, attach, section_of
from draftgate.run.target import Servers
from traces.errors import InvalidRun, ServerError
from traces.journal.exchange import PATHS
from traces.journal.path_facts import PathFacts


def ask_attached(config: Config, names: Sequence[str] = PATHS) -> Servers:
    """The facts of every attached path. Raises as `check_servers` does, and ServerError where a
    server does not answer, serves another model, or refuses what the gate sends.
    """
    servers = {name: ask_servers(attach(config, name)) for name in _attached(config, names)}
    check_servers(config, servers)
    return servers


def ask_paths(config: Config, known: Servers, path: OpenPath) -> dict[str, Sequence[PathFacts]]:
    """The facts `known`, and those of an open path. Raises as `ask_attached` does."""
    servers = dict(known)
    if path.name not in servers:
        servers[path.name] = ask_servers(path)
        check_servers(config, servers)
    return servers


def check_servers(config: Config, servers: Mapping[str, Sequence[PathFacts]]) -> None:
    """Raise InvalidRun where the paths asked so far cannot be those of a run, and ServerError where
    they do not show what is judged and `run.allow_missing` is off.
    """
    mismatch = judge_states(servers, config.run.kind)
    if mismatch is not None:
        raise InvalidRun(mismatch.message, mismatch.fix)
    missing = missing_of(config, servers)
    if missing is not None:
        raise ServerError(missing.message, missing.fix)


def missing_of(config: Config, servers: Mapping[str, Sequence[PathFacts]]) -> Mismatch | None:
    """What the servers do not show, unless `run.allow_missing` goes on without it."""
    return None if config.run.allow_missing else judge_shown(servers)


def _attached(config: Config, names: Sequence[str]) -> list[str]:
    return [name for name in names if section_of(config, name).urls]
