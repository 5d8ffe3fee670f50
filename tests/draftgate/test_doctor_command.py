"""Transcripts of ``draftgate doctor``."""

import json
from pathlib import Path

import pytest

from draftgate.cli import run

Capture = pytest.CaptureFixture[str]

CONFIG = """
[run]
sessions = ["{sessions}"]
[server]
model = "{model}"
[candidate]
speculative_config = {{ method = "ngram", num_speculative_tokens = 3 }}
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No draftgate.toml of the checkout is picked up."""
    monkeypatch.chdir(tmp_path)


def test_this_machine_is_ready(capsys: Capture) -> None:
    assert run(["doctor"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "ready"
    assert "ok       python" in out


def test_what_is_missing_is_named_with_its_fix(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "draftgate.toml"
    file.write_text(CONFIG.format(sessions="none/*.jsonl", model=tmp_path / "model"))
    assert run(["doctor", "--json"]) == 2
    found = json.loads(capsys.readouterr().out)
    missing = {c["name"]: c["fix"] for c in found["checks"] if c["state"] == "missing"}
    assert found["can_run"] is False
    assert missing == {
        "sessions none/*.jsonl": "mend `run.sessions`",
        "server.model": "mend `server.model`",
    }


def test_a_shadowed_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    from draftgate import doctor

    monkeypatch.setattr(doctor, "ROOMS", ("json",))
    assert run(["doctor"]) == 2
    assert "`import json` finds" in capsys.readouterr().out
