"""Servers on a bad day: each ends in a named finding, a bound left open, or an error with its fix.

What none of them may end in is a pass.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from draftgate.progress import SilentReporter
from draftgate.run.gate import run_gate
from draftgate.run.outcome import GateOutcome
from reports.store.store import Store
from tests.support.paper.gate import Gate, K, paper_config, paper_paths
from tests.support.paper.server import Faults
from tests.support.paper.sessions import write_sessions
from tests.support.paper.stream import Stream
from traces.errors import ServerError

Request = dict[str, Any]


@pytest.fixture(autouse=True)
def _few_sessions(tmp_path: Path) -> None:
    write_sessions(tmp_path / "sessions.jsonl", 12, 2)


def run_row(outcome: GateOutcome) -> dict[str, Any]:
    assert outcome.store is not None
    with Store.open(outcome.store) as store:
        (row,) = store.rows("from runs")
    return row


def bounds_of(outcome: GateOutcome) -> dict[str, str]:
    return {bound.name: bound.state for bound in outcome.verdict.bounds}


# Servers that differ in more than the drafter: invalid, and the aspect is named.


def _prompt(stream: Stream, request: Request) -> None:
    """A template that renders otherwise where no probe looks."""
    if "Task 3." in str(request["messages"]):
        stream.prompt = [*stream.prompt[:-1], 7, stream.prompt[-1]]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Faults(drafts=K, model="paper-v2"), "served models"),
        (Faults(drafts=K, max_model_len=8192), "served models"),
        (Faults(drafts=K, template="You are "), "chat template"),
        (Faults(drafts=K, version="0.31.0"), "vLLM version"),
        (Faults(drafts=K, spoil=_prompt), "other prompts of the same request"),
    ],
    ids=["model", "max length", "template", "version", "prompt ids"],
)
def test_paths_that_differ_are_invalid(gate: Gate, fault: Faults, words: str) -> None:
    outcome = gate(fault)
    assert (outcome.verdict.verdict, outcome.exit_code) == ("invalid", 2)
    assert "PATHS_DIFFER" in outcome.codes
    assert any(words in reason for reason in outcome.verdict.reasons), outcome.verdict.reasons


def test_a_server_that_makes_another_prompt_the_second_time_is_invalid(gate: Gate) -> None:
    """A clock in the template, say: its repeat is no noise floor of anything."""

    def later(stream: Stream, request: Request) -> None:
        if request.get("cache_salt", "").endswith("-aa"):
            stream.prompt = [7, *stream.prompt]

    outcome = gate(baseline=Faults(spoil=later))
    assert outcome.verdict.verdict == "invalid"
    assert any("when it was sent again" in reason for reason in outcome.verdict.reasons)


# Servers that refuse.


def test_a_server_that_refuses_the_gate_s_requests_is_named_at_once(gate: Gate) -> None:
    def refuse(request: Request) -> tuple[int, Request] | None:
        if "return_token_ids" in request:
            return 400, {"error": {"message": "extra fields not permitted: return_token_ids"}}
        return None

    with pytest.raises(ServerError, match="extra fields not permitted") as caught:
        gate(baseline=Faults(refuse=refuse))
    assert "path baseline" in str(caught.value)
    assert caught.value.fix


def test_a_parameter_that_only_the_drafter_refuses_fails(gate: Gate) -> None:
    def refuse(request: Request) -> tuple[int, Request] | None:
        if "Task 3." in str(request["messages"]):
            return 400, {"error": {"message": "min_p is not supported with speculation"}}
        return None

    outcome = gate(Faults(drafts=K, refuse=refuse))
    assert outcome.verdict.verdict == "fail"
    assert outcome.codes["HTTP_STATUS_MISMATCH"] == 2


def test_a_path_that_fails_every_turn_is_invalid(gate: Gate) -> None:
    def broken(request: Request) -> tuple[int, Request] | None:
        if "Task" in str(request["messages"]):
            return 500, {"error": {"message": "EngineCore encountered an issue"}}
        return None

    outcome = gate(Faults(drafts=K, refuse=broken))
    assert outcome.verdict.verdict == "invalid"
    assert "the candidate answered no turn" in outcome.verdict.reasons


# Servers that die or hang.


@pytest.mark.parametrize(("path", "answers"), [("baseline", 45), ("candidate", 30)])
def test_a_server_that_dies_is_named_and_the_run_can_go_on(
    tmp_path: Path, path: str, answers: int
) -> None:
    sound = {"baseline": Faults(), "candidate": Faults(drafts=K)}
    dying = {name: Faults(drafts=f.drafts, die_after=answers) for name, f in sound.items()}
    with paper_paths() as (baseline, candidate):
        servers = {"baseline": baseline, "candidate": candidate}
        config = paper_config(tmp_path, (baseline, candidate))
        servers[path].faults = dying[path]
        with pytest.raises(ServerError, match=f"path {path}: .* gives no answer any more"):
            run_gate(config, SilentReporter())
        servers[path].faults = sound[path]
        (folder,) = (tmp_path / "out" / "runs").iterdir()
        outcome = run_gate(config, SilentReporter(), resume=folder.name)
    # The candidate's turns in flight are a fault of their own, whatever the resumed run gives.
    assert outcome.codes == ({"SERVER_RESTARTED": 1} if path == "candidate" else {})
    assert outcome.counts["turns_judged"] == 24


def test_a_turn_that_never_ends_counts_against_its_path(tmp_path: Path) -> None:
    def hangs(request: Request) -> float:
        return 3.0 if "Task 3.0" in str(request["messages"][-1]) else 0.0

    with paper_paths(Faults(drafts=K, hangs=hangs)) as servers:
        config = paper_config(tmp_path, servers)
        config = config.model_copy(update={"run": config.run.model_copy(update={"timeout_s": 1.0})})
        outcome = run_gate(config, SilentReporter())
    assert outcome.verdict.verdict == "fail"
    assert outcome.codes == {"HTTP_STATUS_MISMATCH": 1}


# Servers that do not show what the judgement needs: open, and what is missing is said.


def _without(**shown: bool) -> Callable[[Stream, Request], None]:
    def spoil(stream: Stream, request: Request) -> None:
        for name, value in shown.items():
            setattr(stream, name, value)

    return spoil


def test_servers_without_logprobs_leave_the_bounds_open(gate: Gate) -> None:
    hide = _without(shows_logprobs=False)
    outcome = gate(Faults(drafts=K, spoil=hide), Faults(spoil=hide), allow_missing=True)
    assert outcome.verdict.verdict == "inconclusive", outcome.verdict.reasons
    assert bounds_of(outcome)["candidate_argmax"] == "inconclusive"
    assert any("no argmax check" in line for line in run_row(outcome)["unverified"])


def test_servers_without_token_ids_leave_the_bounds_open(gate: Gate) -> None:
    hide = _without(shows_ids=False, shows_logprobs=False)
    outcome = gate(Faults(drafts=K, spoil=hide), Faults(spoil=hide), allow_missing=True)
    assert outcome.verdict.verdict == "inconclusive", outcome.verdict.reasons
    assert outcome.counts["tokens_judged"] == 0
    assert any("no token codes" in line for line in run_row(outcome)["unverified"])


def fork(stream: Stream, request: Request) -> None:
    """Now and then the second best token of the baseline's, which the candidate finds the best."""
    if sum(stream.prompt) % 3 == 0:
        distribution = stream.distributions[2]
        stream.ids[2] = sorted(distribution, key=lambda token: -distribution[token])[1]
        distribution[stream.ids[2]] = 0.5 + max(distribution.values())


