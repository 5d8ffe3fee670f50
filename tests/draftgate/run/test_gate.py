"""The whole gate over paper servers: each fault gives the verdict and the code it must give."""

from pathlib import Path
from typing import Any

import pytest

from checks.controls.scores import KIND as SHIFTED_SCORES
from checks.greedy import shift
from reports.store.store import Store
from tests.support.paper.gate import Gate, K
from tests.support.paper.model import ALTERNATIVES
from tests.support.paper.server import Faults
from tests.support.paper.sessions import leave_a_part_out, write_sessions
from tests.support.paper.spoiled import torn_arguments, wrong_token
from tests.support.paper.stream import Stream
from traces.errors import StoreError

Request = dict[str, Any]


def test_two_equal_paths_pass(gate: Gate) -> None:
    outcome = gate()
    assert outcome.verdict.verdict == "pass", outcome.verdict.reasons
    assert outcome.exit_code == 0
    assert outcome.codes == {}
    assert outcome.counts["turns_replayed"] == 96
    assert outcome.counts["turns_equal"] == 96
    assert outcome.counts["unaligned_turns"] == 0
    assert outcome.report is not None
    assert "pass" in outcome.report.read_text().lower()
    states = {control.kind: control.state for control in outcome.verdict.controls}
    assert "missed" not in states.values(), states
    assert states[SHIFTED_SCORES] == "caught"
    assert list(states.values()).count("caught") >= 4, states


def test_a_gate_that_cannot_see_shifted_scores_is_invalid(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shift, "_finding", lambda worst, policy: [])
    outcome = gate()
    assert outcome.verdict.verdict == "invalid"
    (reason,) = outcome.verdict.reasons
    assert reason.startswith(f"CONTROL_NOT_CAUGHT: {SHIFTED_SCORES}")


def test_the_store_holds_the_run(gate: Gate) -> None:
    outcome = gate()
    assert outcome.store is not None
    with Store.open(outcome.store) as store:
        (verdict,) = store.rows("select run, verdict from v_verdict")
        assert verdict == {"run": outcome.run, "verdict": "pass"}
        (tokens,) = store.rows(
            "select count(*) as n from tokens where path = 'candidate' and arm = 'main'"
        )
        assert tokens["n"] == outcome.counts["tokens_judged"]
        labels = {row["label"] for row in store.rows("select distinct label from tokens")}
        assert {"prose", "tool.name", "diff.add"} <= labels
        (steps,) = store.rows(
            "select sum(committed) as committed, count(distinct (session, turn)) as turns "
            "from steps"
        )
        assert steps["committed"] == tokens["n"] - steps["turns"]  # the prefill's token each
        parsers = store.rows("select path, tool_parser from paths order by path")
        assert parsers == [
            {"path": "baseline", "tool_parser": "hermes"},
            {"path": "candidate", "tool_parser": "hermes"},
        ]


def test_exact_and_rebuilt_prompts_are_judged_alone_too(gate: Gate, tmp_path: Path) -> None:
    """The last user message of every session holds a part that nobody knows."""
    leave_a_part_out(write_sessions(tmp_path / "sessions.jsonl", 24, 4))
    outcome = gate()
    assert outcome.verdict.verdict == "pass", outcome.verdict.reasons
    assert any("24 of 96 replayed turns" in note for note in outcome.notes), outcome.notes
    alone = {bound.name: bound for bound in outcome.faithful}
    assert alone["answered_turns"].state == "pass"
    assert alone["turns"].value == 72
    assert outcome.store is not None
    with Store.open(outcome.store) as store:
        stored = store.rows("select name, value from bounds where turns = 'faithful'")
    assert {row["name"]: row["value"] for row in stored} == {
        name: bound.value for name, bound in alone.items()
    }


def test_views_show_the_interval_that_the_verdict_rests_on(gate: Gate) -> None:
    outcome = gate(acceptance_floor=1.1)
    assert outcome.store is not None
    with Store.open(outcome.store) as store:
        (bound,) = store.rows("from bounds where name = 'mean_acceptance_length'")
        (shown,) = store.rows("from v_acceptance where arm = 'main'")
    assert bound["state"] == "pass"
    names = ("acceptance_length", "low", "high")
    assert tuple(shown[name] for name in names) == (bound["value"], bound["low"], bound["high"])


