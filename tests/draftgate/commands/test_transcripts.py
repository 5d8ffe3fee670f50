"""Every verb as a person uses it: command lines, what they print, and how they end.

    $ draftgate check cases/seen.case.json --quiet
    1 case, 1 scenario: 1 fail, 0 pass
    [1]

Lines of standard error begin with ``! ``. ``…`` stands for any characters of a line, a line ``…``
for any lines. The files of a transcript lie in a folder of its own: `sessions.jsonl`,
`draftgate.toml` (both paths answer), `store.duckdb` with the runs ``good`` and ``bad``, `cases/`.
"""

import asyncio
import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from draftgate.cli import VERBS, run
from draftgate.machine.doctor import Check
from reports.store.store import Store
from tests.support.paper.gate import LENIENT, paper_paths
from tests.support.paper.sessions import write_sessions
from tests.support.paper.user_folder import CASE, CONFIG
from tests.support.synthetic_run import synthetic_run

FOLDER = Path(__file__).with_name("transcripts")
COMMAND = re.compile(r"^\$ draftgate (.*)\n((?:.*\n)*?)\[(\d+)\]$", re.MULTILINE)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("home")
    write_sessions(home / "sessions.jsonl", 24, 4)
    (home / "notes.txt").write_text("no session\n")
    (home / "cases").mkdir()
    (home / "cases" / "seen.case.json").write_text(json.dumps(CASE))
    with Store.open(home / "store.duckdb", write=True) as store:
        store.load(synthetic_run("good", tokens=200))
        store.load(synthetic_run("bad", seed=2, tokens=200, day=1, verdict="fail", accept=0.6))
    with paper_paths() as (baseline, candidate):
        policy = "\n".join(f"{key} = {value}" for key, value in LENIENT.items())
        config = CONFIG.format(baseline=baseline.url, candidate=candidate.url) + policy
        (home / "draftgate.toml").write_text(config)
        yield home


def commands(verb: str) -> list[tuple[str, list[str], int]]:
    """(words, lines it prints, exit code) of every command in the transcript of a verb."""
    text = (FOLDER / f"{verb}.txt").read_text(encoding="utf-8")
    found = [(m[1], m[2].splitlines(), int(m[3])) for m in COMMAND.finditer(text)]
    assert len(found) == text.count("$ draftgate ")
    return found


def _interrupted(server: object) -> None:
    raise KeyboardInterrupt


def _already_asked_to_end(status: object) -> asyncio.Event:
    stop = asyncio.Event()
    stop.set()
    return stop


@pytest.mark.parametrize("verb", VERBS)
def test_transcript(
    verb: str,
    home: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(home)
    monkeypatch.setenv("COLUMNS", "100")
    if verb == "parsers":  # as on a machine without vLLM; with it: test_parsers_command.py
        monkeypatch.setitem(sys.modules, "vllm", None)
    if verb == "doctor":
        found = Check("vllm", "ok", "as installed")  # importing it takes 20 s
        monkeypatch.setattr("draftgate.machine.doctor._vllm", lambda: found)
    if verb == "demo":  # what it looks at is that of `doctor`, with real servers' programs
        found = Check("python", "ok", "3.11")
        monkeypatch.setattr("draftgate.machine.doctor.machine_checks", lambda: iter([found]))
        monkeypatch.setattr("draftgate.preflight.checks.config_checks", lambda config: iter(()))
    if verb == "open":  # Ctrl-C, as soon as it serves
        monkeypatch.setattr("draftgate.browsing.BrowserServer.serve_forever", _interrupted)
    if verb == "record":
        monkeypatch.setattr("replay.recording.serving.signals", _already_asked_to_end)
    for words, lines, code in commands(verb):
        ended = run(shlex.split(words))
        out, err = capsys.readouterr()
        printed = [line.rstrip() for line in out.splitlines() if line.strip()]
        printed += [f"! {line}" for line in err.splitlines()]
        wanted = [line for line in lines if line.strip()]
        assert _matches(printed, wanted), f"$ draftgate {words}\n" + "\n".join(printed)
        assert ended == code, words


def _matches(printed: list[str], wanted: list[str]) -> bool:
    patterns = []
    for line in wanted:
        if line == "…":
            patterns.append("(?:.*\n)*?")
        else:
            patterns.append(re.escape(line).replace("…", ".*") + "\n")
    return re.fullmatch("".join(patterns), "".join(f"{line}\n" for line in printed)) is not None


def test_each_verb_shows_how_it_works_and_how_it_fails() -> None:
    for verb in VERBS:
        codes = {code for _, _, code in commands(verb)}
        assert 2 in codes, verb
        if verb != "parsers":
            assert codes & {0, 1, 3}, verb
