"""The ready-made arms that change how turns are asked for: clients that go away, grammars, a full
batch. Sound servers pass, and a fault that only such an arm brings out is found there."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from draftgate.config.config import ArmSection, Config
from draftgate.config.file import parse_config
from draftgate.progress import SilentReporter
from draftgate.run.arms import further_arms, side_by_side
from draftgate.run.collection import broken_off
from draftgate.run.folder import RunFolder
from draftgate.run.gate import run_gate
from draftgate.run.outcome import GateOutcome
from draftgate.run.target import settle_logprobs_mode
from replay.sending.arm import decoys
from replay.sending.client import StreamClient
from replay.sending.job import Job
from tests.support.paper.gate import K, paper_config, paper_paths, rows
from tests.support.paper.model import Vocabulary
from tests.support.paper.server import Faults, PaperServer, served
from tests.support.paper.sessions import write_sessions
from tests.support.paper.spoiled import torn_arguments, wrong_token
from tests.support.paper.stream import Stream
from traces.errors import ConfigError
from traces.journal.journal import JournalReader
from traces.journal.vllm_flags import parse_flags
from traces.session.grammar import ANSWER, under_grammar

Request = dict[str, Any]


def slowly(request: Request) -> float:
    """Chunks of the abort arm take their time, so that a client can go away between them."""
    return 0.004 if request.get("cache_salt", "").endswith(("-abort", "-abort-aa")) else 0.0


def gate_with(
    folder: Path, arm: Request, **candidate: Any
) -> tuple[GateOutcome, tuple[PaperServer, PaperServer]]:
    write_sessions(folder / "sessions.jsonl", 12, 2)
    with paper_paths(Faults(drafts=K, paces=slowly, **candidate), Faults(paces=slowly)) as servers:
        config = paper_config(folder, servers)
        config = config.model_copy(update={"arms": (ArmSection(**arm),)})
        return run_gate(config, SilentReporter()), servers


def in_arm(arm: str, edit: Any) -> Any:
    def spoil(stream: Stream, request: Request) -> None:
        if request.get("cache_salt", "").endswith(f"-{arm}"):
            edit(stream, request)

    return spoil


def bounds(outcome: GateOutcome) -> dict[str, str]:
    return {bound.name: bound.state for bound in outcome.verdict.bounds}


ABORT = {"name": "abort", "abort": True, "share": 1.0}
GRAMMAR = {"name": "grammar", "grammar": True, "share": 1.0}


def test_sound_servers_pass_while_clients_go_away(tmp_path: Path) -> None:
    outcome, servers = gate_with(tmp_path, ABORT)
    assert outcome.codes == {}
    assert bounds(outcome)["greedy_regret_ladder[abort]"] == "pass"
    assert servers[0].aborted >= 24
    assert servers[1].aborted >= 12
    notes = " ".join(outcome.notes)
    assert "of the candidate were broken off" in notes
    (arm,) = rows(outcome, "from arms where arm = 'abort'")
    assert (arm["abort"], arm["grammar"], arm["turns"]) == (True, False, 24)
    held = [
        c.key.turn for c in JournalReader(RunFolder(outcome.folder).journal("candidate", "abort"))
    ]
    assert len(held) == 24


def test_what_an_abort_leaves_behind_is_found_in_the_next_turns(tmp_path: Path) -> None:
    """The answer that follows a broken stream holds a token of nobody's; no other arm shows it."""
    outcome, _ = gate_with(tmp_path, ABORT, after_abort=in_arm("abort", wrong_token))
    assert outcome.verdict.verdict == "fail"
    found = rows(outcome, "select distinct arm from findings where code = 'GREEDY_DIVERGENCE'")
    assert found == [{"arm": "abort"}]


def test_an_arm_whose_streams_all_end_says_that_it_shows_nothing() -> None:
    assert (
        broken_off("abort", "candidate", 7)
        == "arm abort: 7 streams of the candidate were broken off"
    )
    assert "shows nothing about aborts" in broken_off("abort", "candidate", 0)


@pytest.mark.parametrize(("events", "broken"), [(2, True), (1000, False)])
def test_a_stream_is_closed_only_while_it_goes_on(events: int, broken: bool) -> None:
    """And the server sees its client go."""
    salted = {"cache_salt": "x-abort", "messages": [{"role": "user", "content": "go"}]}
    request = {**salted, "model": "paper", "max_tokens": 100, "stream": True}
    server = PaperServer(Vocabulary(), Faults(drafts=K, paces=slowly))

    async def abort(url: str) -> bool:
        async with StreamClient(url) as client:
            done = await client.abort(request, events)
            await asyncio.sleep(0.1)
            return done

    with served(server):
        assert asyncio.run(abort(server.url)) is broken
    assert server.aborted == broken


