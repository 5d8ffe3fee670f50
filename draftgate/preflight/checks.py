"""Would `draftgate gate` start with this configuration? Each thing it needs, as one check.

    ok       sessions: 24 sessions, 96 turns to replay
    missing  baseline http://127.0.0.1:8000: cannot be reached: …
             fix: check the URL, and that the server is up

The gate calls the same functions and stops at the first that fails; here every one has a line.
"""

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from draftgate.config.config import Config, ServerSection
from draftgate.machine.doctor import Check, disk
from draftgate.machine.vllm_import import import_vllm
from draftgate.preflight.endpoints import attached_checks
from draftgate.preflight.paths import check_model, launched_models
from draftgate.preflight.places import check_output, check_writable, standing
from draftgate.run.paths import section_of, server_spec
from draftgate.run.plan import make_plan
from draftgate.run.stored import reference_rows
from replay.launch.command import server_command
from replay.launch.diagnosis import likely_fix
from reports.store.store import Store
from traces.counted import counted
from traces.errors import ConfigError, OutputError
from traces.journal.exchange import PATHS


def config_checks(config: Config) -> Iterator[Check]:
    """Everything a configuration names: sessions, places, models, servers."""
    yield Check.of("sessions", partial(_sessions, config))
    yield Check.of("store", partial(_store, Path(config.run.db)))
    yield Check.of("output", partial(_output, config))
    yield disk(standing(Path(config.run.output)))
    if config.reference.run:
        yield Check.of("reference", partial(_reference, config))
    launched = [name for name in PATHS if not section_of(config, name).urls]
    if launched:
        yield from _server_python(config.server)
    for name in launched:
        yield Check.of(f"{name} flags", partial(_flags, config, name))
    for key, model in launched_models(config):
        yield _model(key, model)
    yield from attached_checks(config, [name for name in PATHS if name not in launched])


def _sessions(config: Config) -> str:
    plan = make_plan(config)
    skipped = sum(plan.skipped.values())
    more = f" ({counted(skipped, 'turn')} left out)" if skipped else ""
    sessions, turns = counted(len(plan.sessions), "session"), counted(plan.turns, "turn")
    return f"{sessions}, {turns} to replay{more}"


def _store(db: Path) -> str:
    """A store is not made for being looked at."""
    if not db.exists():
        check_writable(db.parent)
        return f"{db} will be made"
    if not os.access(db, os.W_OK):
        raise OutputError(f"{db}: may not be written", "name another store in `run.db`")
    with Store.open(db) as store:
        return f"{db} holds {counted(len(store.run_ids()), 'run')}"


def _output(config: Config) -> str:
    check_output(config)
    return config.run.output


def _reference(config: Config) -> str:
    rows = reference_rows(config)
    name = config.reference.run
    return f"{name}: {counted(len(rows), 'row')}" if rows else f"{name}: no run has passed yet"


def _server_python(server: ServerSection) -> Iterator[Check]:
    """The Python that is to run vLLM: `server.python`, else this one, in the servers' environment.

    What this Python imports without `server.env` is reported by `machine_checks` already.
    """
    python = server.python or sys.executable
    if shutil.which(python) is None:
        fix = "name the Python of an environment that has vLLM, or take `python` out"
        yield Check("server.python", "missing", f"there is no Python at {python}", fix)
    elif server.python or "PYTHONPATH" in server.env:
        imported = import_vllm(python, server.env)
        if imported.version:
            yield Check("server.python", "ok", f"{python} has {imported.version}")
        else:
            fix = likely_fix(imported.problem, f"{python} -m pip install 'vllm>=0.32'")
            found = f"{python} does not import vLLM: {imported.problem}"
            yield Check("server.python", "missing", found, fix)
    elif importlib.util.find_spec("vllm") is None:
        fix = "install it here as said above, or name in `server.python` a Python that has it"
        found = "vLLM has to be launched, and is not installed here"
        yield Check("server.python", "missing", found, fix)


def _flags(config: Config, name: str) -> str:
    return f"{counted(len(server_command(server_spec(config, name), port=0)) - 3, 'argument')}"


def _model(key: str, model: str) -> Check:
    try:
        if check_model(key, model):
            return Check(key, "ok", model)
    except ConfigError as error:
        return Check(key, "missing", str(error), error.fix)
    return Check(key, "warn", f"{model} is no local folder; vLLM will look it up by name")
