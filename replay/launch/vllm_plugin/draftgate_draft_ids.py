"""Draft token ids in the answers of a vLLM server: a plugin that runs inside vLLM's processes.

    "metrics": {"speculative_decoding": {"per_step_accepted": [1, 0], "per_step_drafted": [3, 2],
                "per_step_draft_token_ids": [[17, 4, 9], [5, 8, -1]],
                "per_step_first_token": [1, 3], …}}

`per_step_first_token` is the place in the output of the first token that a step commits.

vLLM loads it through its entry point group `vllm.general_plugins`. The entry point lies beside this
file and not in draftgate's own metadata, so that only a server finds it that was launched with this
folder on its PYTHONPATH (`replay.launch.draft_ids`): one that draftgate did not launch, in an
environment that has draftgate, never sees it; and one whose Python has no draftgate does.

The engine's process knows the drafts, the API server's process writes the answer. The ids travel
inside `per_step_drafted`, a list of numbers that vLLM sends from one to the other already: behind
the number of every step stand its place, how many drafts were scheduled, and their ids. So no type,
encoder or response model of vLLM changes, two functions are wrapped, and the ids come in the answer
they belong to. (A file by request id would have the engine write files in its loop, and vLLM
changes the ids of requests on the way.)

An id of -1 is a draft that a grammar ruled out, or, in all places of a step, the placeholder of a
padded prefill. Under asynchronous scheduling the scheduler never sees the drafts, and the lists are
empty.
"""

import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

REFUSED = "draftgate: draft ids are not available: "
"""Begins the line in the server's log where vLLM is not as it is known."""

UPDATE = ["self", "scheduler_output", "model_runner_output"]
OBSERVE = ["self", "num_draft_tokens", "num_accepted", "detailed"]
ARRAYS = ("per_step_accepted", "per_step_drafted")


def register() -> None:
    """Wrap vLLM's functions, once in each process; vLLM calls this.

    Where they are not as in the known version, one line in the log says so and nothing is changed.
    """
    try:
        problem = _wrap()
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
    if problem is not None:
        print(f"{REFUSED}{problem}", file=sys.stderr, flush=True)


@functools.cache
def _wrap() -> str | None:
    from vllm.v1.core.sched.output import SchedulerOutput
    from vllm.v1.core.sched.scheduler import Scheduler
    from vllm.v1.metrics.stats import RequestSpecDecodeMetrics
    from vllm.v1.request import Request

    problem = unknown(Scheduler, SchedulerOutput, RequestSpecDecodeMetrics, Request)
    if problem is None:
        Scheduler.update_from_output = packing(Scheduler.update_from_output)
        RequestSpecDecodeMetrics.to_dict = unpacking(RequestSpecDecodeMetrics.to_dict)
    return problem


def unknown(scheduler: Any, output: Any, metrics: Any, request: Any) -> str | None:
    """In what vLLM is not as in version 0.32, or None."""
    found = list(inspect.signature(scheduler.update_from_output).parameters)
    if found != UPDATE:
        return f"Scheduler.update_from_output takes {found}"
    if "scheduled_spec_decode_tokens" not in {field.name for field in fields(output)}:
        return "SchedulerOutput has no scheduled_spec_decode_tokens"
    if not {*ARRAYS} <= {field.name for field in fields(metrics)}:
        return f"RequestSpecDecodeMetrics has no {' and '.join(ARRAYS)}"
    found = list(inspect.signature(metrics.observe).parameters)
    if found != OBSERVE:
        return f"RequestSpecDecodeMetrics.observe takes {found}"
    made = getattr(request.__init__, "__code__", None)
    if made is None or "spec_decode_metrics" not in made.co_names:
        return "Request has no spec_decode_metrics"
    if not isinstance(getattr(request, "num_output_tokens", None), property):
        return "Request has no num_output_tokens"
    probe = metrics.new(2)
    probe.observe(2, 1, detailed=True)
    shown = probe.to_dict()
    if [shown.get(name) for name in ARRAYS] != [[1], [2]]:
        return f"RequestSpecDecodeMetrics shows {shown}"
    return None


def packing(update: Callable[..., Any]) -> Callable[..., Any]:
    """`Scheduler.update_from_output`, which besides puts place and ids of every counted step
    behind its number in `per_step_drafted`."""

    @functools.wraps(update)
    def update_from_output(self: Any, scheduler_output: Any, model_runner_output: Any) -> Any:
        drafts = []
        shown = not self.scheduler_config.async_scheduling
        for request_id, ids in scheduler_output.scheduled_spec_decode_tokens.items():
            request = self.requests.get(request_id)
            metrics = None if request is None else request.spec_decode_metrics
            if metrics is not None:
                known = ids if shown else []
                packed = [request.num_output_tokens, len(known), *known]
                drafts.append((metrics, len(metrics.per_step_accepted), packed))
        result = update(self, scheduler_output, model_runner_output)
        for metrics, steps, packed in drafts:
            if len(metrics.per_step_accepted) > steps:
                metrics.per_step_drafted += packed
        return result

    return update_from_output


def unpacking(to_dict: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """`RequestSpecDecodeMetrics.to_dict`, with the ids in a list of their own."""

    @functools.wraps(to_dict)
    def with_ids(self: Any) -> dict[str, Any]:
        shown = to_dict(self)
        if "per_step_drafted" not in shown:
            return shown
        return {**shown, **unpacked(shown["per_step_drafted"])}

    return with_ids


def unpacked(packed: Sequence[int]) -> dict[str, list[Any]]:
    """The three lists of a request's steps: ``[2, 7, 3, 5, 8, -1]`` is one step that drafted 2
    tokens, begins at output token 7, and had 3 drafts scheduled: 5, 8, and one ruled out."""
    drafted, first, ids, at = [], [], [], 0
    while at < len(packed):
        end = at + 3 + packed[at + 2]
        drafted.append(packed[at])
        first.append(packed[at + 1])
        ids.append(list(packed[at + 3 : end]))
        at = end
    return {
        "per_step_drafted": drafted,
        "per_step_draft_token_ids": ids,
        "per_step_first_token": first,
    }
