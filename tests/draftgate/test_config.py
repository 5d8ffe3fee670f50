"""`draftgate.toml`: right values are read, and each mistake is named with its mend."""

from pathlib import Path

import pytest

from draftgate.config_file import read_config
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
        (GOOD.replace('model = "m"', ""), "nothing to replay on", ""),
        (GOOD.replace("speculative_config = {", "flags = [] #"), "no `speculative_config`", ""),
        (GOOD + ARM.replace("share", "shares"), "arms.0.shares: unknown key", "`share`"),
        (GOOD + ARM.replace("c9", "aa"), "an arm of the gate itself is called aa", ""),
        (GOOD + ARM.replace("c9", "c9-aa"), "an arm of the gate itself is called c9-aa", ""),
        (GOOD + ARM.replace("c9", "a/b"), "arms.0.name", ""),
        (GOOD + ARM + ARM, "two [[arms]] are called c9", ""),
        (GOOD + ARM + "small_kv = true\nconcurrency = 1\n", "never preempted", ""),
        (ATTACHED + ARM + "small_kv = true\n", "`small_kv` needs servers of its own", ""),
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
