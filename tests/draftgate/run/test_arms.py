"""Further arms over paper servers: off by default, judged as the main arm, faults found in them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checks.run.reruns import in_flight_beside
from checks.sessions.in_flight import Span
from draftgate.config.config import ArmSection, Config
from draftgate.progress import SilentReporter
from draftgate.run.arms import choose_sessions, further_arms
from draftgate.run.folder import RunFolder
from draftgate.run.gate import run_gate
from draftgate.run.offline import judge_journals
from draftgate.run.outcome import GateOutcome
from replay.sending.job import Job
from reports.sql.query import answer
from reports.store.store import Store
from tests.support.paper.gate import K, paper_config, paper_paths, rows
from tests.support.paper.model import Vocabulary
from tests.support.paper.server import Faults, PaperServer
from tests.support.paper.sessions import write_sessions
from tests.support.paper.spoiled import torn_arguments, wrong_token
from tests.support.paper.stream import Stream
from traces.errors import ServerError
from traces.journal.arm import Arm
from traces.journal.journal import JournalReader

Request = dict[str, Any]
Edit = Callable[[Stream, Request], None]
C8 = {"name": "c8", "concurrency": 8, "share": 0.5}


def with_arms(config: Config, *arms: dict[str, Any], which: str = "listed") -> Config:
    sections = tuple(ArmSection(**arm) for arm in arms)
    run = config.run.model_copy(update={"arms": which})
    return config.model_copy(update={"arms": sections, "run": run})


def gate_with(
    folder: Path,
    *arms: dict[str, Any],
    candidate: Faults | None = None,
    which: str = "listed",
    few: bool = True,
) -> GateOutcome:
    """A gate run; with `few` sessions it is too small for a certificate."""
    if few:
        write_sessions(folder / "sessions.jsonl", 12, 2)
    with paper_paths(candidate) as servers:
        config = with_arms(paper_config(folder, servers), *arms, which=which)
        return run_gate(config, SilentReporter())


def journals(outcome: GateOutcome) -> set[str]:
    return {file.name.removesuffix("-0.jsonl.zst") for file in outcome.folder.glob("*.jsonl.zst")}


OWN = {"candidate-main", "candidate-plain", "baseline-main", "baseline-aa", "baseline-plain"}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> GateOutcome:
    """A sound pair with two further arms."""
    cold = {"name": "cold", "prefix_cache": False, "share": 0.5, "max_turns": 30}
    cold["repeat"] = False
    return gate_with(tmp_path_factory.mktemp("arms"), C8, cold, few=False)


def test_a_sound_pair_passes_with_its_arms(outcome: GateOutcome) -> None:
    assert outcome.verdict.verdict == "pass", outcome.verdict.reasons
    assert outcome.codes == {}
    further = {"candidate-c8", "baseline-c8", "baseline-c8-aa", "candidate-cold", "baseline-cold"}
    assert journals(outcome) == OWN | further | {"scores"}
    bounds = {bound.name: bound.state for bound in outcome.verdict.bounds}
    assert bounds["greedy_regret_ladder[c8]"] in ("pass", "not_applicable"), "a small arm is blind"
    assert bounds["greedy_regret_ladder[cold]"] == "not_applicable", "so is one without a repeat"
    assert bounds["scored_share[c8]"] == "pass"


def test_an_arm_is_stored_beside_the_main_one(outcome: GateOutcome) -> None:
    found = {row["arm"]: row for row in rows(outcome, "from arms")}
    assert set(found) == {"main", "c8", "cold"}
    assert (found["main"]["turns"], found["main"]["concurrency"]) == (96, 4)
    assert (found["c8"]["sessions"], found["c8"]["turns"], found["c8"]["repeated"]) == (
        12,
        48,
        True,
    )
    cold = found["cold"]
    assert (cold["turns"], cold["repeated"], cold["prefix_cache"]) == (30, False, False)
    compared = rows(
        outcome,
        "select comparison, count(*) as n, bool_and(judged and equal) as equal from pairs "
        "group by comparison order by comparison",
    )
    assert [(row["comparison"], row["n"]) for row in compared] == [
        ("aa", 96),
        ("c8", 48),
        ("c8-aa", 48),
        ("candidate", 96),
        ("cold", 30),
    ]
    assert all(row["equal"] for row in compared)
    (scored,) = rows(
        outcome,
        "select count(*) as n, count(regret) as scored, count(label) as labelled, "
        "count(step) as steps from tokens where path = 'candidate' and arm = 'c8'",
    )
    assert scored["n"] == scored["scored"] == scored["labelled"] == scored["steps"] > 0


def test_every_arm_has_a_cache_of_its_own_and_a_cold_one_none(outcome: GateOutcome) -> None:
    def salts(arm: str) -> list[str]:
        journal = RunFolder(outcome.folder).journal("candidate", arm)
        return [capture.request["cache_salt"] for capture in JournalReader(journal)]

    assert set(salts("c8")) == {f"{outcome.run}-candidate-c8"}
    assert len(set(salts("cold"))) == len(salts("cold")) == 30


def test_the_speed_up_curve_has_a_point_per_concurrency(outcome: GateOutcome) -> None:
    """The cold arm's speed is no point of it."""
    assert outcome.store is not None
    with Store.open(outcome.store) as store:
        points = answer(store, "speedup_by_concurrency").rows.to_pylist()
    assert [(p["concurrency"], p["turns"] > 0) for p in points] == [(4, True), (8, True)]
    for point in points:
        assert point["low"] <= point["tpot_speedup"] <= point["high"]
        assert point["state"] in ("pays", "costs", "undecided")
        assert 0 < point["in_flight"] <= point["concurrency"]
    (metric,) = rows(outcome, "from metrics where name = 'break_even_concurrency'")
    assert metric["value"] == points[0]["break_even"]
    assert outcome.report is not None
    assert "Speed-up by concurrency" in outcome.report.read_text()


