"""A launched server is awaited, watched, explained when it dies, and never left behind."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from replay.launch.command import ServerSpec
from replay.launch.port import free_port
from replay.launch.server import Server
from tests.support.scripted.launch import spec
from traces.errors import ConfigError, ServerError


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    return folder


def is_running(pid: int) -> bool:
    """Whether the process lives; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def gone_within(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not is_running(pid)


def child_of(model: Path) -> int:
    return int((model / "child").read_text())


def test_a_healthy_server_has_a_url_a_log_and_ends_with_its_children(
    model: Path, tmp_path: Path
) -> None:
    reports: list[tuple[float, str]] = []
    with Server(spec(model, "healthy"), tmp_path / "logs" / "candidate.log") as server:
        server.wait_healthy(lambda seconds, line: reports.append((seconds, line)))
        server.check_alive()
        assert urllib.request.urlopen(f"{server.url}/health").status == 200
        assert server.non_default_args() == str({"model": str(model)})
        pid, child = server.pid, child_of(model)
        assert pid is not None
        assert is_running(child)
    assert not is_running(pid)
    assert gone_within(child, 2)
    assert reports
    assert reports == sorted(reports, key=lambda item: item[0])
    assert "non-default args" in (tmp_path / "logs" / "candidate.log").read_text()


def test_an_exception_ends_the_server_too(model: Path, tmp_path: Path) -> None:
    def use() -> None:
        with Server(spec(model, "healthy"), tmp_path / "c.log") as server:
            server.wait_healthy()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        use()
    assert gone_within(child_of(model), 2)


PARENT = """
import sys, time
from pathlib import Path
from tests.support.scripted.launch import spec
from replay.launch.server import Server
model = Path(sys.argv[1])
with Server(spec(model, "healthy"), model / "c.log") as server:
    server.wait_healthy()
    print("up", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_the_parent_ends_the_server(
    model: Path, root: Path, number: signal.Signals
) -> None:
    command = [sys.executable, "-c", PARENT, str(model)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=root
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"up\n"
        child = child_of(model)
        assert is_running(child)
        parent.send_signal(number)
        parent.wait(20)
    assert gone_within(child, 15)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_whoever_ends_the_warden_ends_the_server(
    model: Path, tmp_path: Path, number: signal.Signals
) -> None:
    with Server(spec(model, "healthy"), tmp_path / "candidate.log") as server:
        server.wait_healthy()
        child = child_of(model)
        assert server.pid is not None
        os.kill(server.pid, number)
        assert gone_within(child, 12)


def test_a_server_that_dies_at_the_start_is_shown_in_its_own_words(
    model: Path, tmp_path: Path
) -> None:
    with (
        pytest.raises(ServerError) as caught,
        Server(spec(model, "die"), tmp_path / "c.log") as server,
    ):
        server.wait_healthy()
    text = str(caught.value)
    assert "path candidate: the vLLM server ended while starting (exit code 1)" in text
    assert "ValueError: no such thing" in text
    assert str(tmp_path / "c.log") in text


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        ("api_server.py: error: unrecognized arguments: --nonsense", "correct `flags`"),
        (
            "OSError: nope does not appear to have a file named config.json",
            "model's folder or name",
        ),
        ("ValueError: No available memory for the cache blocks.", "--max-model-len"),
        ("ModuleNotFoundError: No module named 'vllm'", "pip install"),
        ("torch.OutOfMemoryError: CUDA out of memory.", "in turn"),
    ],
)
def test_a_known_cause_comes_with_its_fix(
    model: Path, tmp_path: Path, words: str, fix: str
) -> None:
    dying = spec(model, "die", env={"STAND_IN_WORDS": words})
    with pytest.raises(ServerError) as caught, Server(dying, tmp_path / "c.log") as server:
        server.wait_healthy()
    assert fix in caught.value.fix


def test_a_server_that_dies_in_use_is_noticed(model: Path, tmp_path: Path) -> None:
    with Server(spec(model, "crash"), tmp_path / "c.log") as server:
        server.wait_healthy()
        with pytest.raises((urllib.error.URLError, ConnectionError)):
            urllib.request.urlopen(f"{server.url}/v1/completions", data=b"{}")
        deadline = time.monotonic() + 5
        while server.is_alive() and time.monotonic() < deadline:
            time.sleep(0.05)
        with pytest.raises(ServerError, match="engine core died of a drafter"):
            server.check_alive()
    assert gone_within(child_of(model), 2)


def test_a_server_that_is_never_healthy_is_ended(model: Path, tmp_path: Path) -> None:
    slow = spec(model, "slow", start_timeout_s=1.0)
    with (
        pytest.raises(ServerError, match="was not healthy after") as caught,
        Server(slow, tmp_path / "c.log") as server,
    ):
        server.wait_healthy()
    assert "start_timeout_s" in caught.value.fix
    assert gone_within(child_of(model), 2)


def test_a_port_lost_to_another_process_is_replaced(model: Path, tmp_path: Path) -> None:
    with Server(spec(model, "busy"), tmp_path / "c.log") as server:
        server.wait_healthy()
        assert server.is_alive()
    assert "Address already in use" in (tmp_path / "c.log").read_text()


def test_a_wanted_port_in_use_is_said_before_anything_starts(model: Path, tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        wanted = spec(model, "healthy", flags=("--port", str(port)))
        with pytest.raises(ServerError, match=f"port {port} is in use"):
            Server(wanted, tmp_path / "c.log").start()
    assert not (tmp_path / "c.log").exists()


def test_a_wanted_port_is_used(model: Path, tmp_path: Path) -> None:
    port = free_port()
    wanted = spec(model, "healthy", flags=(f"--port={port}",))
    with Server(wanted, tmp_path / "c.log") as server:
        assert server.url == f"http://127.0.0.1:{port}"
        assert f"--port={port}" in server.command


@pytest.mark.parametrize("name", ["nothing-here", "empty"])
def test_a_missing_model_is_said_at_once(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ServerError, match=f"no model at .*{name}"):
        Server(ServerSpec("baseline", str(tmp_path / name)), tmp_path / "b.log").start()


def test_a_flag_that_draftgate_owns_is_refused(model: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--speculative-config is set by draftgate"):
        Server(spec(model, "healthy", flags=("--speculative_config={}",)), tmp_path / "l").start()


def test_the_log_of_an_earlier_start_stays_and_is_not_taken_for_this_one(
    model: Path, tmp_path: Path
) -> None:
    log = tmp_path / "c.log"
    log.write_text("INFO non-default args: {'model': 'earlier'}\n")
    with Server(spec(model, "healthy"), log) as server:
        server.wait_healthy()
        assert server.non_default_args() == str({"model": str(model)})
    assert "earlier" in log.read_text()


def test_stopping_twice_or_before_the_start_is_harmless(model: Path, tmp_path: Path) -> None:
    server = Server(spec(model, "healthy"), tmp_path / "c.log")
    server.stop()
    server.start()
    server.stop()
    server.stop()
    assert server.pid is None


def test_configured_environment_reaches_the_server_over_the_one_here(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN", "die")
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
    bound = spec(model, "healthy", cpus=(0,), env={"VLLM_CPU_KVCACHE_SPACE": "2"})
    with Server(bound, tmp_path / "c.log") as server:
        server.wait_healthy()
        child = Path(f"/proc/{child_of(model)}/environ").read_bytes().split(b"\0")
    assert b"STAND_IN=healthy" in child
    assert b"VLLM_CPU_KVCACHE_SPACE=2" in child
    assert b"VLLM_CPU_OMP_THREADS_BIND=0" in child
    assert b"HF_HUB_OFFLINE=1" in child
    assert os.environ["VLLM_CPU_KVCACHE_SPACE"] == "1"