def test_the_baselines_own_forks_are_stored_with_their_regret(gate: Gate) -> None:
    answered: set[str] = set()

    def second_time(stream: Stream, request: Request) -> None:
        """The baseline's repeat of a turn leaves its first answer at a near tie."""
        for place, distribution in enumerate(stream.distributions):
            first, second = sorted(distribution, key=lambda token: -distribution[token])[:2]
            if (
                request.get("cache_salt", "").endswith("-aa")
                and distribution[first] - distribution[second] < 0.9
            ):
                answered.add(str(stream.prompt))
                stream.distributions[place] = {
                    **distribution,
                    first: distribution[second],
                    second: distribution[first],
                }
                stream.ids[place], stream.texts[place] = second, ALTERNATIVES[second - 2]
                return

    outcome = gate(baseline=Faults(spoil=second_time))
    assert answered
    assert outcome.store is not None
    with Store.open(outcome.store) as store:
        (row,) = store.rows(
            "select count(fork_index) as forks, count(*) filter (fork_kind = 'near_tie') as near,"
            " max(max_regret) as largest from pairs where comparison = 'aa'"
        )
    assert row["forks"] == row["near"] == len(answered)
    assert 0 < row["largest"] < 0.9


def spoil_some(*, share: int, edit: Any) -> Any:
    """A fault in one of `share` answers, chosen by the prompt; none in those to probes."""

    def spoil(stream: Stream, request: Request) -> None:
        if sum(stream.prompt) % share == 0 and request.get("cache_salt") != "probe":
            edit(stream, request)

    return spoil


def no_finish(stream: Stream, request: Request) -> None:
    stream.finish = None  # type: ignore[assignment]
    stream.done = False


def lost_call(stream: Stream, request: Request) -> None:
    if stream.calls:
        stream.calls, stream.content = [], stream.content


def leaked_marker(stream: Stream, request: Request) -> None:
    if stream.calls:
        stream.content += "<tool_call>"


def stop_for_calls(stream: Stream, request: Request) -> None:
    if stream.calls:
        stream.finish = "stop"


def lost_text(stream: Stream, request: Request) -> None:
    stream.content = stream.content[: len(stream.content) // 2]


def no_usage(stream: Stream, request: Request) -> None:
    stream.usage = {}


def usage_too_low(stream: Stream, request: Request) -> None:
    stream.usage = {**stream.usage, "completion_tokens": stream.usage["completion_tokens"] - 2}


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        (wrong_token, "GREEDY_DIVERGENCE"),
        (wrong_token, "SAMPLER_NOT_ARGMAX"),
        (no_finish, "STREAM_NO_FINISH"),
        (no_finish, "STREAM_NO_DONE"),
        (lost_call, "TOOL_CALL_LOST"),
        (torn_arguments, "ARGS_NOT_JSON"),
        (leaked_marker, "MARKER_LEAK_CONTENT"),
        (stop_for_calls, "FINISH_REASON_WRONG"),
        (lost_text, "CONTENT_DIFF"),
        (no_usage, "USAGE_MISSING"),
        (usage_too_low, "USAGE_UNDERCOUNT"),
    ],
)
def test_a_fault_of_the_candidate_fails(gate: Gate, edit: Any, code: str) -> None:
    outcome = gate(Faults(drafts=K, spoil=spoil_some(share=5, edit=edit)))
    assert outcome.verdict.verdict == "fail", outcome.verdict.reasons
    assert code in outcome.codes, outcome.codes
    assert outcome.exit_code == 1


@pytest.mark.parametrize("edit", [lost_text, torn_arguments, leaked_marker, no_usage])
def test_a_flaw_of_both_paths_does_not_fail(gate: Gate, edit: Any) -> None:
    spoil = spoil_some(share=5, edit=edit)
    outcome = gate(Faults(drafts=K, spoil=spoil), Faults(spoil=spoil))
    assert outcome.verdict.verdict != "fail", (outcome.verdict.reasons, outcome.codes)


def only_plain(edit: Any) -> Any:
    """A fault that only streams without token ids show."""

    def spoil(stream: Stream, request: Request) -> None:
        if not request.get("return_token_ids"):
            edit(stream, request)

    return spoil