def test_the_servers_metrics_are_kept_per_arm(outcome: GateOutcome) -> None:
    load = {
        (row["path"], row["arm"]): row
        for row in rows(
            outcome,
            "select v.*, tokens from v_server_load v join (select path, arm, "
            "sum(completion_tokens) as tokens from captures group by all) using (path, arm)",
        )
    }
    assert {arm for _, arm in load} == {"main", "aa", "plain", "c8", "c8-aa", "cold"}
    for (path, _), row in load.items():
        assert row["generated_tokens"] == row["tokens"]
        assert (row["drafts"] is None) == (path == "baseline")


def test_sums_of_an_arm_stay_apart(outcome: GateOutcome) -> None:
    """What is said of the main arm does not change with the further ones."""
    for arm in ("main", "c8", "cold"):
        (stored,) = rows(outcome, f"from v_acceptance where arm = '{arm}'")
        (raw,) = rows(
            outcome,
            "select 1 + sum(accepted) / count(*) as length, count(*) as steps from steps "
            f"where path = 'candidate' and arm = '{arm}' and first_token is not null",
        )
        assert stored["steps"] == raw["steps"]
        assert stored["acceptance_length"] == pytest.approx(raw["length"])


def only_in(arm: str, edit: Edit) -> Edit:
    """A fault that shows under the load of one arm alone."""

    def spoil(stream: Stream, request: Request) -> None:
        if request.get("cache_salt", "").endswith(f"-{arm}") and sum(stream.prompt) % 5 == 0:
            edit(stream, request)

    return spoil


def test_a_token_fault_of_one_arm_fails_and_is_run_again_there(tmp_path: Path) -> None:
    fault = Faults(drafts=K, spoil=only_in("c8", wrong_token))
    outcome = gate_with(tmp_path, C8, candidate=fault)
    assert outcome.verdict.verdict == "fail", outcome.verdict.reasons
    assert any("arm c8" in reason for reason in outcome.verdict.reasons)
    assert {f"candidate-c8-rerun-{n}" for n in ("1", "2", "alone")} <= journals(outcome)
    assert "candidate-rerun-1" not in journals(outcome)
    found = rows(outcome, "from findings where code = 'GREEDY_DIVERGENCE'")
    assert found
    assert {row["arm"] for row in found} == {"c8"}
    assert all("intermittent: 0 of 3 re-runs" in row["message"] for row in found)
    assert all(row["case_file"] is None or "c8" not in row["message"] for row in found)


