"""The plugin for draft ids: where a server finds it, what it adds, and when it changes nothing."""

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field, replace
from importlib.metadata import distributions
from types import SimpleNamespace
from typing import Any

import pytest

from replay.launch.command import ServerSpec, server_environment
from replay.launch.draft_ids import FOLDER, NAME, SYNCHRONOUS, refusal, synchronous
from replay.launch.vllm_plugin.draftgate_draft_ids import (
    REFUSED,
    packing,
    unknown,
    unpacked,
    unpacking,
)
from traces.errors import ConfigError

SPEC = ServerSpec("candidate", "m", draft_ids=True)
GROUP = "vllm.general_plugins"


def plugins(path: list[str] | None) -> list[str]:
    found = distributions() if path is None else distributions(path=path)
    return [e.value for d in found for e in d.entry_points if (e.group, e.name) == (GROUP, NAME)]


def test_only_a_server_with_draft_ids_finds_the_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/mine")
    monkeypatch.setenv("VLLM_PLUGINS", "")
    environment = server_environment(SPEC)
    path = environment["PYTHONPATH"].split(os.pathsep)
    assert path == [str(FOLDER), "/mine"]
    assert plugins(path) == ["draftgate_draft_ids:register"]
    assert environment["VLLM_PLUGINS"] == NAME
    plain = server_environment(replace(SPEC, draft_ids=False))
    assert (plain["PYTHONPATH"], plain["VLLM_PLUGINS"]) == ("/mine", "")
    assert plugins(None) == []


def test_plugins_that_may_be_loaded_stay_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_PLUGINS", raising=False)
    assert "VLLM_PLUGINS" not in server_environment(SPEC)
    mine = replace(SPEC, env={"VLLM_PLUGINS": "lora,mine", "PYTHONPATH": "/p"})
    assert server_environment(mine)["VLLM_PLUGINS"] == f"lora,mine,{NAME}"
    assert server_environment(mine)["PYTHONPATH"] == os.pathsep.join([str(FOLDER), "/p"])


def test_the_server_schedules_synchronously() -> None:
    assert synchronous("candidate", ("--dtype", "bfloat16")) == ("--dtype", "bfloat16", SYNCHRONOUS)
    assert synchronous("candidate", (SYNCHRONOUS,)) == (SYNCHRONOUS,)
    with pytest.raises(ConfigError, match=r"path candidate: .*synchronous"):
        synchronous("candidate", ("--async_scheduling",))


@dataclass
class Metrics:
    """As vLLM's RequestSpecDecodeMetrics."""

    per_step_accepted: list[int] = field(default_factory=list)
    per_step_drafted: list[int] = field(default_factory=list)

    @classmethod
    def new(cls, num_spec_tokens: int) -> "Metrics":
        return cls()

    def observe(self, num_draft_tokens: int, num_accepted: int, detailed: bool = False) -> None:
        self.per_step_accepted.append(num_accepted)
        self.per_step_drafted.append(num_draft_tokens)

    def to_dict(self) -> dict[str, Any]:
        if not self.per_step_accepted:
            return {"num_spec_steps": 0}
        return {
            "per_step_accepted": self.per_step_accepted,
            "per_step_drafted": self.per_step_drafted,
        }


class Request:
    def __init__(self) -> None:
        self.spec_decode_metrics: Metrics | None = Metrics()
        self.output: list[int] = [0]

    @property
    def num_output_tokens(self) -> int:
        return len(self.output)


@dataclass
class Output:
    """As vLLM's SchedulerOutput; besides what the model makes of each request: (drafted, accepted)
    as they are counted, None where a step is not counted."""

    scheduled_spec_decode_tokens: dict[str, list[int]]
    counted: dict[str, tuple[int, int] | None] = field(default_factory=dict)


class Scheduler:
    """Its own update forgets a request that has ended, as vLLM's does."""

    def __init__(self, asynchronous: bool = False) -> None:
        self.requests = {"a": Request(), "b": Request()}
        self.scheduler_config = SimpleNamespace(async_scheduling=asynchronous)

    def update_from_output(self, scheduler_output: Output, model_runner_output: Any) -> str:
        for name, counted in scheduler_output.counted.items():
            request = self.requests[name]
            if counted is not None and request.spec_decode_metrics is not None:
                drafted, accepted = counted
                request.spec_decode_metrics.observe(drafted, accepted, detailed=True)
                request.output += [0] * (accepted + 1)
        return "updated"


def shown(metrics: Metrics) -> dict[str, Any]:
    return unpacking(Metrics.to_dict)(metrics)