def forked_text(stream: Stream, request: Request) -> None:
    """The text leaves the answer at the first near tie and goes on in its own way."""
    pieces = dict(zip(stream.ids, stream.texts, strict=True))
    for place, distribution in enumerate(stream.distributions[:8]):
        first, second = sorted(distribution.values(), reverse=True)[:2]
        other = next(t for t in distribution if distribution[t] == second)
        if first - second < 0.9 and place:
            before = "".join(pieces[t] for t in stream.ids[:place])
            stream.content = before + ALTERNATIVES[other - 2] + "and so <tool_call> on"
            stream.calls, stream.finish = [], "stop"
            return


def test_a_near_tie_in_a_plain_stream_is_no_fault(gate: Gate) -> None:
    spoil = only_plain(forked_text)
    outcome = gate(Faults(drafts=K, spoil=spoil), baseline=Faults())
    assert (outcome.verdict.verdict, outcome.codes) == ("pass", {}), outcome.verdict.reasons


def test_text_lost_in_plain_streams_alone_is_a_fault(gate: Gate) -> None:
    outcome = gate(Faults(drafts=K, spoil=only_plain(lost_text)))
    assert outcome.verdict.verdict == "fail"
    assert outcome.codes["CONTENT_DIFF"] > 0, outcome.codes


def test_a_baseline_that_alone_loses_text_in_plain_streams_is_blamed_on_no_drafter(
    gate: Gate,
) -> None:
    outcome = gate(Faults(drafts=K), baseline=Faults(spoil=only_plain(lost_text)))
    assert "CONTENT_DIFF" not in outcome.codes
    assert outcome.verdict.verdict != "fail", outcome.verdict.reasons


def forked_call(stream: Stream, request: Request) -> None:
    """The answer forks where the two best tokens lie 1 to 4 nat apart, then calls its own tool."""
    for place, distribution in enumerate(stream.distributions):
        first, second = sorted(distribution, key=lambda token: -distribution[token])[:2]
        if stream.calls and 1.2 < distribution[first] - distribution[second] < 3.8:
            stream.distributions[place] = {
                **distribution,
                first: distribution[second],
                second: distribution[first],
            }
            stream.ids[place], stream.texts[place] = second, ALTERNATIVES[second - 2]
            stream.calls[0]["name"] = "made_up"
            return


@pytest.mark.parametrize(
    ("tails", "codes"),
    [("light", {"GREEDY_DIVERGENCE", "TOOL_UNKNOWN"}), ("heavy", {"TOOL_UNKNOWN"})],
)
def test_a_call_behind_a_fork_is_judged_by_its_own_tokens(
    gate: Gate, tails: str, codes: set[str]
) -> None:
    """Noise may excuse the fork; a call that the candidate's own tokens do not spell it cannot."""
    chosen: list[int] = []

    def spoil(stream: Stream, request: Request) -> None:
        if stream.calls and not chosen:
            chosen.extend(stream.prompt)
        if stream.prompt == chosen:
            forked_call(stream, request)

    outcome = gate(Faults(drafts=K, spoil=spoil), noise_tails=tails)
    assert codes <= set(outcome.codes), outcome.verdict.reasons
    assert ("GREEDY_DIVERGENCE" in outcome.codes) == (tails == "light"), outcome.verdict.reasons


def test_a_refusal_by_one_path_fails(gate: Gate) -> None:
    def refuse(request: Request) -> tuple[int, Request] | None:
        text = str(request["messages"])
        if "Task 3." in text:
            return 400, {"error": {"message": "min_p is not supported with speculation"}}
        return None

    outcome = gate(Faults(drafts=K, refuse=refuse))
    assert outcome.verdict.verdict == "fail"
    assert "HTTP_STATUS_MISMATCH" in outcome.codes


@pytest.mark.parametrize(("status", "verdict"), [(500, "inconclusive"), (400, "pass")])
def test_turns_that_nobody_answers_do_not_pass_unseen(
    gate: Gate, status: int, verdict: str
) -> None:
    def refuse(request: Request) -> tuple[int, Request] | None:
        refused = "Task 3." in str(request["messages"])
        return (status, {"error": {"message": "no"}}) if refused else None

    outcome = gate(Faults(drafts=K, refuse=refuse), Faults(refuse=refuse))
    assert outcome.verdict.verdict == verdict, outcome.verdict.reasons
    (bound,) = [b for b in outcome.verdict.bounds if b.name == "answered_turns"]
    assert (bound.value == 0) == (status == 400)
    assert ("refused by both" in bound.message) == (status == 400)


