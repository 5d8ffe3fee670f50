"""What a test run names: options of the command line, the marker of a test, keys of the ini file.

    pytest --draftgate-journals=.draftgate/runs/20261129-150300-7f3a
    @pytest.mark.draftgate(sessions="recordings/*.jsonl", turns=20)
    [pytest] draftgate_config = draftgate.toml

The command line comes before a marker, a marker before the ini file; endpoints named nearer to the
test hide journals named farther off, and the other way round. Paths are taken from where the words
stand: the folder pytest was called in, that of the test file, that of the ini file.
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import pytest

MARKER = "draftgate"
STRICT = "draftgate_strict"
KEY = re.compile(rf"^({MARKER}_\w+)\s*=", re.MULTILINE)
"""One of our keys in an ini or TOML file."""

Inconclusives = Literal["fail", "warn", "skip"]


@dataclass(frozen=True, slots=True)
class Option:
    """One setting, as all three places know it."""

    name: str
    help: str
    many: bool = False
    is_path: bool = False
    choices: tuple[str, ...] = ()
    metavar: str | None = None

    @property
    def flag(self) -> str:
        """``--draftgate-baseline-url``."""
        return "--" + self.key.replace("_", "-")

    @property
    def key(self) -> str:
        """``draftgate_baseline_url``, in the ini file."""
        return f"draftgate_{self.name}"


OPTIONS = (
    Option("config", "configuration of the gate whose run is judged", is_path=True, metavar="FILE"),
    Option("journals", "stored journals, or the folder of a run", True, True, metavar="PATH"),
    Option("baseline_url", "a server of the path without the drafter", True, metavar="URL"),
    Option("candidate_url", "a server of the path with the drafter", True, metavar="URL"),
    Option("sessions", "recorded sessions: a file, folder or glob", True, True, metavar="PATH"),
    Option("cases", "a case file, or a folder of them", True, True, metavar="PATH"),
    Option("turns", "largest number of turns, drawn from all kinds of them", metavar="N"),
    Option("inconclusive", "how an inconclusive test ends", choices=get_args(Inconclusives)),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What one test may use. Paths are absolute; globs stay globs."""

    config: str = ""
    journals: tuple[str, ...] = ()
    baseline_url: tuple[str, ...] = ()
    candidate_url: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    turns: int | None = None
    inconclusive: Inconclusives = "fail"


def add_options(parser: pytest.Parser) -> None:
    """Declare every option and key."""
    group = parser.getgroup("draftgate", "draftgate: recorded agent turns on both paths")
    strict = "a test that nothing is named for is an error; without it such tests are skipped"
    group.addoption("--draftgate-strict", dest=STRICT, action="store_true", help=strict)
    parser.addini(STRICT, strict, type="bool", default=False)
    for option in OPTIONS:
        group.addoption(
            option.flag,
            dest=option.key,
            action="append" if option.many else "store",
            metavar=option.metavar,
            choices=option.choices or None,
            help=option.help + (" (repeatable)" if option.many else ""),
        )
        kind: Literal["linelist", "string"] = "linelist" if option.many else "string"
        parser.addini(option.key, option.help, type=kind, default=[] if option.many else "")


def is_strict(config: pytest.Config) -> bool:
    """Whether a test that nothing is named for is an error."""
    return bool(config.getoption(STRICT) or config.getini(STRICT))


def refuse_unknown_keys(config: pytest.Config) -> None:
    """Raise UsageError for a key of the ini file that begins as draftgate's do and is none of them:
    pytest itself only warns, and the tests it was meant for would be skipped."""
    known = [STRICT, *(option.key for option in OPTIONS)]
    text = config.inipath.read_text(encoding="utf-8") if config.inipath else ""
    said = (one.partition("=")[0] for one in config.getoption("override_ini") or ())
    given = (*KEY.findall(text), *(key for key in said if key.startswith(f"{MARKER}_")))
    for key in given:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            fix = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
            raise pytest.UsageError(f"unknown key {key}\nfix: {fix}")


def settings_of_item(item: pytest.Item) -> Settings:
    """The settings of a test, its nearest marker before those of its class and module.

    Raises ConfigError for an unknown word or a wrong value.
    """
    config = item.config
    inside = config.inipath.parent if config.inipath else config.rootpath
    levels: tuple[tuple[Mapping[str, Any], Path], ...] = (
        ({o.name: config.getoption(o.key) for o in OPTIONS}, config.invocation_params.dir),
        (_marked(item.iter_markers(MARKER)), item.path.parent),
        ({o.name: config.getini(o.key) for o in OPTIONS}, inside),
    )
    found: dict[str, Any] = {}
    for given, base in levels:
        hidden = _hidden_by(found)
        for option in OPTIONS:
            value = given.get(option.name)
            if value not in (None, "", [], ()) and option.name not in {*found, *hidden}:
                found[option.name] = _value(option, value, base)
    return Settings(**found)


def _hidden_by(found: Mapping[str, Any]) -> frozenset[str]:
    """Sources of answers that do not count any more where one was named nearer to the test."""
    if "journals" in found:
        return frozenset({"baseline_url", "candidate_url"})
    live = {"config", "baseline_url", "candidate_url"} & set(found)
    return frozenset({"journals"}) if live else frozenset()


def _marked(markers: Iterable[pytest.Mark]) -> dict[str, Any]:
    known = [option.name for option in OPTIONS]
    found: dict[str, Any] = {}
    for marker in markers:
        if marker.args:
            raise _wrong(f"the marker {MARKER} takes names only", "sessions=…, config=… and so on")
        for name, value in marker.kwargs.items():
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                fix = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
                raise _wrong(f"the marker {MARKER} knows no {name}", fix)
            found.setdefault(name, value)
    return found


def _value(option: Option, given: Any, base: Path) -> Any:
    if option.many:
        values = [given] if isinstance(given, (str, Path)) else given
        return tuple(_path(value, base) if option.is_path else str(value) for value in values)
    if option.name == "turns":
        if not str(given).isdecimal() or int(given) < 1:
            raise _wrong(f"{option.key}: {given!r} is no number of turns", "1 or more")
        return int(given)
    if option.choices and given not in option.choices:
        raise _wrong(f"{option.key}: {given!r} is not known", f"one of {', '.join(option.choices)}")
    return _path(given, base) if option.is_path else str(given)


def _path(given: Any, base: Path) -> str:
    from traces.user_paths import expanded  # as below

    return str(base / expanded(str(given)))


def _wrong(message: str, fix: str) -> Exception:
    from traces.errors import ConfigError  # every run of pytest imports this module: docs/pytest.md

    return ConfigError(message, fix)