def test_ids_and_places_of_counted_steps_travel_in_the_numbers() -> None:
    scheduler, update = Scheduler(), packing(Scheduler.update_from_output)
    metrics = scheduler.requests["a"].spec_decode_metrics
    other = scheduler.requests["b"].spec_decode_metrics
    assert metrics is not None
    assert other is not None
    drafts = {"a": [5, 6, 7], "b": [8], "gone": [1]}
    assert update(scheduler, Output(drafts, {"a": (3, 1), "b": None}), None) == "updated"
    update(scheduler, Output({"a": [8, -1], "b": [9]}, {"a": (1, 0), "b": (1, 1)}), None)
    del scheduler.requests["b"]
    update(scheduler, Output({}, {"a": None}), None)
    assert shown(metrics) == {
        "per_step_accepted": [1, 0],
        "per_step_drafted": [3, 1],
        "per_step_draft_token_ids": [[5, 6, 7], [8, -1]],
        "per_step_first_token": [1, 3],
    }
    assert shown(other)["per_step_draft_token_ids"] == [[9]]


def test_a_request_without_metrics_or_drafts_is_as_it_was() -> None:
    scheduler, update = Scheduler(), packing(Scheduler.update_from_output)
    scheduler.requests["a"].spec_decode_metrics = None
    update(scheduler, Output({"a": [5]}, {"a": (1, 0)}), None)
    assert shown(Metrics()) == {"num_spec_steps": 0}


def test_asynchronous_placeholders_are_not_taken_for_drafts() -> None:
    scheduler, update = Scheduler(asynchronous=True), packing(Scheduler.update_from_output)
    update(scheduler, Output({"a": [-1, -1]}, {"a": (2, 1)}), None)
    metrics = scheduler.requests["a"].spec_decode_metrics
    assert metrics is not None
    assert shown(metrics)["per_step_draft_token_ids"] == [[]]


def test_packed_steps_of_any_length_are_taken_apart() -> None:
    assert unpacked([]) == {
        "per_step_drafted": [],
        "per_step_draft_token_ids": [],
        "per_step_first_token": [],
    }
    assert unpacked([2, 7, 3, 5, 8, -1, 0, 9, 0]) == {
        "per_step_drafted": [2, 0],
        "per_step_draft_token_ids": [[5, 8, -1], []],
        "per_step_first_token": [7, 9],
    }


class OtherUpdate:
    def update_from_output(self, scheduler_output: Output) -> None: ...


@dataclass
class OtherOutput:
    drafts: dict[str, list[int]]


@dataclass
class OtherMetrics(Metrics):
    def observe(self, num_draft_tokens: int, num_accepted: int, level: str = "") -> None:  # type: ignore[override]
        super().observe(num_draft_tokens, num_accepted)


@dataclass
class Summed(Metrics):
    def to_dict(self) -> dict[str, Any]:
        return {"per_step_accepted": self.per_step_accepted}


class OtherRequest:
    def __init__(self) -> None:
        self.spec_decode_metrics = None


KNOWN = {"scheduler": Scheduler, "output": Output, "metrics": Metrics, "request": Request}


def test_what_the_plugin_knows_it_wraps() -> None:
    assert unknown(**KNOWN) is None


@pytest.mark.parametrize(
    ("changed", "by", "said"),
    [
        ("scheduler", OtherUpdate, "update_from_output takes"),
        ("output", OtherOutput, "no scheduled_spec_decode_tokens"),
        ("metrics", OtherOutput, "no per_step_accepted"),
        ("metrics", OtherMetrics, "observe takes"),
        ("metrics", Summed, "shows"),
        ("request", OtherUpdate, "no spec_decode_metrics"),
        ("request", OtherRequest, "no num_output_tokens"),
    ],
)
def test_a_vllm_that_is_otherwise_is_left_alone(changed: str, by: Any, said: str) -> None:
    assert said in (unknown(**{**KNOWN, changed: by}) or "")


def test_the_log_says_why() -> None:
    log = f"(EngineCore) INFO starting\n(EngineCore) {REFUSED}SchedulerOutput has no x\nINFO up\n"
    assert refusal(log) == "SchedulerOutput has no x"
    assert refusal("INFO up\n") is None


LOAD = """
import json, sys
from vllm.plugins import load_general_plugins
load_general_plugins()
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.metrics.stats import RequestSpecDecodeMetrics
if len(sys.argv) > 1:
    import draftgate_draft_ids
    draftgate_draft_ids.register()
functions = Scheduler.update_from_output, RequestSpecDecodeMetrics.to_dict
wrapped = [hasattr(function, "__wrapped__") for function in functions]
twice = hasattr(getattr(Scheduler.update_from_output, "__wrapped__", None), "__wrapped__")
print(json.dumps([*wrapped, twice, "draftgate_draft_ids" in sys.modules]))
"""


@pytest.mark.vllm
@pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vLLM is not installed")
@pytest.mark.parametrize("on", [True, False])
def test_the_installed_vllm_is_the_known_one(on: bool) -> None:
    """Loaded as vLLM loads it, twice; and without the folder on the path not at all."""
    environment = server_environment(replace(SPEC, draft_ids=on))
    done = subprocess.run(
        [sys.executable, "-c", LOAD, *["again"] * on],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert REFUSED not in done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [on, on, False, on]
