"""The pytest plugin in suites of its users: inert until asked, offline, live, and under xdist."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

# Imported here so that suites run inside this process find them: some cannot be imported twice.
from checks.splits.judge import judge_given  # noqa: F401
from draftgate.progress import SilentReporter
from draftgate.pytest_plugin.settings import OPTIONS
from draftgate.run.gate import run_gate
from draftgate.testing.differences import differences  # noqa: F401
from tests.support.paper.gate import STAND_IN, K, paper_config, paper_paths
from tests.support.paper.server import Faults, PaperServer
from tests.support.paper.sessions import write_sessions
from tests.support.paper.stream import Stream
from traces.errors import Interrupted
from traces.journal.journal import JournalReader, JournalWriter

SECRET = "sk-ant-" + "api03-Zq1Xw2Ec3Rv4Tb5Yn6Um7Ik8Ol9Pa0Sd"


def torn(stream: Stream, request: dict[str, Any]) -> None:
    """The last brace of every call's arguments is lost, and a key stands in the text."""
    for call in stream.calls:
        call["arguments"] = call["arguments"][:-1]
        stream.content += f"\nexport API_KEY={SECRET}"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders ``sound`` and ``torn``, each the journals of a run of 3 sessions with 2 turns."""
    folder = tmp_path_factory.mktemp("runs")
    for name, fault in (("sound", Faults(drafts=K)), ("torn", Faults(drafts=K, spoil=torn))):
        home = folder / f"{name}-home"
        home.mkdir()
        write_sessions(home / "sessions.jsonl", 3, 2)
        with paper_paths(fault) as servers:
            outcome = run_gate(paper_config(home, servers), SilentReporter())
        shutil.move(outcome.folder, folder / name)
    return folder


SUITE = """
    from draftgate.testing import *

    def test_equivalent(both_paths):
        assert_equivalent(both_paths)

    def test_stream(both_paths):
        assert_stream_intact(both_paths)

    def test_calls(recorded_turn, both_paths):
        assert recorded_turn.tools
        assert_tool_calls_valid(both_paths.candidate)