def test_a_call_sent_twice_fails(gate: Gate) -> None:
    def twice(stream: Stream, request: Request) -> None:
        stream.calls = stream.calls * 2

    outcome = gate(Faults(drafts=K, spoil=spoil_some(share=5, edit=twice)))
    assert outcome.verdict.verdict == "fail"
    assert "TOOL_CALL_EXTRA" in outcome.codes


def test_lists_of_one_score_do_not_pass_for_an_argmax_check(gate: Gate) -> None:
    def short(stream: Stream, request: Request) -> None:
        for place, token in enumerate(stream.ids):
            stream.distributions[place] = {token: stream.distributions[place][token]}

    outcome = gate(Faults(drafts=K, spoil=short), allow_missing=True)
    (bound,) = [b for b in outcome.verdict.bounds if b.name == "candidate_argmax"]
    assert bound.state == "inconclusive"
    assert outcome.verdict.verdict != "pass"


def test_a_server_with_another_drafter_than_it_is_said_to_have_is_reported(gate: Gate) -> None:
    def skips(stream: Stream, request: Request) -> None:
        """As n-gram does where nothing matches: the step stands in no array."""
        stream.drafted, stream.accepted = stream.drafted[1:], stream.accepted[1:]

    outcome = gate(Faults(drafts=K, spoil=skips))
    assert outcome.verdict.verdict == "pass", "acceptance is no bound without a reference"
    assert outcome.store is not None
    with Store.open(outcome.store) as store:
        (run,) = store.rows("select notes from runs")
    assert any("names method eagle3: is it what the server runs?" in note for note in run["notes"])


def test_no_drafts_is_invalid(gate: Gate) -> None:
    outcome = gate(Faults(drafts=K, idle=True))
    assert outcome.verdict.verdict == "invalid"
    assert outcome.exit_code == 2
    assert "NO_DRAFTS" in outcome.codes


def test_nothing_accepted_is_invalid(gate: Gate) -> None:
    outcome = gate(Faults(drafts=K, accepts=False))
    assert outcome.verdict.verdict == "invalid"
    assert "NO_DRAFTS" in outcome.codes


@pytest.mark.parametrize(
    "fault", [Faults(drafts=K, version="0.31.0"), Faults(drafts=K, template="x")]
)
def test_paths_that_differ_are_invalid(gate: Gate, fault: Faults) -> None:
    outcome = gate(fault)
    assert outcome.verdict.verdict == "invalid", outcome.verdict.reasons
    assert "PATHS_DIFFER" in outcome.codes


def test_too_little_data_is_inconclusive(gate: Gate) -> None:
    outcome = gate(rate_margin=1e-4)
    assert outcome.verdict.verdict == "inconclusive"
    assert outcome.exit_code == 3
    assert any("more" in needed for needed in outcome.verdict.needed), outcome.verdict.needed


def test_a_reference_run_shows_lost_acceptance(gate: Gate) -> None:
    """Without a stored run to compare with no such code arises; with one, the fall is found."""
    first = gate()
    assert first.codes == {}

    def rejected(stream: Stream, request: Request) -> None:
        """Nearly every draft is refused: one token a step."""
        if sum(stream.prompt) % 10:
            stream.steps = [1] * len(stream.ids)
            stream.drafted = [K] * (len(stream.ids) - 1)
            stream.accepted = [0] * (len(stream.ids) - 1)

    fault = Faults(drafts=K, spoil=rejected)
    assert gate(fault).codes == {}
    assert "ACCEPTANCE_DEAD" in gate(fault, reference=first.run).codes


def test_a_reference_that_is_not_stored_is_refused_before_anything_is_sent(gate: Gate) -> None:
    with pytest.raises(StoreError, match="holds no runs"):
        gate(reference="no-such-run")


def test_requests_that_waited_or_were_lost_are_sent_again_and_the_report_says_so(
    gate: Gate,
) -> None:
    outcome = gate(Faults(drafts=K), Faults(busy=3, drops=2))
    assert outcome.verdict.verdict == "pass", outcome.verdict.reasons
    found = [note for note in outcome.notes if note.startswith("baseline (arm main): ")]
    busy, lost = (note.removeprefix("baseline (arm main): ") for note in found)
    assert busy.startswith("the server was busy and asked 3 times to wait")
    assert lost.startswith("2 requests lost the connection before the first byte")
