"""`draftgate open`: on this machine alone, and only for those who ask it by its own name."""

import http.client
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from draftgate.browsing import HOST, BrowserServer
from draftgate.cli import run
from reports.store.store import Store
from tests.support.synthetic_run import synthetic_run
from traces.errors import OutputError


@pytest.fixture
def db(tmp_path: Path) -> Path:
    file = tmp_path / "draftgate.duckdb"
    with Store.open(file, write=True) as store:
        store.load(synthetic_run("good"))
    return file


@pytest.fixture
def server(db: Path) -> Iterator[BrowserServer]:
    with BrowserServer(db, 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def get(server: BrowserServer, path: str, method: str = "GET", host: str = "") -> tuple[int, str]:
    connection = http.client.HTTPConnection(HOST, server.server_port, timeout=60)
    connection.request(method, path, headers={"Host": host} if host else {})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_it_serves_runs_reports_and_sql(server: BrowserServer) -> None:
    assert server.server_address[0] == HOST
    for path, part in (
        ("/", 'href="/run/good"'),
        ("/run/last", "What to do next"),
        ("/sql", "box"),
    ):
        status, text = get(server, path)
        assert status == 200
        assert part in text or part == "box"
    assert get(server, "/", host=f"localhost:{server.server_port}")[0] == 200


def test_another_name_for_this_machine_gets_nothing(server: BrowserServer) -> None:
    assert get(server, "/", host="evil.example") == (403, "this address is not served")
    assert get(server, "/", host=f"evil.example:{server.server_port}")[0] == 403


def test_only_reading_is_answered(server: BrowserServer) -> None:
    assert get(server, "/sql?q=from+runs", method="POST")[0] == 501


def test_a_port_in_use_is_named(server: BrowserServer, db: Path) -> None:
    with pytest.raises(OutputError, match="cannot be used") as caught:
        BrowserServer(db, server.server_port)
    assert "--port" in caught.value.fix


def test_the_command_prints_the_address_and_ends_on_ctrl_c(
    db: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)

    def interrupted(self: BrowserServer) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(BrowserServer, "serve_forever", interrupted)
    assert run(["open", "--port", "0", "--json", "--db", str(db)]) == 0
    url = json.loads(capsys.readouterr().out)["url"]
    assert url.startswith(f"http://{HOST}:")
    assert opened == [url]
    assert run(["open", "--port", "0", "--no-browser", "--db", str(db)]) == 0
    assert len(opened) == 1