"""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(SUITE)
    return pytester


def test_the_plugin_is_installed(pytester: pytest.Pytester) -> None:
    """Where this fails, `make install` has not run since the plugin was added."""
    result = pytester.runpytest("--trace-config")
    result.stdout.fnmatch_lines(["*draftgate-*"])


def test_without_evidence_tests_are_skipped_and_say_why(suite: pytest.Pytester) -> None:
    result = suite.runpytest("-rs")
    result.assert_outcomes(skipped=3)
    result.stdout.fnmatch_lines(["*no journals, endpoints or configuration are named*"])


@pytest.mark.parametrize("said", ["--draftgate-strict", "--override-ini=draftgate_strict=true"])
def test_strictly_nothing_configured_is_an_error(suite: pytest.Pytester, said: str) -> None:
    result = suite.runpytest(said)
    assert result.ret != pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["*no journals, endpoints or configuration are named*", "*fix: *"])


def test_strictly_a_verdict_and_a_case_that_are_not_named_are_errors(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        test_verdict="def test_verdict(draftgate_run): pass",
        test_case="def test_case(case_scenario): pass",
    )
    pytester.runpytest().assert_outcomes(skipped=2)
    result = pytester.runpytest("--draftgate-strict", "--continue-on-collection-errors")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*no case files are named*"])


@pytest.mark.parametrize(
    "said", ["--draftgate-journal=run", "--override-ini=draftgate_journal=run", "draftgate_journal"]
)
def test_a_mistyped_option_does_not_stay_green(suite: pytest.Pytester, said: str) -> None:
    if said.startswith("-"):
        result = suite.runpytest(said)
    else:
        suite.makeini(f"[pytest]\n{said} = run")
        result = suite.runpytest()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    if "draftgate_" in said:
        result.stderr.fnmatch_lines(
            ["*unknown key draftgate_journal*", "*did you mean draftgate_journals?*"]
        )


def test_paths_of_the_command_line_may_be_globs_and_lie_below_home(
    suite: pytest.Pytester, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(runs))
    for said in ("~/sou*", "$HOME/sound", "${HOME}/sound/*-main-0.jsonl.zst"):
        result = suite.runpytest("-k", "s0-t0000 and stream", f"--draftgate-journals={said}")
        result.assert_outcomes(passed=1, deselected=17)


def test_sound_journals_pass_without_a_server(suite: pytest.Pytester, runs: Path) -> None:
    result = suite.runpytest("-v", f"--draftgate-journals={runs / 'sound'}")
    result.assert_outcomes(passed=18)
    names = re.findall(r"::test_stream\[(.*?)\]", result.stdout.str())
    assert len(set(names)) == 6
    assert all(re.fullmatch(r"s[012]-t000[01]-(read_file|text)", name) for name in names), names
    assert names == sorted(names)


def test_torn_calls_fail_with_a_difference_and_no_secret(
    suite: pytest.Pytester, runs: Path
) -> None:
    result = suite.runpytest("--showlocals", "-rA", f"--draftgate-journals={runs / 'torn'}")
    counts = result.parseoutcomes()
    assert (counts["failed"], counts["passed"]) == (8, 10)  # four of six turns call a tool
    result.stdout.fnmatch_lines(["E*ARGS_NOT_JSON*", "E*--- baseline: *", "E*+++ candidate: *"])
    assert "api03" not in result.stdout.str()


def test_a_users_own_assertion_and_output_show_no_secret(
    pytester: pytest.Pytester, runs: Path
) -> None:
    pytester.makepyfile(
        """
        def test_text(both_paths, recorded_turn):
            print("it says", both_paths.candidate.content)
            text = both_paths.candidate.content[-30:]
            assert text == ""
            assert "nothing" in both_paths.candidate.content
        """
    )
    result = pytester.runpytest("--showlocals", f"--draftgate-journals={runs / 'torn'}")
    assert result.parseoutcomes()["failed"] == 6
    text = result.stdout.str()
    assert "it says" in text
    assert "REDACTED_ANTHROPIC_KEY_1" in text
    assert not any(SECRET[i : i + 8] in text for i in range(len(SECRET) - 7))


def test_sessions_name_the_turns(suite: pytest.Pytester, runs: Path) -> None:
    sessions = runs / "sound-home" / "sessions.jsonl"
    journals = f"--draftgate-journals={runs / 'sound'}"
    result = suite.runpytest("-v", journals, f"--draftgate-sessions={sessions}")
    result.assert_outcomes(passed=18)
    result.stdout.fnmatch_lines(["*test_stream?sessions-s3-t0001-prose? PASSED*"])


def test_a_turn_that_was_not_replayed_is_skipped(suite: pytest.Pytester, runs: Path) -> None:
    other = write_sessions(suite.path / "other.jsonl", 4, 2)
    journals = f"--draftgate-journals={runs / 'sound'}"
    result = suite.runpytest("-rs", journals, f"--draftgate-sessions={other}")
    result.assert_outcomes(passed=18, skipped=6)
    result.stdout.fnmatch_lines(["*the journals hold no answer of the baseline to other-s4-*"])


def test_a_record_of_no_path_is_a_warning_of_the_test_run(
    suite: pytest.Pytester, runs: Path
) -> None:
    folder = shutil.copytree(runs / "sound", suite.path / "run")
    journal = folder / "candidate-main-0.jsonl.zst"
    first, *others = JournalReader(journal)
    journal.unlink()
    with JournalWriter(journal) as writer:
        writer.add(replace(first, key=replace(first.key, path="candidat")))
        for capture in others:
            writer.add(capture)
    result = suite.runpytest("--draftgate-journals=run", "-k", "stream")
    result.assert_outcomes(passed=5, skipped=1, deselected=12, warnings=1)
    result.stdout.fnmatch_lines(["*candidate-main-0.jsonl.zst, record 1: path 'candidat' is nei*"])


def test_turns_are_drawn_alike_in_every_process(suite: pytest.Pytester, runs: Path) -> None:
    sessions = f"--draftgate-sessions={runs / 'sound-home' / 'sessions.jsonl'}"
    outputs = [
        suite.runpytest("--collect-only", "-q", sessions, "--draftgate-turns=2").stdout.str()
        for _ in range(2)
    ]
    found = [re.findall(r"test_stream\[.*\]", output) for output in outputs]
    assert found[0] == found[1]
    assert len(found[0]) == 2


def test_the_command_line_comes_before_the_marker_before_the_ini_file(
    pytester: pytest.Pytester, runs: Path
) -> None:
    pytester.makeini(f"[pytest]\ndraftgate_journals =\n    {runs / 'torn'}\n")
    pytester.makepyfile(
        f"""
        import pytest
        from draftgate.testing import assert_tool_calls_valid

        def test_ini(both_paths):
            assert_tool_calls_valid(both_paths.candidate)

        @pytest.mark.draftgate(journals={str(runs / "sound")!r})
        def test_marker(both_paths):
            assert_tool_calls_valid(both_paths.candidate)
        """
    )
    counts = pytester.runpytest("-v").parseoutcomes()
    assert counts == {"passed": 8, "failed": 4}
    sound = pytester.runpytest(f"--draftgate-journals={runs / 'sound'}")
    sound.assert_outcomes(passed=12)
    torn_ones = pytester.runpytest("-k", "test_marker", f"--draftgate-journals={runs / 'torn'}")
    assert torn_ones.parseoutcomes()["failed"] == 4


@pytest.mark.parametrize(
    ("marker", "words"),
    [
        ("journal='x'", "*knows no journal*did you mean journals?*"),
        ("journals='nowhere'", "*nowhere: no such journal*"),
        ("turns=0, journals='x'", "*draftgate_turns: 0 is no number of turns*"),
        ("inconclusive='maybe'", "*draftgate_inconclusive: 'maybe' is not known*fail, warn, skip*"),
        ("sessions='none.jsonl'", "*none.jsonl: no such file or folder*"),
        ("config='none.toml'", "*none.toml: no such configuration file*"),
    ],
)
def test_what_is_named_wrongly_is_an_error_without_a_traceback(
    pytester: pytest.Pytester, marker: str, words: str
) -> None:
    pytester.makepyfile(
        f"""
        import pytest

        @pytest.mark.draftgate({marker})
        def test_x(recorded_turn):
            pass
        """
    )
    result = pytester.runpytest()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    text = " ".join(result.stdout.str().split())
    assert re.search(words.replace("*", ".*").replace("?", r"\?"), text), text
    assert "Traceback" not in text


INCONCLUSIVE = """
    import pytest
    from draftgate.testing import Inconclusive, assert_gate_passed

    def test_run(draftgate_run):
        assert_gate_passed(draftgate_run)

    def test_other():
        pass
