"""The Python API: light to import, typed, and `docs/python.md` is true."""

import doctest
import inspect
import json
import pkgutil
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import draftgate
from tests.support.paper.gate import LENIENT, paper_paths
from tests.support.paper.server import PaperServer
from tests.support.paper.sessions import write_sessions
from tests.support.paper.user_folder import CASE, CONFIG


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[PaperServer, ...]]:
    """A folder with sessions, a configuration and a case; both paths answer."""
    monkeypatch.chdir(tmp_path)
    write_sessions(tmp_path / "sessions.jsonl", 24, 4)
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "seen.case.json").write_text(json.dumps(CASE))
    with paper_paths() as servers:
        policy = "\n".join(f"{key} = {value}" for key, value in LENIENT.items())
        text = CONFIG.format(baseline=servers[0].url, candidate=servers[1].url) + policy
        (tmp_path / "draftgate.toml").write_text(text)
        yield servers


def test_the_page_is_true(root: Path, paper: tuple[PaperServer, PaperServer]) -> None:
    page = (root / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```pycon\n(.*?)```", page, re.S)
    names = {"BASELINE": paper[0].url, "CANDIDATE": paper[1].url}
    test = doctest.DocTestParser().get_doctest("".join(blocks), names, "python.md", None, 0)
    lines: list[str] = []
    outcome = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=lines.append)
    assert outcome.failed == 0, "".join(lines)
    assert outcome.attempted > 15


def test_every_function_has_a_docstring_with_an_example() -> None:
    functions = [getattr(draftgate, name) for name in draftgate.__all__]
    functions = [value for value in functions if inspect.isfunction(value)]
    assert {f.__name__ for f in functions} >= {"gate", "open_store", "check", "read_sessions"}
    for function in functions:
        assert f"draftgate.{function.__name__}(" in (function.__doc__ or ""), function
        assert "Raises" in function.__doc__


def test_the_names_are_those_the_classes_have() -> None:
    for name in draftgate.__all__:
        value = getattr(draftgate, name)
        assert name == "__version__" or value.__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'gat'"):
        draftgate.gat  # type: ignore[attr-defined]  # noqa: B018


def test_no_module_takes_the_name_of_a_verb() -> None:
    """A module `draftgate.x` replaces the function `draftgate.x` when it is first imported."""
    modules = {module.name for module in pkgutil.iter_modules(draftgate.__path__)}
    assert modules & set(draftgate.__all__) == set()


def run_python(*arguments: str) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).parents[2]
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)


def cpu_of_children() -> float:
    """User and system seconds of all processes that were waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def fresh(code: str) -> tuple[float, str]:
    """(quickest of five runs in CPU seconds, output) of a Python that runs `code`."""
    seconds = []
    for _ in range(5):
        start = cpu_of_children()
        done = run_python("-c", code)
        seconds.append(cpu_of_children() - start)
        assert done.returncode == 0, done.stderr
    return min(seconds), done.stdout


def test_importing_is_light() -> None:
    """Under 150 ms over a bare interpreter, and nothing heavy comes along."""
    bare, _ = fresh("pass")
    code = "import sys, draftgate; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    whole, loaded = fresh(code)
    heavy = {"aiohttp", "duckdb", "numpy", "pyarrow", "pydantic", "rich", "scipy", "vllm", "click"}
    assert heavy & set(loaded.split()) == set()
    assert whole - bare < 0.150


def test_type_checkers_see_the_types(tmp_path: Path) -> None:
    file = tmp_path / "use.py"
    file.write_text(
        "import draftgate\n"
        "reveal_type(draftgate.gate())\n"
        "reveal_type(draftgate.open_store('x').rows('y'))\n"
        "reveal_type(draftgate.check('x').exit_code)\n"
        "draftgate.gate(concurency=3)\n"
    )
    done = run_python("-m", "mypy", "--config-file=", "--follow-imports=silent", str(file))
    types = re.findall(r'Revealed type is "(.*?)"', done.stdout.replace("builtins.", ""))
    assert types == [
        "draftgate.run.outcome.GateOutcome",
        "list[dict[str, Any]]",
        "int",
    ], done.stdout
    assert 'Unexpected keyword argument "concurency"' in done.stdout