def test_sound_servers_pass_under_a_grammar(tmp_path: Path) -> None:
    outcome, _ = gate_with(tmp_path, GRAMMAR)
    assert outcome.codes == {}
    assert bounds(outcome)["scored_share[grammar]"] == "pass", "its tokens are judged"
    sent = [
        capture.request["tool_choice"]
        for capture in JournalReader(RunFolder(outcome.folder).journal("baseline", "grammar"))
    ]
    assert sent == ["required"] * 24


def test_a_call_broken_under_a_grammar_is_found_there_alone(tmp_path: Path) -> None:
    outcome, _ = gate_with(tmp_path, GRAMMAR, spoil=in_arm("grammar", torn_arguments))
    assert "ARGS_NOT_JSON" in outcome.codes
    found = rows(outcome, "select distinct arm from findings where code = 'ARGS_NOT_JSON'")
    assert found == [{"arm": "grammar"}]


def test_raw_logprobs_leave_its_tokens_to_the_exact_checks(tmp_path: Path) -> None:
    write_sessions(tmp_path / "sessions.jsonl", 12, 2)
    with paper_paths(Faults(drafts=K, raw=True), Faults(raw=True)) as servers:
        config = paper_config(tmp_path, servers)
        config = config.model_copy(update={"arms": (ArmSection(**GRAMMAR),)})
        outcome = run_gate(config, SilentReporter())
    assert bounds(outcome)["greedy_regret_ladder[grammar]"] == "not_applicable"
    assert outcome.codes == {}


def test_sixty_four_requests_are_in_flight_with_fewer_sessions() -> None:
    sessions = [[Job(f"s{s}", f"t{t}", {}) for t in range(8)] for s in range(12)]
    parts = side_by_side(sessions, 64)
    assert len(parts) == 64
    assert sorted(j.turn for part in parts for j in part) == sorted(
        j.turn for session in sessions for j in session
    )
    assert all(len({job.session for job in part}) == 1 for part in parts)
    assert [len(part) for part in parts] == sorted((len(part) for part in parts), reverse=True)
    assert side_by_side(sessions, 12) == sessions
    assert len(side_by_side(sessions, 1000)) == 96
    assert side_by_side([], 4) == []


def test_a_stream_that_is_broken_off_is_another_sessions() -> None:
    sessions = [[Job(f"s{s}", f"t{t}", {}) for t in range(4)] for s in range(3)]
    found = decoys(sessions)
    assert len(found) == 12
    assert all(turn[0] != decoy.session for turn, decoy in found.items())
    assert {(d.session, d.turn) for d in found.values()} == set(found)
    (lone,) = decoys([[Job("s", "t", {})]]).values()
    assert lone.turn == "t"


# What is asked under a grammar.


def test_a_grammar_for_any_turn() -> None:
    tools = [{"type": "function", "function": {"name": "ls"}}]
    assert under_grammar({"tools": tools})["tool_choice"] == "required"
    formatted = under_grammar({"messages": []})["response_format"]
    assert formatted["json_schema"]["schema"] == ANSWER
    assert json.loads(json.dumps(formatted)) == formatted
    no_call = {"tools": tools, "tool_choice": "none"}
    assert under_grammar(no_call)["response_format"]["type"] == "json_schema"
    for held in (
        {"response_format": {"type": "json_object"}},
        {"structured_outputs": {"regex": "a+"}},
        {"tools": tools, "tool_choice": "required"},
        {"tools": tools, "tool_choice": {"type": "function", "function": {"name": "ls"}}},
    ):
        assert under_grammar(held) == held


def launched(**run: Any) -> Config:
    return parse_config(
        {
            "run": run,
            "server": {"model": "models/weights/target"},
            "candidate": {"speculative_config": {"method": "ngram", "num_speculative_tokens": 3}},
        },
        "test",
    )


def test_all_adds_them() -> None:
    found = {arm.name: arm for arm in further_arms(launched(arms="all"))}
    assert found["c64"].concurrency == 64
    assert found["abort"].abort
    assert found["grammar"].grammar
    assert not any(found[name].on_curve for name in ("abort", "grammar"))


def test_a_grammar_arm_keeps_processed_logprobs() -> None:
    jobs = [[Job("s", "t", {})]]
    for arms, mode in (("none", ("raw_logprobs",)), ("all", ())):
        flags = settle_logprobs_mode(launched(arms=arms), jobs).server.flags
        assert parse_flags(flags).get("--logprobs-mode", ()) == mode


@pytest.mark.parametrize("other", ["abort", "grammar"])
def test_changed_prompts_are_asked_of_the_candidate_alone(other: str) -> None:
    with pytest.raises(ConfigError, match=f"`{other}` needs an arm of both"):
        parse_config(
            {
                "baseline": {"urls": ["http://a"]},
                "candidate": {"urls": ["http://b"]},
                "arms": [{"name": "x", "perturb": ["persona"], other: True}],
            },
            "test",
        )
