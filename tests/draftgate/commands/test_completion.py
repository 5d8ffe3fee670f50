"""Shell completion, asked as the shells ask for it."""

import os
import subprocess
import sys

import pytest

from draftgate.cli import VERBS


def asked(shell: str, words: str, place: int) -> list[str]:
    """What would be offered for the word at `place` of a command line."""
    code = "from draftgate.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={
            **os.environ,
            "_DRAFTGATE_COMPLETE": f"{shell}_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(place),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.partition(",")[2] for line in done.stdout.splitlines() if "," in line]


def test_every_verb_is_offered() -> None:
    assert sorted(asked("bash", "draftgate ", 1)) == sorted(VERBS)
    assert asked("bash", "draftgate ga", 1) == ["gate"]


def test_options_choices_and_questions_are_offered() -> None:
    assert "--baseline-url" in asked("bash", "draftgate gate --b", 2)
    assert asked("bash", "draftgate query --format p", 3) == ["parquet"]
    assert asked("bash", "draftgate query worst_b", 2) == ["worst_boundaries"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from draftgate.cli import main; main()"],
        env={**os.environ, "_DRAFTGATE_COMPLETE": f"{shell}_source"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"_DRAFTGATE_COMPLETE={shell}_complete" in done.stdout
