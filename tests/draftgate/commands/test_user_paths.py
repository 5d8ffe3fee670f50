"""``~``, environment variables and globs in every place of the command line that takes a path."""

import json
from pathlib import Path

import pytest

from draftgate.cli import run
from draftgate.config.file import parse_config, read_config
from draftgate.config.source import config_of
from reports.store.store import Store
from tests.support.paper.sessions import write_sessions
from tests.support.paper.user_folder import CASE
from tests.support.synthetic_run import synthetic_run
from traces.errors import ConfigError

Capture = pytest.CaptureFixture[str]

PLACES = ["{home}/", "~/", "$HOME/", ""]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    write_sessions(home / "sessions.jsonl", 2, 1)
    (home / "seen.case.json").write_text(json.dumps(CASE))
    (home / "model").mkdir()
    (home / "model" / "config.json").write_text("{}")
    (home / "draftgate.toml").write_text(
        '[run]\nsessions = ["~/sess*.jsonl"]\ndb = "$HOME/store.duckdb"\noutput = "~/out"\n'
        '[server]\nmodel = "~/model"\npython = "~/bin/python"\n'
        '[candidate]\nspeculative_config = { model = "$HOME/model", num_speculative_tokens = 3 }\n'
    )
    with Store.open(home / "store.duckdb", write=True) as store:
        store.load(synthetic_run("good", tokens=50))
    return home


@pytest.fixture(autouse=True)
def _at_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["inspect", "{}sess*.jsonl"], 0),
        (["import", "{}sess*.jsonl"], 0),
        (["check", "-q", "{}*.case.json"], 1),
        (["sql", "from v_verdict", "--db={}store.duckdb"], 0),
        (["query", "verdicts", "--db={}store.duckdb"], 0),
        (["report", "last", "--db={}store.duckdb", "--markdown={}report.md"], 0),
        (["compare", "good", "good", "--db={}store.duckdb"], 0),
        (["advise", "good", "--db={}store.duckdb"], 0),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_verb_takes_a_path_in_any_spelling(
    home: Path, place: str, words: list[str], code: int, capsys: Capture
) -> None:
    place = place.format(home=home)
    assert run([word.replace("{}", place) for word in words]) == code, capsys.readouterr().err


@pytest.mark.parametrize("place", PLACES)
def test_a_configuration_takes_paths_in_any_spelling(home: Path, place: str) -> None:
    config = config_of(f"{place.format(home=home)}draftgate.toml", {})
    assert config.run.sessions == (f"{home}/sess*.jsonl",)
    assert (config.run.db, config.run.output) == (f"{home}/store.duckdb", f"{home}/out")
    assert (config.server.model, config.server.python) == (f"{home}/model", f"{home}/bin/python")
    assert config.candidate.speculative_config["model"] == f"{home}/model"
    assert read_config(home / "draftgate.toml") == config


def test_a_variable_that_is_not_set_is_named_with_its_key() -> None:
    tables = {
        "run": {"db": "$NOT_SET_AT_ALL/x"},
        "server": {"model": "m"},
        "candidate": {"speculative_config": {"method": "ngram"}},
    }
    with pytest.raises(ConfigError, match=r"run\.db: .*NOT_SET_AT_ALL is not set") as caught:
        parse_config(tables, "test")
    assert caught.value.fix == "export NOT_SET_AT_ALL=…"


def test_a_verb_names_a_variable_that_is_not_set(capsys: Capture) -> None:
    assert run(["sql", "from v_verdict", "--db=$NOT_SET_AT_ALL/x"]) == 2
    assert "environment variable NOT_SET_AT_ALL is not set" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("db", "words"),
    [
        ("gone/store.duckdb", "gone: there is no such folder"),
        ("gone", "gone: there is no such folder, and no store"),
        ("gone.duckdb", "gone.duckdb: there is no store"),
    ],
)
def test_a_folder_that_is_missing_is_said(db: str, words: str, capsys: Capture) -> None:
    assert run(["sql", "from v_verdict", "--db", db]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["advise", "good"], ["compare", "good", "good"], ["report", "good"]]
)
def test_every_verb_that_says_so_reads_a_folder_of_parquet(
    home: Path, words: list[str], capsys: Capture
) -> None:
    if not (home / "export").exists():
        assert run(["report", "good", "--db", "store.duckdb", "--parquet", "export"]) == 0
    assert run([*words, "--db", "~/export"]) == 0, capsys.readouterr().err