def test_an_exact_fault_of_one_arm_has_a_case_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from draftgate.cli import run

    fault = Faults(drafts=K, spoil=only_in("c8", torn_arguments))
    outcome = gate_with(tmp_path, C8, candidate=fault)
    assert "ARGS_NOT_JSON" in outcome.codes
    found = rows(outcome, "from findings where code = 'ARGS_NOT_JSON'")
    assert {row["arm"] for row in found} == {"c8"}
    assert run(["check", found[0]["case_file"], "--json"]) == 1
    checked = json.loads(capsys.readouterr().out)
    assert checked["cases"][0]["scenarios"][0]["codes"] == ["ARGS_NOT_JSON"]


def test_an_arm_whose_turns_nobody_answers_is_no_pass(tmp_path: Path) -> None:
    """Both servers give up under its load, so that no difference between them shows."""

    def overload(request: Request) -> tuple[int, Request] | None:
        crowded = "-c8" in request.get("cache_salt", "")
        return (503, {"error": {"message": "overloaded"}}) if crowded else None

    write_sessions(tmp_path / "sessions.jsonl", 12, 2)
    with paper_paths(Faults(drafts=K, refuse=overload), Faults(refuse=overload)) as servers:
        outcome = run_gate(with_arms(paper_config(tmp_path, servers), C8), SilentReporter())
    assert outcome.verdict.verdict == "inconclusive", outcome.verdict.reasons
    states = {bound.name: bound.state for bound in outcome.verdict.bounds}
    assert states["answered_turns"] == states["greedy_regret_ladder[c8]"] == "inconclusive"


def test_journals_of_arms_are_judged_offline(tmp_path: Path) -> None:
    fault = Faults(drafts=K, spoil=only_in("c8", torn_arguments))
    outcome = gate_with(tmp_path, C8, candidate=fault)
    folder = RunFolder(outcome.folder)
    files = [folder.journal(path, "main") for path in ("candidate", "baseline")]
    again = judge_journals(files, None)
    assert again.codes["ARGS_NOT_JSON"] == outcome.codes["ARGS_NOT_JSON"]
    assert "greedy_regret_ladder[c8]" in {bound.name for bound in again.verdict.bounds}


def test_a_run_that_ended_inside_an_arm_goes_on_there(tmp_path: Path) -> None:
    write_sessions(tmp_path / "sessions.jsonl", 12, 2)
    with paper_paths() as servers:
        config = with_arms(paper_config(tmp_path, servers), C8)
        servers[1].faults = Faults(drafts=K, die_after=45)
        with pytest.raises(ServerError, match="gives no answer any more"):
            run_gate(config, SilentReporter())
        (folder,) = (tmp_path / "out" / "runs").iterdir()
        journal = RunFolder(folder).journal("candidate", "c8")
        answered = sum(capture.status == 200 for capture in JournalReader(journal))
        servers[1].faults = Faults(drafts=K)
        before = servers[1].chats
        outcome = run_gate(config, SilentReporter(), resume=folder.name)
    assert outcome.codes == {"SERVER_RESTARTED": 1}, "turns in flight were lost with the server"
    assert 0 < answered < 16
    # The twelve turns of the arm but those answered; facts and the warm-up take ten chats more.
    assert servers[1].chats - before <= 16 - answered + 12
    assert rows(outcome, "select turns from arms where arm = 'c8'") == [{"turns": 16}]


