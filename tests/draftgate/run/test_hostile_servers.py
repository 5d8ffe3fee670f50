"""Hostile and broken servers: each ends in a finding or an error that names server and limit.

None costs the run, hangs it, or takes memory without a bound.
"""

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from draftgate.progress import SilentReporter
from draftgate.run.gate import run_gate
from draftgate.run.outcome import GateOutcome
from tests.support.hostile_server import HostileServer, Raw, events, gzip_bomb, long_line
from tests.support.paper.gate import K, paper_config, rows
from tests.support.paper.model import Vocabulary
from tests.support.paper.server import Faults, served
from tests.support.paper.sessions import write_sessions
from traces.errors import ServerError

Attack = Callable[[str, dict[str, Any]], Raw | None]
CHAT = "/v1/chat/completions"
MEMORY_KIB = 1_000_000
"""What the attacks may add to the peak of the test process, which other tests share; before the
limits an event of 50 MB alone took 3 GB."""


def peak() -> int:
    """Most memory the process has held so far, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@contextmanager
def hostile(attack: Attack) -> Iterator[tuple[HostileServer, HostileServer]]:
    """A sound baseline and a candidate that attacks."""
    words = Vocabulary()
    pair = HostileServer(words), HostileServer(words, Faults(drafts=K), attack=attack)
    with served(*pair):
        yield pair


def gate(folder: Path, attack: Attack) -> GateOutcome:
    write_sessions(folder / "sessions.jsonl", 6, 2)
    with hostile(attack) as servers:
        return run_gate(paper_config(folder, servers), SilentReporter())


def on_one_turn(raw: Callable[[], Raw]) -> Attack:
    return lambda route, body: (
        raw() if route == CHAT and "Task 3.0" in str(body["messages"][-1]) else None
    )


def nested(depth: int, around: str = "%s") -> str:
    return around % ('{"a":' * depth + "1" + "}" * depth)


def call(name: str, arguments: str) -> Raw:
    function = {"name": name, "arguments": arguments}
    delta = {"tool_calls": [{"index": 0, "id": "c", "function": function}]}
    choice = {"index": 0, "delta": delta, "finish_reason": "tool_calls"}
    return events({"choices": [choice]}, {"choices": [], "usage": usage(3)})


def usage(completion: int) -> dict[str, int]:
    return {"prompt_tokens": 5, "completion_tokens": completion}


def steps(accepted: list[int], drafted: list[int], completion: int = 3) -> Raw:
    said = {"per_step_accepted": accepted, "per_step_drafted": drafted}
    choice = {"index": 0, "delta": {"content": "a"}, "finish_reason": "stop", "token_ids": [1, 2]}
    last = {"choices": [], "usage": usage(completion), "metrics": {"speculative_decoding": said}}
    return events({"choices": [choice]}, last)


TURNS = {
    "an event without an end": (long_line, "STREAM_NO_FINISH"),
    "a gzip bomb": (gzip_bomb, "STREAM_NO_FINISH"),
    "an error nested deep": (lambda: Raw([nested(400).encode()], 500), "HTTP_STATUS_MISMATCH"),
    "an error nested deeper": (lambda: Raw([b"[" * 200_000], 400), "HTTP_STATUS_MISMATCH"),
    "a header of 9 KB": (
        lambda: Raw([], headers={"X-Padding": "a" * 9000}),
        "HTTP_STATUS_MISMATCH",
    ),
    "busy for longer than is waited": (
        lambda: Raw([b"{}"], 429, {"Retry-After": "301"}),
        "HTTP_STATUS_MISMATCH",
    ),
    "a redirect to another server": (
        lambda: Raw([], 307, {"Location": "http://127.0.0.1:9/v1/chat/completions"}),
        "HTTP_STATUS_MISMATCH",
    ),
    "an error event nested deep": (
        lambda: events(nested(400, '{"error": %s}')),
        "STREAM_NO_FINISH",
    ),
    "an index of 5,000 digits": (
        lambda: events('{"choices": [{"index": %s}]}' % ("9" * 5000)),
        "STREAM_NO_FINISH",
    ),
    "an index of 4,000 digits": (
        lambda: events('{"choices": [{"index": %s}]}' % ("9" * 4000)),
        "STREAM_NO_FINISH",
    ),
    "arguments 1e99999999": (lambda: call("ls", '{"path": 1e99999999}'), "TOOL_UNKNOWN"),
    "arguments of 5,000 digits": (lambda: call("ls", "9" * 5000), "ARGS_NOT_JSON"),
    "arguments that repeat": (lambda: call("ls", "{}" * 30_000), "ARGS_DUPLICATED"),
    "a tool name that is no text": (
        lambda: events(
            r'{"choices": [{"index": 0, "finish_reason": "tool_calls", "delta": {"tool_calls": '
            r'[{"index": 0, "id": "\udc00", "function": {"name": "\ud800", "arguments": "{}"}}]}}]}'
        ),
        "TOOL_UNKNOWN",
    ),
    "argument names that are no text": (
        lambda: call("ls", r'{"\ud800": "\udfff"}'),
        "TOOL_UNKNOWN",
    ),
    "2,000 calls": (
        lambda: events(
            {
                "choices": [
                    {
                        "index": 0,
                        "delta": {"tool_calls": [{"index": i, "id": "c"} for i in range(2000)]},
                    }
                ]
            }
        ),
        "STREAM_NO_FINISH",
    ),
    "a million steps": (lambda: steps([1] * 10**6, [3] * 10**6), "TOKEN_IDS_GAP"),
    "2^31 accepted": (lambda: steps([2**31 - 1], [2**31 - 1]), "TOKEN_IDS_GAP"),
    "2^31 drafted": (lambda: steps([0], [2**31 - 1]), "TOKEN_IDS_GAP"),
    "2^31 tokens": (lambda: steps([], [], 2**31 - 1), "TOKEN_IDS_GAP"),
}


def test_an_attack_on_a_turn_is_that_turn_s_finding(tmp_path: Path) -> None:
    """All at once, one a session: no attack costs another turn."""
    attacks, before = list(TURNS.values()), peak()
    write_sessions(tmp_path / "sessions.jsonl", len(attacks) + 6, 2)

    def attack(route: str, body: dict[str, Any]) -> Raw | None:
        if route != CHAT:
            return None
        last = str(body["messages"][-1]["content"])
        number = next((n for n in range(len(attacks)) if last.startswith(f"Task {n}.0")), None)
        return None if number is None else attacks[number][0]()

    with hostile(attack) as servers:
        outcome = run_gate(paper_config(tmp_path, servers), SilentReporter())
    assert outcome.verdict.verdict == "fail"
    found: dict[str, set[str]] = {}
    for row in rows(outcome, "select session, code from findings where session is not null"):
        found.setdefault(row["session"], set()).add(row["code"])
    missed = {
        name: found.get(f"s{number}")
        for number, (name, (_, code)) in enumerate(TURNS.items())
        if code not in found.get(f"s{number}", set())
    }
    assert missed == {}
    assert set(found) <= {f"s{number}" for number in range(len(attacks))}, "a sound turn is blamed"
    assert peak() - before < MEMORY_KIB


@pytest.mark.parametrize(
    ("route", "raw", "words"),
    [
        ("/v1/models", lambda: Raw(bytes(1 << 20) for _ in range(20)), "more than 16 MiB"),
        ("/metrics", lambda: Raw(b"a 1\n" * (1 << 18) for _ in range(20)), "more than 16 MiB"),
        ("/v1/models", lambda: Raw([b'{"data": [{"id": 5}]}']), "gives no list of models"),
        ("/v1/models", lambda: Raw([b'{"data": {"id": "paper"}}']), "gives no list of models"),
        ("/v1/models", lambda: Raw([nested(400).encode()]), "names no model"),
        (
            "/v1/models",
            lambda: Raw([], 307, {"Location": "http://127.0.0.1:9/v1/models"}),
            "redirects to another place (status 307)",
        ),
    ],
    ids=["long list", "long metrics", "id that is no text", "no list", "nested deep", "redirect"],
)
def test_an_answer_about_the_server_past_a_limit_names_it(
    tmp_path: Path, route: str, raw: Callable[[], Raw], words: str
) -> None:
    """What is nested too deeply is no list of models, as where the route is not answered."""
    with pytest.raises(ServerError) as caught:
        gate(tmp_path, lambda at, body: raw() if at == route else None)
    assert words in str(caught.value)
    assert "http://127.0.0.1" in str(caught.value)
    assert caught.value.fix


def test_metrics_of_a_broken_server_cost_nothing(tmp_path: Path) -> None:
    nines = "9" * 5000
    metrics = f"""vllm:cache_config_info{{block_size="{nines}",cache_dtype="\\ud800"}} 1.0
process_start_time_seconds {nines}
vllm:generation_tokens_created {nines}
vllm:num_requests_running 1e999
vllm:spec_decode_num_drafts_total NaN
vllm:spec_decode_num_accepted_tokens_per_pos_total{{position="{nines}"}} 1
vllm:spec_decode_num_accepted_tokens_per_pos_total{{position="0"}} {nines}
"""
    outcome = gate(tmp_path, lambda at, body: Raw([metrics.encode()]) if at == "/metrics" else None)
    assert outcome.verdict.verdict in ("pass", "inconclusive", "invalid")
    assert outcome.codes.keys() <= {"PATHS_DIFFER"}
