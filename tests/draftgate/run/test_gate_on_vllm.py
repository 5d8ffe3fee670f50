"""The gate over real vLLM servers: the embedded pair."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from draftgate.cli import run as run_cli
from draftgate.config.config import ArmSection
from draftgate.config.file import read_config
from draftgate.progress import SilentReporter
from draftgate.run.folder import RunFolder
from draftgate.run.gate import run_gate
from draftgate.run.outcome import GateOutcome
from tests.support.columns import NOT_IN_ONE_SOUND_RUN, NOT_ON_PAPER, documented, filled
from tests.support.paper.gate import rows
from tests.support.sessions.at_hand import MADE_UP
from traces.journal.exchange import PATHS
from traces.journal.journal import JournalReader, JournalWriter

pytest.importorskip("vllm", reason="vLLM is not installed")
pytestmark = [pytest.mark.vllm, pytest.mark.slow]

TURNS = 32
ROUTE_TURNS = 8


@dataclass(frozen=True)
class Pair:
    """The URLs of both running servers."""

    baseline: str
    candidate: str

    @property
    def overrides(self) -> dict[str, dict[str, Any]]:
        return {"baseline": {"urls": [self.baseline]}, "candidate": {"urls": [self.candidate]}}


@pytest.fixture(scope="module")
def pair(vllm_urls: dict[str, str]) -> Pair:
    return Pair(**vllm_urls)


def gate(
    root: Path, folder: Path, pair: Pair, arms: tuple[ArmSection, ...] = (), **run: Any
) -> GateOutcome:
    overrides = pair.overrides
    overrides["run"] = {"output": str(folder), "db": str(folder / "store.duckdb"), **run}
    overrides["run"].setdefault("tool_parser", "hermes")
    config = read_config(root / "gate.toml", overrides).model_copy(update={"arms": arms})
    return run_gate(config, SilentReporter())


@pytest.fixture(scope="module")
def outcome(
    root: Path, pair: Pair, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GateOutcome]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        folder = tmp_path_factory.mktemp("gate")
        yield gate(root, folder, pair, max_turns=TURNS, route_turns=ROUTE_TURNS)


def test_every_route_gives_the_answers_of_the_chat(outcome: GateOutcome) -> None:
    found = {row["route"]: row for row in rows(outcome, "from routes")}
    assert set(found) == {"chat", "messages", "responses", "completions"}
    for route, row in found.items():
        assert (row["refused"], row["errors"]) == (0, 0), route
        assert row["answered"] == row["turns"], route
        assert row["same_prompt"] == row["turns"], route
    others = [row for route, row in found.items() if route != "chat"]
    assert [row["turns"] for row in others] == [ROUTE_TURNS] * 3
    # Rounding may part a few answers; most are compared word by word, or the routes are not judged.
    assert all(row["compared"] >= ROUTE_TURNS / 2 for row in others)


def test_nothing_is_wrong_with_the_pair(outcome: GateOutcome) -> None:
    assert outcome.codes == {}
    assert outcome.verdict.verdict in ("pass", "inconclusive"), outcome.verdict.reasons
    assert outcome.counts["turns_judged"] >= 20
    missed = [c for c in outcome.verdict.controls if c.state == "missed"]
    assert missed == []


def test_the_baseline_repeats_itself(outcome: GateOutcome) -> None:
    (found,) = rows(
        outcome,
        "select count(*) as turns, count(*) filter (equal) as equal from pairs "
        "where comparison = 'aa'",
    )
    assert found["turns"] >= 20
    assert found["equal"] >= 0.9 * found["turns"]


def test_steps_account_for_every_token(outcome: GateOutcome) -> None:
    captures = rows(
        outcome,
        "select c.session, c.turn, c.aligned, c.completion_tokens as tokens, "
        "sum(s.committed) as committed "
        "from captures c left join steps s using (run, path, arm, session, turn, attempt) "
        "where c.path = 'candidate' and c.arm = 'main' group by all",
    )
    assert all(row["aligned"] for row in captures)
    assert all(row["tokens"] == 1 + (row["committed"] or 0) for row in captures)


def test_the_drafter_drafts_and_some_is_accepted(outcome: GateOutcome) -> None:
    (whole,) = rows(outcome, "from v_acceptance where arm = 'main'")
    assert 1.0 < whole["acceptance_length"] <= 4.0
    rates = whole["per_position_acceptance_rates"]
    assert 1 + sum(rates) == pytest.approx(whole["acceptance_length"])


def test_what_vllm_says_fills_every_column_about_captures(outcome: GateOutcome) -> None:
    """Other columns are filled by faults, arms and earlier runs (`test_every_column`)."""
    assert outcome.store is not None
    tables = ("captures", "tokens", "steps", "draft_positions", "tool_calls", "server_samples")
    tables += ("acceptance", "acceptance_positions", "sessions", "turns")
    empty = {c for c in documented() - filled([outcome.store]) if c.partition(".")[0] in tables}
    assert empty <= set(NOT_IN_ONE_SOUND_RUN) | {c for c in NOT_ON_PAPER if "gpu" in c}


def test_tool_calls_parse_and_are_known(outcome: GateOutcome) -> None:
    (calls,) = rows(
        outcome,
        "select count(*) as n, count(*) filter (parsed) as parsed, "
        "count(*) filter (known) as known "
        "from tool_calls where path = 'candidate' and arm = 'main'",
    )
    assert calls["n"] >= 5
    assert calls["parsed"] >= 0.9 * calls["n"]
    assert calls["known"] >= 0.9 * calls["n"]


def test_one_event_carries_several_tokens(outcome: GateOutcome) -> None:
    """Speculation really changes the cuts a streaming parser sees."""
    journal = RunFolder(outcome.folder).journal("candidate", "main")
    from traces.wire.reassembly import response_of

    most = max(
        chunk.token_ids or 0
        for capture in JournalReader(journal)
        for chunk in response_of(capture).chunks
    )
    assert most > 1


def test_turns_behind_aborts_and_under_grammars_are_sound(
    root: Path, pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    arms = (
        ArmSection(name="abort", abort=True, max_turns=10, repeat=False),
        ArmSection(name="grammar", grammar=True, max_turns=10, repeat=False),
    )
    # Nothing here is about pauses, which two busy cores make.
    outcome = gate(root, tmp_path, pair, arms, max_turns=12, plain_share=0, routes="none")
    assert outcome.codes == {}
    found = {row["arm"]: row["turns"] for row in rows(outcome, "from arms")}
    assert found == {"main": 12, "abort": 10, "grammar": 10}
    for path in PATHS:
        assert any(f"of the {path} were broken off" in note for note in outcome.notes)
    calls = rows(
        outcome,
        "select path, count(*) as n, count(*) filter (not (parsed and known)) as broken "
        "from tool_calls where arm = 'grammar' group by path order by path",
    )
    baseline, candidate = calls
    assert candidate["n"] > 0
    assert candidate["broken"] <= baseline["broken"]  # an answer may end at max_tokens on both
    for arm in ("abort", "grammar"):
        states = {b.state for b in outcome.verdict.bounds if b.name.endswith(f"[{arm}]")}
        assert "pass" in states
        assert states <= {"pass", "not_applicable"}


def _tampered(outcome: GateOutcome, folder: Path, edit: Any) -> list[str]:
    """A copy of the run's journals in which `edit` changed the candidate's captures."""
    shutil.copytree(outcome.folder, folder, dirs_exist_ok=True)
    journal = RunFolder(folder).journal("candidate", "main")
    captures = list(JournalReader(journal))
    journal.unlink()
    with JournalWriter(journal) as writer:
        for capture in captures:
            writer.add(replace(capture, events=tuple((ms, edit(e)) for ms, e in capture.events)))
    return [str(RunFolder(folder).journal("baseline", "main")), str(journal)]


def test_untouched_journals_do_not_fail_offline(
    outcome: GateOutcome, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = _tampered(outcome, tmp_path / "run", lambda event: event)
    assert run_cli(["check", *files, "--json"]) in (0, 3)
    assert json.loads(capsys.readouterr().out)["codes"] == {}


def test_a_tampered_capture_fails_offline(
    outcome: GateOutcome, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half of the argument text is lost, while ids, finish and [DONE] stay."""

    def lose(event: str | bytes) -> str | bytes:
        text = event.decode() if isinstance(event, bytes) else event
        return text.replace('"arguments":"', '"arguments":"{')

    files = _tampered(outcome, tmp_path / "run", lose)
    assert run_cli(["check", *files, "--json"]) == 1
    assert "ARGS_NOT_JSON" in json.loads(capsys.readouterr().out)["codes"]