def test_one_switch_turns_the_ready_made_arms_on(tmp_path: Path) -> None:
    outcome = gate_with(tmp_path, which="all")
    assert outcome.codes == {}
    states = {bound.name: bound.state for bound in outcome.verdict.bounds}
    assert states["answered_turns"] == "pass"
    found = rows(outcome, "select arm, concurrency from arms order by concurrency, arm")
    assert [(row["arm"], row["concurrency"]) for row in found] == [
        ("c1", 1),
        ("abort", 4),
        ("date-line", 4),
        ("grammar", 4),
        ("main", 4),
        ("no-prefix-cache", 4),
        ("system-as-user", 4),
        ("c16", 16),
        ("c64", 64),
    ]


def test_other_clients_of_an_attached_server_are_reported_and_no_fault(tmp_path: Path) -> None:
    outcome = gate_with(tmp_path, candidate=Faults(drafts=K, others=30))
    assert outcome.codes == {}
    (run,) = rows(outcome, "select notes from runs")
    assert any("wrote" in note and "for others" in note for note in run["notes"])


def test_a_suspect_is_run_again_with_the_company_it_had() -> None:
    times = {"a": (0, 2), "b": (1, 5), "c": (4, 6), "d": (7, 8), "e": (5.5, 7.5)}
    sent = {("s", name): Span(start, ("s", name), end) for name, (start, end) in times.items()}
    assert in_flight_beside(sent, [("s", "a")]) == {("s", "a"), ("s", "b")}
    beside = {turn for _, turn in in_flight_beside(sent, [("s", "a"), ("s", "d")])}
    assert beside == {"a", "b", "d", "e"}


# What an arm replays.

SESSIONS = [[Job(f"s{s}", f"t{t}", {}) for t in range(3)] for s in range(20)]


def test_a_smaller_share_is_part_of_a_larger_one() -> None:
    few = choose_sessions(Arm("a", 1, share=0.4), SESSIONS, seed=3)
    more = choose_sessions(Arm("b", 1, share=0.6), SESSIONS, seed=3)
    assert (len(few), len(more)) == (8, 12)
    assert {s[0].session for s in few} < {s[0].session for s in more}
    assert choose_sessions(Arm("a", 1, share=0.4), SESSIONS, seed=4) != few


def test_an_arm_has_at_least_as_many_sessions_as_it_replays_side_by_side() -> None:
    assert len(choose_sessions(Arm("a", 16, share=0.1), SESSIONS, 0)) == 16
    assert len(choose_sessions(Arm("a", 1, share=0.1), SESSIONS, 0)) == 6
    assert len(choose_sessions(Arm("a", 50, share=0.1), SESSIONS, 0)) == 20
    assert len(choose_sessions(Arm("a", 16, share=0.1, max_sessions=5), SESSIONS, 0)) == 5


def test_turns_are_capped_evenly_over_the_sessions() -> None:
    chosen = choose_sessions(Arm("a", 4, share=0.3, max_turns=8), SESSIONS, 0)
    assert [len(session) for session in chosen] == [2, 2, 1, 1, 1, 1]
    assert all(session[0].turn == "t0" for session in chosen)


def test_the_longest_session_starts_first() -> None:
    uneven = [session[: 1 + place % 3] for place, session in enumerate(SESSIONS)]
    lengths = [len(session) for session in choose_sessions(Arm("a", 8), uneven, 0)]
    assert lengths == sorted(lengths, reverse=True)
    assert sum(lengths) == sum(len(session) for session in uneven)


def test_nothing_runs_unless_it_is_asked_for(tmp_path: Path) -> None:
    nowhere = PaperServer(Vocabulary(), url="http://127.0.0.1:9")
    config = paper_config(tmp_path, (nowhere, nowhere))
    assert further_arms(config) == ()
    assert further_arms(with_arms(config, C8, which="none")) == ()
    assert [arm.name for arm in further_arms(with_arms(config, C8))] == ["c8"]
    own = {"name": "c1", "concurrency": 2}
    found = {arm.name: arm for arm in further_arms(with_arms(config, own, which="all"))}
    assert found["c1"].concurrency == 2
