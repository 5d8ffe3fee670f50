"""Progress off a terminal: a start, an end, and never a bar."""

import pytest

from draftgate.progress import PlainReporter


def test_plain_steps_print_start_and_end(capsys: pytest.CaptureFixture[str]) -> None:
    with PlainReporter().step("candidate: replaying", 3) as advance:
        advance(1)
        advance(3)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[0] == "candidate: replaying: started (3)"
    assert err.splitlines()[-1].startswith("candidate: replaying: done in ")
