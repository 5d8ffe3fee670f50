"""What ``draftgate init`` knows of the parsers and tokenizer of servers, and where it does not."""

import json
from pathlib import Path
from typing import Any

import pytest

from draftgate.cli import run
from draftgate.config.file import read_config
from draftgate.init.parsers import Known, known_parsers
from draftgate.init.seen import SeenPaths, SeenServer, SeenSessions
from draftgate.init.wanted import Wanted
from traces.journal.path_facts import ModelFacts, PathFacts

URL = "http://b:8000"
CALLS = SeenSessions(sessions=1, turns=2, replayable=2, tool_calls=2)
KEYS = ("tool_parser", "reasoning_parser", "tokenizer")


def probe(calls: bool = False, reasoning: bool = False) -> str:
    """What `replay.facts.probes.parsed` gives."""
    return json.dumps({"calls": [["f", "{}"]] * calls, "content": "", "reasoning": reasoning})


def paths(probes: dict[str, str] | None, root: str | None = None) -> SeenPaths:
    model = ModelFacts("m", root, 4096)
    facts = PathFacts("candidate", URL, models=(model,), parser_probe=probes)
    return SeenPaths((SeenServer("candidate", URL, facts),))


def known(seen: SeenPaths, sessions: SeenSessions = CALLS, **said: str) -> dict[str, Known]:
    return dict(known_parsers(Wanted(candidate_urls=(URL,), **said), seen, sessions))


def test_a_markup_it_makes_calls_of_names_the_parser() -> None:
    seen = known(paths({"hermes": probe(calls=True), "mistral": probe()}))
    assert (seen["tool_parser"].value, seen["tool_parser"].missed) == ("hermes", False)
    assert "markup of hermes" in seen["tool_parser"].comment


@pytest.mark.parametrize(
    "seen", [paths({"hermes": probe()}), paths(None), SeenPaths((SeenServer("candidate", URL),))]
)
def test_a_tool_parser_that_was_not_to_be_seen_is_missed_where_there_are_calls(
    seen: SeenPaths,
) -> None:
    tool = known(seen)["tool_parser"]
    assert (tool.value, tool.missed) == ("", True)
    assert tool.comment.startswith("not seen: ")
    assert not known(seen, SeenSessions(turns=2))["tool_parser"].missed


@pytest.mark.parametrize(
    ("probes", "comment", "missed"),
    [
        ({"reasoning": probe(reasoning=True)}, "seen: the candidate splits reasoning off", True),
        ({"reasoning": probe()}, "seen: the candidate splits no reasoning off", False),
        ({"hermes": probe(calls=True)}, "not seen: the candidate answers no probe of it", False),
        (None, "not seen: ", False),
    ],
)
def test_no_server_names_its_reasoning_parser(
    probes: dict[str, str] | None, comment: str, missed: bool
) -> None:
    found = known(paths(probes))["reasoning_parser"]
    assert (found.value, found.missed) == ("", missed)
    assert found.comment.startswith(comment)


def test_the_tokenizer_is_that_of_the_model_it_serves(tmp_path: Path) -> None:
    for root in (str(tmp_path), "org/model-7B"):
        found = known(paths(None, root))["tokenizer"]
        assert (found.value, found.missed) == (root, False)


@pytest.mark.parametrize("root", [None, "", "/models/of/another/machine", "alias", "./m", "a/b/c"])
def test_a_tokenizer_that_is_not_here_is_missed_where_there_are_calls(root: str | None) -> None:
    found = known(paths(None, root))["tokenizer"]
    assert (found.value, found.missed) == ("", True)
    assert found.comment.startswith("not seen: ")
    assert (root or "does not say") in found.comment
    assert not known(paths(None, root), SeenSessions(turns=2))["tokenizer"].missed


def test_what_the_user_says_is_not_asked_of_anybody() -> None:
    said = {"tool_parser": "kimi_k2", "reasoning_parser": "kimi_k2", "tokenizer": "org/other"}
    found = known(paths({"hermes": probe(calls=True)}, "org/model"), **said)
    assert {key: found[key] for key in KEYS} == {key: Known(text) for key, text in said.items()}


SAID = ["--tool-parser", "hermes", "--reasoning-parser", "qwen3", "--tokenizer", "org/t"]


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A session whose one turn calls a tool."""
    monkeypatch.chdir(tmp_path)
    call = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "List the files."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
    ]
    Path("chat.jsonl").write_text(json.dumps({"id": "s", "messages": messages}) + "\n")
    return "chat.jsonl"


def test_attached_they_are_keys_of_the_run(recording: str, capsys: Any) -> None:
    urls = ["--baseline-url", "http://a:8000", "--candidate-url", URL, "--no-ask"]
    assert run(["init", recording, *urls]) == 0
    assert "still to fill in: `run.tool_parser`, `run.tokenizer`\n" in capsys.readouterr().out
    text = Path("draftgate.toml").read_text()
    assert "# not seen: the candidate was not asked, or does not say; write its --tool" in text
    assert run(["init", recording, *urls, *SAID, "--force"]) == 0
    assert "still to fill in" not in capsys.readouterr().out
    config = read_config(Path("draftgate.toml"))
    assert [getattr(config.run, key) for key in KEYS] == ["hermes", "qwen3", "org/t"]
    assert config.server.flags == ()


def test_launched_they_are_flags_of_the_servers(recording: str, capsys: Any) -> None:
    drafter = ["--model", "org/m", "--method", "ngram", "-k", "2"]
    assert run(["init", recording, *drafter]) == 0
    assert "still to fill in: `server.flags` (--tool-call-parser)" in capsys.readouterr().out
    assert run(["init", recording, *drafter, *SAID, "--force"]) == 0
    assert "still to fill in" not in capsys.readouterr().out
    config = read_config(Path("draftgate.toml"))
    assert config.server.flags == (
        *("--enable-auto-tool-choice", "--tool-call-parser", "hermes"),
        *("--reasoning-parser", "qwen3", "--tokenizer", "org/t"),
    )
    assert [getattr(config.run, key) for key in KEYS] == ["", "", ""]
