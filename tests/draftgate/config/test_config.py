"""`draftgate.toml`: right values are read, and each mistake is named with its fix."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.findings import CODES
from draftgate.cli import run
from draftgate.config.file import read_config
from draftgate.config.json_fit import unfit_for_json
from draftgate.config.source import config_of
from traces.errors import ConfigError

GOOD = """
[run]
sessions = ["a.jsonl"]
concurrency = 8
[server]
model = "m"
[candidate]
speculative_config = { method = "ngram", num_speculative_tokens = 3 }
[policy]
rate_margin = 3e-4
"""

ARM = """
[[arms]]
name = "c9"
share = 0.5
"""
ATTACHED = GOOD.replace("[candidate]", '[baseline]\nurls = ["http://b"]\n[candidate]')


def _write(folder: Path, text: str) -> Path:
    file = folder / "draftgate.toml"
    file.write_text(text)
    return file


def test_a_good_file_is_read(tmp_path: Path) -> None:
    config = read_config(_write(tmp_path, GOOD))
    assert config.run.concurrency == 8
    assert config.candidate.speculative_config["num_speculative_tokens"] == 3
    assert config.policy.rate_margin == 3e-4


def test_overrides_win(tmp_path: Path) -> None:
    config = read_config(_write(tmp_path, GOOD), {"run": {"concurrency": 2}})
    assert config.run.concurrency == 2
    assert config.run.sessions == ("a.jsonl",)


@pytest.mark.parametrize(
    ("text", "message", "fix"),
    [
        (GOOD.replace("concurrency", "concurency"), "run.concurency: unknown key", "`concurrency`"),
        (GOOD.replace("rate_margin", "rate_margins"), "policy.rate_margins", "`rate_margin`"),
        (GOOD + "[candidat]\nx = 1\n", "candidat: unknown key", "`candidate`"),
        (GOOD.replace("= 8", "= 0"), "run.concurrency", ""),
        (GOOD.replace("[run]", "[run"), "not valid TOML", ""),
        (GOOD.replace('model = "m"', ""), ".toml: no server to send turns to", "`server.model`"),
        (
            GOOD.replace("speculative_config = {", "flags = [] #"),
            "no `speculative_config`",
            "num_speculative_tokens",
        ),
        (
            GOOD.replace("[run]", '[run]\nroutes = ["message"]'),
            "run.routes: Input should be 'recorded' or 'none', or Input should be 'messages'",
            "",
        ),
        (
            GOOD.replace("[run]", '[run]\ntemperature = "cold"'),
            "run.temperature: Input should be a valid number",
            "",
        ),
        (GOOD + ARM.replace("share", "shares"), "arms.0.shares: unknown key", "`share`"),
        (GOOD + ARM.replace("c9", "aa"), "an arm of the gate itself is called aa", ""),
        (GOOD + ARM.replace("c9", "c9-aa"), "an arm of the gate itself is called c9-aa", ""),
        (GOOD + ARM.replace("c9", "a/b"), "arms.0.name", ""),
        (GOOD + ARM + ARM, "two [[arms]] are called c9", ""),
        (GOOD + ARM + "small_kv = true\nconcurrency = 1\n", "never preempted", ""),
        (ATTACHED + ARM + "small_kv = true\n", "`small_kv` needs servers of its own", ""),
        (
            ATTACHED.replace("[run]", "[run]\ndraft_ids = true"),
            "draft ids need servers that draftgate launches",
            "`draft_ids`",
        ),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, text: str, message: str, fix: str) -> None:
    file = _write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        read_config(file)
    assert str(file) in str(caught.value)
    assert message in str(caught.value)
    assert fix in caught.value.fix


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such configuration file"):
        read_config(tmp_path / "none.toml")


NONSENSE = [
    # (section, line, what the message says)
    ("run", "concurrency = true", "run.concurrency: is true, which only a switch can be"),
    ("run", "max_turns = false", "run.max_turns: is false"),
    ("run", "timeout_s = inf", "run.timeout_s: "),
    ("run", "timeout_s = nan", "run.timeout_s: "),
    ("run", "timeout_s = 1e300", "run.timeout_s: "),
    ("run", "plain_share = true", "run.plain_share: is true"),
    ("run", "concurrency = 1000000", "run.concurrency: "),
    ("run", "max_tokens = 99999999999", "run.max_tokens: "),
    ("run", "seed = -5", "run.seed: "),
    ("run", "seed = 99999999999999999999999", "run.seed: "),
    ("run", 'output = "a\\u0000b"', "run.output: holds a NUL character"),
    ("run", 'sessions = ["a\\u0000b"]', "run.sessions: holds a NUL character"),
    ("run", 'sessions = "abc"', "run.sessions: "),
    ("server", "start_timeout_s = inf", "server.start_timeout_s: "),
    ("policy", "rate_margin = nan", "policy.rate_margin: "),
    ("policy", "noise_scale = inf", "policy.noise_scale: "),
    ("policy", "noise_scale = 0.5", "policy.noise_scale: "),
    ("policy", "excess_surprisal_margin = 1e308", "policy.excess_surprisal_margin: "),
    ("policy", "acceptance_floor = nan", "policy.acceptance_floor: "),
    ("policy", "min_sessions = 1", "policy.min_sessions: "),
    ("policy", "bootstrap_samples = 2000", "policy.bootstrap_samples: unknown key"),
    ("policy", 'severity = { CONTENT_DIF = "info" }', "did you mean CONTENT_DIFF?"),
    ("policy", 'severity = { content_diff = "info" }', "did you mean CONTENT_DIFF?"),
    ("policy", 'severity = { QQQQ = "info" }', "draftgate docs findings"),
    ("policy", 'severity = { CONTENT_DIFF = "loud" }', "policy.severity.CONTENT_DIFF: "),
    ("policy", 'severity = { PATHS_DIFFER = "info" }', "PATHS_DIFFER cannot be info"),
    ("policy", 'severity = { NO_DRAFTS = "warning" }', "NO_DRAFTS cannot be warning"),
    ("policy", 'severity = { CONTROL_NOT_CAUGHT = "info" }', "CONTROL_NOT_CAUGHT cannot be"),
    ("baseline", 'urls = ["not a url"]', "baseline.urls: 'not a url' is no http(s) URL"),
    ("baseline", 'urls = ["http://b:8000", "ftp://x"]', "baseline.urls: 'ftp://x' is no"),
    ("baseline", 'urls = [""]', "baseline.urls: '' is no http(s) URL"),
    ("baseline", 'urls = ["http://"]', "baseline.urls: 'http://' is no http(s) URL"),
    ("baseline", 'urls = ["http://b:99999999"]', "baseline.urls: 'http://b:99999999' is no"),
    ("baseline", 'urls = ["http://b:port"]', "baseline.urls: 'http://b:port' is no"),
    ("baseline", 'urls = ["http://u:pw@b"]', "baseline.urls: the URL of b carries a user name"),
]


@pytest.mark.parametrize(("section", "line", "message"), NONSENSE)
def test_a_value_that_cannot_be_meant_is_named(
    tmp_path: Path, section: str, line: str, message: str
) -> None:
    key = line.split(" ")[0]
    text = "\n".join(row for row in GOOD.splitlines() if not row.startswith(f"{key} ="))
    text += f"\n[{section}]\n" if f"[{section}]" not in text else ""
    file = _write(tmp_path, text.replace(f"[{section}]", f"[{section}]\n{line}"))
    with pytest.raises(ConfigError) as caught:
        read_config(file)
    assert message in str(caught.value), caught.value
    assert "pw@" not in str(caught.value)


def test_every_severity_but_the_set_up_s_can_be_lowered(tmp_path: Path) -> None:
    codes = sorted(CODES.keys() - {"PATHS_DIFFER", "CONTROL_NOT_CAUGHT", "NO_DRAFTS"})
    levels = ", ".join(f'{code} = "info"' for code in codes)
    config = read_config(_write(tmp_path, GOOD + f"severity = {{ {levels} }}\n"))
    assert config.policy.severity == dict.fromkeys(codes, "info")
    same = read_config(_write(tmp_path, GOOD + 'severity = { PATHS_DIFFER = "error" }\n'))
    assert same.policy.severity == {"PATHS_DIFFER": "error"}


@pytest.mark.parametrize("section", ["run", "server", "policy", "candidate"])
@pytest.mark.parametrize("value", ["[1]", '"x"', "5", "true"])
def test_a_table_that_is_none_is_named_even_where_an_option_is_laid_over_it(
    tmp_path: Path, section: str, value: str
) -> None:
    file = _write(tmp_path, f"{section} = {value}\n")
    with pytest.raises(ConfigError, match=f"{section}: is no table") as caught:
        read_config(file, {section: {"concurrency": 2}})
    assert f"[{section}]" in caught.value.fix
    with pytest.raises(ConfigError, match=f"{section}: is no table"):
        config_of({section: 5}, {section: {"concurrency": 2}})


def test_a_folder_or_an_unreadable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot be read \(Is a directory\)"):
        read_config(tmp_path)


@pytest.mark.parametrize("verb", [["gate"], ["replay", "--path", "baseline"]])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[baseline]\nurls = ["http://b"]\napi_key_env = "NO_SUCH_KEY_HERE"\n'
            '[candidate]\nurls = ["http://c"]\n',
            "environment variable NO_SUCH_KEY_HERE (baseline.api_key_env) is not set",
        ),
        (
            '[server]\nmodel = "m"\npython = "/nope/python"\n'
            '[candidate]\nspeculative_config = { method = "ngram" }\n',
            "path baseline: there is no Python at /nope/python (server.python)",
        ),
    ],
)
def test_what_a_path_lacks_is_said_before_any_session_is_read(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    verb: list[str],
    text: str,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    _write(tmp_path, text + '[run]\nsessions = ["none.jsonl"]\n')
    assert run([*verb, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"] == message
    assert [p.name for p in tmp_path.iterdir()] == ["draftgate.toml"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("nan", "`x` is nan"),
        ("-inf", "`x` is -inf"),
        ("{ a = [1, { b = inf }] }", "`x.a[1].b` is inf"),
        ("2026-01-02", "`x` is a date (2026-01-02)"),
        ("12:30:00", "`x` is a time (12:30:00)"),
        ("99999999999999999999", "`x` is beyond 64 bits"),
    ],
)
def test_what_vllm_cannot_be_given_as_json_is_named(
    tmp_path: Path, value: str, message: str
) -> None:
    file = _write(tmp_path, GOOD.replace('method = "ngram"', f'method = "ngram", x = {value}'))
    with pytest.raises(ConfigError) as caught:
        read_config(file)
    assert str(caught.value) == (
        f"{file}: candidate.speculative_config: {message}, which JSON, and so vLLM's "
        "--speculative-config, cannot hold"
    )
    assert caught.value.fix.startswith("write a finite number")


NAMES = st.sampled_from(["method", "x.y", ""])
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63) + 1, 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "é✅", "\0"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=4,
)
NOT_JSON = st.sampled_from([float("nan"), float("inf"), 10**400, "\ud800", b"x", {1: 2}, {3}])


@settings(max_examples=40)
@given(st.dictionaries(NAMES, JSON))
def test_every_json_table_can_be_given(table: dict[str, Any]) -> None:
    assert unfit_for_json(table) is None


@settings(max_examples=40)
@given(st.dictionaries(NAMES, JSON), NOT_JSON, st.booleans())
def test_nothing_else_can_wherever_it_stands(
    table: dict[str, Any], other: Any, listed: bool
) -> None:
    assert unfit_for_json({**table, "x": {"y": [None, other] if listed else other}}) is not None