"""


@pytest.mark.parametrize(
    ("way", "code", "summary"),
    [
        ("fail", 1, "*1 passed, 1 inconclusive*"),
        ("warn", 0, "*1 passed, 1 warning, 1 inconclusive*"),
        ("skip", 0, "*1 passed, 1 skipped*"),
    ],
)
def test_inconclusive_is_an_outcome_of_its_own(
    pytester: pytest.Pytester, runs: Path, way: str, code: int, summary: str
) -> None:
    pytester.makepyfile(INCONCLUSIVE)
    journals = f"--draftgate-journals={runs / 'sound'}"
    result = pytester.runpytest("-rs", journals, f"--draftgate-inconclusive={way}")
    assert result.ret == code
    result.stdout.fnmatch_lines(["*more turns*" if way != "skip" else "*inconclusive: run*"])
    result.stdout.fnmatch_lines([summary])


def test_a_warning_that_is_an_error_fails(pytester: pytest.Pytester, runs: Path) -> None:
    pytester.makepyfile(INCONCLUSIVE)
    journals = f"--draftgate-journals={runs / 'sound'}"
    result = pytester.runpytest("-W", "error", journals, "--draftgate-inconclusive=warn")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*1 passed, 1 inconclusive*"])


def test_inconclusive_is_kept_without_any_evidence(pytester: pytest.Pytester) -> None:
    """A test that asks for no fixture of draftgate may raise it too."""
    pytester.makepyfile(
        """
        from draftgate.testing import assert_split_invariant

        def test_short():
            assert_split_invariant("".join, "")
        """
    )
    result = pytester.runpytest("-v")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*test_short INCONCLUSIVE*", "*1 inconclusive*"])


def test_marked_or_not_the_tests_can_be_left_out(suite: pytest.Pytester, runs: Path) -> None:
    suite.makepyfile(test_plain="def test_plain():\n    pass\n")
    journals = f"--draftgate-journals={runs / 'sound'}"
    suite.runpytest(journals, "-m", "not draftgate", "--strict-markers").assert_outcomes(
        passed=1, deselected=18
    )


def test_a_suites_own_fixtures_and_values_win(pytester: pytest.Pytester, runs: Path) -> None:
    pytester.makeconftest(
        """
        import pytest

        @pytest.fixture
        def capture():
            return "mine"

        @pytest.fixture
        def recorded_turn():
            return "mine too"
        """
    )
    pytester.makepyfile(
        """
        import pytest

        def test_mine(capture, recorded_turn):
            assert (capture, recorded_turn) == ("mine", "mine too")

        @pytest.mark.parametrize("case_scenario", [1, 2])
        def test_values(case_scenario):
            assert case_scenario in (1, 2)
        """
    )
    pytester.runpytest(f"--draftgate-journals={runs / 'sound'}").assert_outcomes(passed=3)


def test_offline_a_new_request_cannot_be_captured(pytester: pytest.Pytester, runs: Path) -> None:
    pytester.makepyfile(
        """
        def test_new(capture):
            capture("List the files.")

        def test_recorded(capture, recorded_turn):
            answer = capture(recorded_turn, path="baseline")
            assert answer.path == "baseline"
            assert answer.status == 200
        """
    )
    result = pytester.runpytest("-rs", f"--draftgate-journals={runs / 'sound'}")
    result.assert_outcomes(passed=6, skipped=1)
    result.stdout.fnmatch_lines(["*hold no answer of the candidate to request-*"])


@pytest.fixture
def paper() -> Iterator[tuple[PaperServer, PaperServer]]:
    with paper_paths() as servers:
        yield servers


def test_live_endpoints_are_asked_turn_by_turn(
    suite: pytest.Pytester, paper: tuple[PaperServer, PaperServer]
) -> None:
    baseline, candidate = paper
    sessions = write_sessions(suite.path / "chat.jsonl", 2, 2)
    suite.makepyfile(
        test_new="""
        from draftgate.testing import assert_stream_intact

        def test_new(capture):
            answer = capture("List the files.")
            assert answer.content
            assert_stream_intact(answer)
        """
    )
    arguments = [
        f"--draftgate-baseline-url={baseline.url}",
        f"--draftgate-candidate-url={candidate.url}",
        f"--draftgate-sessions={sessions}",
    ]
    suite.runpytest(*arguments).assert_outcomes(passed=13)
    # Every turn once for all its tests, and the new request.
    assert (baseline.chats, candidate.chats) == (4, 5)
    one = suite.runpytest("-k", "s1-t0001 and stream", *arguments)
    one.assert_outcomes(passed=1, deselected=12)
    assert (baseline.chats, candidate.chats) == (5, 6)


def test_one_endpoint_alone_can_be_asked(
    pytester: pytest.Pytester, paper: tuple[PaperServer, PaperServer]
) -> None:
    pytester.makepyfile(
        """
        def test_candidate(capture):
            assert capture("Hello.").finish_reason == "stop"

        def test_baseline(capture):
            capture("Hello.", path="baseline")
        """
    )
    result = pytester.runpytest("-rs", f"--draftgate-candidate-url={paper[1].url}")
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["*no URL of the baseline is named*"])


def test_an_endpoint_that_is_down_fails_with_its_fix(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_x(capture):\n    capture('Hello.')\n")
    result = pytester.runpytest("--draftgate-candidate-url=http://127.0.0.1:9")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*http://127.0.0.1:9/v1/models cannot be reached*", "fix: *"])


def test_xdist_workers_share_one_run_and_agree_on_the_turns(
    pytester: pytest.Pytester, paper: tuple[PaperServer, PaperServer]
) -> None:
    """Two processes, one gate: the second reads the verdict of the first."""
    write_sessions(pytester.path / "chat.jsonl", 2, 2)
    (pytester.path / "draftgate.toml").write_text(
        "[run]\nsessions = ['chat.jsonl']\ntool_parser = 'hermes'\n"
        f"[baseline]\nurls = ['{paper[0].url}']\n[candidate]\nurls = ['{paper[1].url}']\n"
    )
    pytester.makeini("[pytest]\ndraftgate_config = draftgate.toml\n")
    verdict = """
        def test_verdict(draftgate_run):
            assert draftgate_run.verdict.verdict == "inconclusive"
    """
    pytester.makepyfile(test_a=verdict, test_b=verdict, test_c=INCONCLUSIVE, test_d=SUITE)
    result = pytester.runpytest_subprocess("-n", "2", "--dist", "loadfile")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["test_c.py::test_run - run *: inconclusive"])
    result.stdout.fnmatch_lines(["*15 passed, 1 inconclusive*"])
    assert len(list((pytester.path / ".draftgate" / "runs").iterdir())) == 1


LAUNCHED = """
[run]
sessions = ["chat.jsonl"]
order = "together"
[server]
model = "model"
served_model_name = "paper"
env = {{ PYTHONPATH = "{stand_in}" }}
[candidate]
speculative_config = {{ method = "mtp", num_speculative_tokens = 3 }}
"""


def test_launched_servers_replay_first_and_tests_read_the_journals(
    suite: pytest.Pytester,
) -> None:
    """The gate launches both servers (a stand-in for vLLM), once for all tests, and ends them."""
    write_sessions(suite.path / "chat.jsonl", 2, 2)
    model = suite.mkdir("model")
    (model / "config.json").write_text('{"model_type": "llama"}')
    (suite.path / "launched.toml").write_text(LAUNCHED.format(stand_in=STAND_IN))
    suite.runpytest("--draftgate-config=launched.toml").assert_outcomes(passed=12)
    (folder,) = (suite.path / ".draftgate" / "runs").iterdir()
    assert {"baseline.log", "candidate.log"} <= {file.name for file in folder.iterdir()}


def test_a_gate_that_fails_is_not_tried_again(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def gate(config: Any, **options: Any) -> Any:
        asked.append(config)
        raise RuntimeError("no such thing")

    monkeypatch.setattr("draftgate.api.gate", gate)
    pytester.makepyfile("def test_a(draftgate_run):\n    pass\n\ntest_b = test_a\n")
    (pytester.path / "g.toml").write_text(
        "[server]\nmodel = 'm'\n[candidate]\nspeculative_config = { method = 'ngram' }\n"
    )
    result = pytester.runpytest("--draftgate-config=g.toml")
    result.assert_outcomes(errors=2)
    assert len(asked) == 1
    result.stdout.fnmatch_lines(
        ["*RuntimeError: no such thing*", "fix: the first test that asked*"]
    )


def test_ctrl_c_in_a_gate_ends_the_test_run(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gate(config: Any, **options: Any) -> Any:
        raise Interrupted("7 answers are kept in runs/r1", "the same command with --resume r1")

    monkeypatch.setattr("draftgate.api.gate", gate)
    pytester.makepyfile("def test_a(draftgate_run):\n    pass\n\ndef test_b():\n    pass\n")
    (pytester.path / "g.toml").write_text(
        "[server]\nmodel = 'm'\n[candidate]\nspeculative_config = { method = 'ngram' }\n"
    )
    result = pytester.runpytest("--draftgate-config=g.toml")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*7 answers are kept in runs/r1*"])
    assert result.parseoutcomes() == {}


def test_case_files_are_tests(pytester: pytest.Pytester, root: Path) -> None:
    cases = root / "docs" / "parsers" / "cases"
    pytester.makepyfile(
        f"""
        import pytest
        from draftgate.testing import assert_split_invariant

        @pytest.mark.draftgate(cases=[{str(cases / "tool-step3.case.json")!r}])
        def test_case(case_scenario):
            assert_split_invariant("".join, case_scenario)
        """
    )
    result = pytester.runpytest("-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*test_case?tool-step3-seen? PASSED*"])


@pytest.mark.parametrize("where", ["checks", "traces"])
def test_a_folder_that_shadows_a_package_is_named_once(
    pytester: pytest.Pytester, where: str
) -> None:
    """`python -m pytest` puts the current folder first on the path."""
    pytester.mkpydir(where)
    pytester.makepyfile(
        test_a="def test_x(recorded_turn):\n    pass\n",
        test_b="def test_x(draftgate_run):\n    pass\n",
        test_c="def test_plain():\n    pass\n",
    )
    result = pytester.run(sys.executable, "-m", "pytest", "--continue-on-collection-errors")
    text = result.stdout.str() + result.stderr.str()
    assert text.count(f"`import {where}` finds {pytester.path / where}, not draftgate's") == 1
    assert "fix: rename that folder" in text
    result.stdout.fnmatch_lines(["*1 passed, 2 errors*"])


def test_a_run_without_such_tests_loads_nothing(pytester: pytest.Pytester) -> None:
    """The plugin alone: no numpy, no DuckDB, none of the rooms."""
    pytester.makepyfile(
        """
        import sys

        def test_loaded():
            heavy = {"numpy", "duckdb", "pyarrow", "pydantic", "aiohttp", "checks", "traces"}
            assert heavy & set(sys.modules) == set()
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:hypothesispytest")
    result.assert_outcomes(passed=1)


def test_a_run_without_such_tests_is_not_slowed() -> None:
    """Loading the plugin, the quickest of three times: under 50 ms."""
    code = (
        "import sys, time, pytest; start = time.process_time(); import draftgate.pytest_plugin; "
        "print(time.process_time() - start)"
    )
    command = [sys.executable, "-c", code]
    done = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(3)]
    assert min(float(one.stdout) for one in done) < 0.05


def test_every_option_is_documented(root: Path) -> None:
    page = (root / "docs" / "pytest.md").read_text(encoding="utf-8")
    for option in OPTIONS:
        assert f"`{option.flag}" in page, option.flag
        assert f"`{option.key}`" in page, option.key
