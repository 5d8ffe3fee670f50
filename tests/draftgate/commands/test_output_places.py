"""Where results go: a place that cannot be written is named with its fix, before work is lost."""

import json
import stat
from pathlib import Path

import pytest

from draftgate.cli import run
from draftgate.run.folder import RunFolder
from reports.store.store import Store
from tests.support.paper.gate import LENIENT, paper_paths
from tests.support.paper.sessions import write_sessions
from tests.support.paper.user_folder import CONFIG
from tests.support.synthetic_run import synthetic_run

POLICY = "\n".join(f"{key} = {value}" for key, value in LENIENT.items())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_sessions(tmp_path / "sessions.jsonl", 6, 2)
    return tmp_path


def answer_of(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, str]]:
    """(exit code, the error object) of a command line."""
    code = run([*words, "--json"])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    answer: dict[str, str] = json.loads(out)
    return code, answer


def _store(folder: Path) -> str:
    with Store.open(folder / "store.duckdb", write=True) as store:
        store.load(synthetic_run("good", tokens=50))
    return str(folder / "store.duckdb")


PLACES = [
    ("none/x", "No such file or directory"),
    ("file/x", "Not a directory"),
    ("/proc/x", "No such file or directory"),
]


@pytest.mark.parametrize(("place", "words"), PLACES)
def test_import(home: Path, capsys: pytest.CaptureFixture[str], place: str, words: str) -> None:
    (home / "file").write_text("")
    code, answer = answer_of(capsys, "import", "sessions.jsonl", "-o", place)
    assert (code, answer["error"]) == (2, f"{place}: cannot be written ({words})")
    assert answer["fix"]
    assert sorted(p.name for p in home.iterdir()) == ["file", "sessions.jsonl"]


def test_import_never_replaces_a_device(home: Path) -> None:
    assert run(["import", "sessions.jsonl", "-o", "/dev/null"]) == 0
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@pytest.mark.parametrize("option", ["--html", "--junit", "--markdown"])
@pytest.mark.parametrize(("place", "words"), PLACES)
def test_report(
    home: Path, capsys: pytest.CaptureFixture[str], option: str, place: str, words: str
) -> None:
    (home / "file").write_text("")
    code, answer = answer_of(capsys, "report", "good", "--db", _store(home), option, place)
    assert (code, answer["error"]) == (2, f"{place}: cannot be written ({words})")


@pytest.mark.parametrize("place", ["file/x", "/proc/x"])
def test_parquet(home: Path, capsys: pytest.CaptureFixture[str], place: str) -> None:
    (home / "file").write_text("")
    code, answer = answer_of(capsys, "report", "good", "--db", _store(home), "--parquet", place)
    assert code == 2
    assert answer["error"].startswith(f"{place}: cannot be written (")


@pytest.mark.parametrize("output", ["file", "/proc/x", "a\\u0000b"])
def test_the_output_folder_of_a_run(
    home: Path, capsys: pytest.CaptureFixture[str], output: str
) -> None:
    (home / "file").write_text("")
    config = CONFIG.format(baseline="http://127.0.0.1:9", candidate="http://127.0.0.1:10")
    config = config.replace("[run]", f'[run]\noutput = "{output}"') + POLICY
    (home / "draftgate.toml").write_text(config)
    code, answer = answer_of(capsys, "gate")
    assert code == 2
    place = "run.output" if "u0000" in output else f"{output}/runs"
    assert place in answer["error"]
    assert answer["fix"]


def test_a_run_s_folder_is_its_owner_s_alone(tmp_path: Path) -> None:
    folder = RunFolder.new(tmp_path / "out")
    assert stat.S_IMODE(folder.root.stat().st_mode) == 0o700


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_stops_a_run_and_says_how_to_go_on(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = home / ".draftgate" / "runs" / "r1"
    folder.mkdir(parents=True)
    journal = folder / "candidate-main-0.jsonl.zst"
    journal.symlink_to("/dev/full")
    with paper_paths() as (baseline, candidate):
        config = CONFIG.format(baseline=baseline.url, candidate=candidate.url) + POLICY
        (home / "draftgate.toml").write_text(config)
        code, answer = answer_of(capsys, "gate", "--resume", "r1")
        where = journal.relative_to(home)
        assert (code, answer["error"]) == (
            2,
            f"{where}: cannot be written (No space left on device)",
        )
        assert "free some space" in answer["fix"]
        assert answer["fix"].endswith("then the same command with --resume r1 goes on")
        journal.unlink()
        assert run(["gate", "--resume", "r1"]) in (0, 3)


@pytest.mark.parametrize("name", ["", ".", "..", "../..", "r1/../..", "r1/", "/", "none"])
def test_only_the_name_of_a_run_can_be_resumed(
    home: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (home / ".draftgate" / "runs" / "r1").mkdir(parents=True)
    config = CONFIG.format(baseline="http://127.0.0.1:9", candidate="http://127.0.0.1:10")
    (home / "draftgate.toml").write_text(config + POLICY)
    for verb in (["gate"], ["replay", "--path", "candidate"]):
        code, answer = answer_of(capsys, *verb, "--resume", name)
        assert code == 2
        assert "there is no such run to resume" in answer["error"]
        assert answer["fix"] == "runs that can be resumed: r1"
