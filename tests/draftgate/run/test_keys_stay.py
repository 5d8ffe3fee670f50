"""An API key reaches its server and nothing else, although the server repeats it in a refusal."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from draftgate.cli import run
from reports.store.store import Store
from tests.support.hostile_server import HostileServer, Raw
from tests.support.paper.gate import LENIENT, K
from tests.support.paper.model import Vocabulary
from tests.support.paper.server import Faults, served
from tests.support.paper.sessions import write_sessions
from tests.support.paper.user_folder import CONFIG

KEY = "sk-aUx91kQz77-Lm20pRt"


def refuses_and_repeats(route: str, body: dict[str, Any]) -> Raw | None:
    """The key in two reads of the refusal's body, and in headers that are kept and not."""
    if "Task 3.0" not in str((body.get("messages") or [""])[-1]):
        return None
    error = json.dumps({"error": {"message": f"no credit left for {KEY}, sorry"}}).encode()
    middle = error.index(KEY.encode()) + 7
    headers = {"x-request-id": f"{KEY}/1", "x-api-key": KEY}
    return Raw([error[:middle], error[middle:]], 402, headers, pause_s=0.05)


def written(folder: Path) -> Iterator[tuple[str, str]]:
    """(file, what is in it) of all that a run left, unpacked."""
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        if file.suffix == ".duckdb":
            with Store.open(file) as store:
                for row in store.rows("show tables"):
                    yield f"{file.name}: {row['name']}", str(store.rows(f"from {row['name']}"))
        elif file.suffix == ".zst":
            with zstandard.ZstdDecompressor().stream_reader(
                file.open("rb"), read_across_frames=True
            ) as reader:
                yield file.name, reader.read().decode(errors="replace")
        else:
            yield file.name, file.read_text(errors="replace")


def test_a_key_is_in_no_file_and_no_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OWN_KEY", KEY)
    monkeypatch.setenv("DRAFTGATE_TRACEBACK", "1")
    write_sessions(tmp_path / "sessions.jsonl", 6, 2)
    words = Vocabulary()
    pair = (
        HostileServer(words),
        HostileServer(words, Faults(drafts=K), attack=refuses_and_repeats),
    )
    with served(*pair):
        text = CONFIG.format(baseline=pair[0].url, candidate=pair[1].url)
        for path in ("baseline", "candidate"):
            text = text.replace(f"[{path}]", f'[{path}]\napi_key_env = "OWN_KEY"')
        policy = "\n".join(f"{key} = {value}" for key, value in LENIENT.items())
        (tmp_path / "draftgate.toml").write_text(text + policy)
        assert run(["gate", "--json"]) == 1
        assert run(["report", "last", "--markdown", "r.md", "--junit", "r.xml"]) == 0
    found = dict(written(tmp_path))
    found["output"] = "".join(capsys.readouterr())
    assert "no credit left for [api key], sorry" in found["candidate-main-0.jsonl.zst"]
    assert {"report.html", "run.json", "paths.json", "r.md", "r.xml"} <= set(found)
    assert [name for name, content in found.items() if KEY in content] == []


@pytest.mark.parametrize(
    "url",
    [
        f"http://user:{KEY}@127.0.0.1:9",
        f"http://{KEY}@127.0.0.1:9/v1",
        f"http://user:{KEY}@127.0.0.1:port",
        f"ftp://user:{KEY}@127.0.0.1",
        f"user:{KEY}@127.0.0.1:9",
        f"http://127.0.0.1:9/v1?api_key={KEY}",
        f"http://127.0.0.1:9/#{KEY}",
        f"http://user:a@b:{KEY}@[::1",
    ],
)
@pytest.mark.parametrize("way", ["configuration", "option"])
def test_a_key_in_a_url_is_refused_and_not_repeated(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    url: str,
    way: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DRAFTGATE_TRACEBACK", "1")
    write_sessions(tmp_path / "sessions.jsonl", 2, 1)
    sound = "http://127.0.0.1:9"
    listed = url if way == "configuration" else sound
    config = CONFIG.format(baseline=listed, candidate="http://127.0.0.1:10")
    (tmp_path / "draftgate.toml").write_text(config)
    option = [] if way == "configuration" else ["--baseline-url", url]
    assert run(["gate", "--json", *option]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["error"]
    assert KEY not in out + err
    assert [name for name, content in written(tmp_path) if KEY in content] == (
        ["draftgate.toml"] if way == "configuration" else []
    )