def test_a_baseline_that_dies_of_scoring_leaves_the_bounds_open(gate: Gate) -> None:
    outcome = gate(Faults(drafts=K, spoil=fork), Faults(mute_scorer=True))
    assert outcome.verdict.verdict in ("inconclusive", "fail"), outcome.verdict.reasons
    assert bounds_of(outcome)["scored_share"] == "inconclusive"
    assert any("no teacher forcing" in line for line in run_row(outcome)["unverified"])


def test_a_baseline_without_prompt_logprobs_scores_in_lockstep(gate: Gate) -> None:
    """The same tokens are judged, with the same regrets, in decode shape."""
    forced = gate(Faults(drafts=K, spoil=fork))
    walked = gate(Faults(drafts=K, spoil=fork), Faults(prompt_logprobs=False))
    assert bounds_of(walked)["scored_share"] == bounds_of(forced)["scored_share"] == "pass"
    assert walked.codes == forced.codes
    assert walked.counts["tokens_judged"] == forced.counts["tokens_judged"]
    assert walked.store is not None
    with Store.open(walked.store) as store:
        shapes = store.rows(
            "select run, list(distinct regret_shape order by regret_shape) as shapes, "
            "round(sum(regret), 4) as regret from tokens where regret is not null group by run"
        )
    found = {row["run"]: row for row in shapes}
    assert found[forced.run]["shapes"] == ["decode", "prefill"]
    assert found[walked.run]["shapes"] == ["decode"]
    assert found[walked.run]["regret"] == found[forced.run]["regret"]


def test_servers_behind_a_gateway_that_hides_all_but_chat(gate: Gate) -> None:
    outcome = gate(Faults(drafts=K, bare=True), Faults(bare=True), allow_missing=True)
    assert outcome.verdict.verdict == "inconclusive", outcome.verdict.reasons
    assert outcome.codes == {}
    unverified = " ".join(run_row(outcome)["unverified"])
    for aspect in ("vLLM version", "cache configuration", "chat template"):
        assert aspect in unverified


# Gateways that write answers in their own way.


def test_a_gateway_with_text_parts_and_argument_objects_is_read_and_reported(gate: Gate) -> None:
    def parts(stream: Stream, request: Request) -> None:
        half = len(stream.content) // 2
        texts = (stream.content[:half], stream.content[half:])
        stream.content = [{"type": "text", "text": text} for text in texts]  # type: ignore[assignment]
        for call in stream.calls:
            call["arguments"] = json.loads(call["arguments"])

    outcome = gate(Faults(drafts=K, spoil=parts))
    assert outcome.codes == {}, outcome.verdict.reasons
    assert outcome.counts["turns_judged"] == 24
    notes = run_row(outcome)["notes"]
    assert "the candidate sent 26 answers in which text came as a list of parts" in notes
    assert any("call arguments came as an object" in note for note in notes)
    assert not any(note.startswith("the baseline sent") for note in notes)


@pytest.mark.parametrize(
    ("field", "value"), [("finish", ["stop"]), ("usage", {"completion_tokens": "many"})]
)
def test_chunks_that_are_none_fail_where_the_baseline_s_are_sound(
    gate: Gate, field: str, value: Any
) -> None:
    def odd(stream: Stream, request: Request) -> None:
        if "Task 3." in str(request["messages"]):
            setattr(stream, field, value)

    outcome = gate(Faults(drafts=K, spoil=odd))
    assert (outcome.verdict.verdict, outcome.exit_code) == ("fail", 1)
    assert outcome.codes["STREAM_ERROR_CHUNK"] == 2