END_OF_REASONING = {"CONTENT_DIFF", "REASONING_DIFF", "SPLIT_VARIANT"}
"""Text this far from its training makes the model end its reasoning twice now and then. What vLLM's
qwen3 parser shows of the second `</think>` depends on the cut (`docs/parsers`): a true finding."""


def test_sessions_of_other_tools_replay_through_the_same_path(
    root: Path, pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Claude Code, SWE-agent and request logs of other models: only the mechanics are asserted."""
    monkeypatch.chdir(root)
    files = [
        MADE_UP / "claude-code" / "blocks-in-rows.jsonl",
        MADE_UP / "swe-agent" / "function-calls.traj",
        MADE_UP / "request-log" / "rows.jsonl",
    ]
    found = gate(
        root, tmp_path, pair, sessions=[str(f) for f in files], max_tokens=24, routes="none"
    )
    assert found.counts["turns_replayed"] >= 5
    assert found.verdict.verdict != "invalid", found.verdict.reasons
    assert set(found.codes) <= END_OF_REASONING, found.verdict.reasons


def live(folder: Path, pair: Pair, root: Path, **run: int) -> Path:
    """A configuration of both running servers, in `folder`."""
    keys = "".join(f"{key} = {value}\n" for key, value in run.items())
    file = folder / "draftgate.toml"
    file.write_text(
        f"[run]\nsessions = ['{root}/traces/samples']\nmax_tokens = 48\n"
        f"sampled_share = 0\n{keys}"
        f"[baseline]\nurls = ['{pair.baseline}']\n[candidate]\nurls = ['{pair.candidate}']\n"
    )
    return file


TURN_BY_TURN = """
    from draftgate.testing import *

    def test_equivalent(both_paths):
        assert_equivalent(both_paths)

    def test_stream(both_paths):
        assert_stream_intact(both_paths)
        for answer in (both_paths.baseline, both_paths.candidate):
            assert_stream_intact(answer)

    def test_calls(recorded_turn, both_paths):
        assert recorded_turn.request["messages"] == both_paths.candidate.request["messages"]
        assert_tool_calls_valid(both_paths)

    def test_cuts(both_paths):
        assert_split_invariant("".join, both_paths.candidate)

    def test_only_the_candidate_drafts(both_paths):
        assert both_paths.baseline.response.speculation is None
        candidate = both_paths.candidate
        assert candidate.response.speculation is not None
        assert len(candidate.token_texts) == candidate.response.usage.completion
"""

ASKED = """
    import pytest
    from draftgate.testing import assert_stream_intact

    @pytest.mark.parametrize("path", ["baseline", "candidate"])
    def test_a_question(capture, path):
        answer = capture("Read src/main.py.", path=path)
        assert answer.path == path
        assert answer.content or answer.reasoning or answer.tool_calls
        assert_stream_intact(answer)

    def test_a_request_that_is_refused(capture):
        answer = capture({"messages": [{"role": "user", "content": "Hi."}], "min_p": 7})
        assert answer.status == 400
        with pytest.raises(AssertionError, match="no stream: .*min_p"):
            assert_stream_intact(answer)
"""


def test_the_plugin_asks_both_servers_turn_by_turn(
    root: Path, pair: Pair, pytester: pytest.Pytester
) -> None:
    """`both_paths`, `recorded_turn`, `capture` and every assertion against live endpoints."""
    live(pytester.path, pair, root)
    pytester.makepyfile(test_turns=TURN_BY_TURN, test_asked=ASKED)
    options = ("--draftgate-config=draftgate.toml", "--draftgate-turns=6", "-rA")
    result = pytester.runpytest_subprocess(*options, timeout=300)
    result.assert_outcomes(passed=6 * 5 + 3)


def test_a_server_that_is_another_one_does_not_pass(
    root: Path, pair: Pair, pytester: pytest.Pytester
) -> None:
    """The drafter's server under both names: what the suite says of the baseline is not so."""
    live(pytester.path, Pair(pair.candidate, pair.candidate), root)
    pytester.makepyfile(test_turns=TURN_BY_TURN)
    options = ("--draftgate-config=draftgate.toml", "--draftgate-turns=2", "-k", "drafts")
    result = pytester.runpytest_subprocess(*options, timeout=300)
    result.assert_outcomes(failed=2, deselected=8)


def test_the_plugin_gates_live_servers(root: Path, pair: Pair, pytester: pytest.Pytester) -> None:
    """`draftgate_run`: a whole run, made once; so few turns are too few to pass or fail."""
    live(pytester.path, pair, root, max_sessions=2, max_turns=6)
    pytester.makepyfile(
        """
        from draftgate.testing import Inconclusive, assert_gate_passed
        import pytest

        def test_verdict(draftgate_run):
            assert draftgate_run.codes == {}
            assert draftgate_run.counts["turns_judged"] == 6
            with pytest.raises(Inconclusive):
                assert_gate_passed(draftgate_run)

        def test_once(draftgate_run):
            assert_gate_passed(draftgate_run)
        """
    )
    options = ("--draftgate-config=draftgate.toml", "--draftgate-inconclusive=warn")
    result = pytester.runpytest_subprocess(*options, timeout=300)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*1 passed*1 inconclusive*"])
    assert len(list((pytester.path / ".draftgate" / "runs").iterdir())) == 1


def test_the_plugin_reads_the_journals_of_real_servers(
    outcome: GateOutcome, pytester: pytest.Pytester
) -> None:
    """The same tests offline, over the journals of the whole run."""
    pytester.makepyfile(test_turns=TURN_BY_TURN, test_asked=ASKED)
    journals = f"--draftgate-journals={outcome.folder}"
    found = pytester.runpytest_subprocess(journals, "-rA", timeout=300).parseoutcomes()
    assert found == {"passed": 5 * outcome.counts["turns_replayed"], "skipped": 3}


def test_init_asks_both_servers(
    root: Path, pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The markup they make calls of, that they split reasoning off, and the model's folder."""
    monkeypatch.chdir(root)
    file = tmp_path / "draftgate.toml"
    urls = ["--baseline-url", pair.baseline, "--candidate-url", pair.candidate]
    assert run_cli(["init", "traces/samples", *urls, "-o", str(file)]) == 0
    config = read_config(file)
    assert config.run.tool_parser == "hermes"
    assert config.run.tokenizer == "models/weights/target"
    assert config.candidate.speculative_config == {"num_speculative_tokens": 3}
    assert config.run.reasoning_parser == ""
    assert "# seen: the candidate splits reasoning off; by which parser" in file.read_text()
