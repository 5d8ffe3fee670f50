"""What the readings and the lost attempts of an arm say of its server."""

from typing import Any

import pytest

from checks.servers.restarts import cold_turns, judge_losses, restarts_of
from traces.journal.exchange import Exchange, exchange_of
from traces.journal.loss import Loss
from traces.journal.server_sample import ServerSample
from traces.wire.capture import Capture, CaptureKey

ARM = ("candidate", "main")


def readings(*values: tuple[float, float | None, float | None], path: str = "candidate") -> Any:
    """(taken at, process start, generated tokens) each."""
    return {
        (path, "main"): [
            ServerSample(path, "main", "http://a", at, started=started, generation_tokens=tokens)
            for at, started, tokens in values
        ]
    }


def lost(
    turn: str,
    at: float,
    ended: str = "error",
    attempt: int = 0,
    path: str = "candidate",
    received: bool = False,
) -> Loss:
    """Sent one second before it was lost."""
    key = CaptureKey("r", path, "main", "s", turn, attempt)
    return Loss(key, at - 1, at, ended, received)


@pytest.mark.parametrize(
    ("values", "restarts"),
    [
        ([(1000, 10, 5), (1001, 10, 9)], 0),
        ([(1000, 10, 5), (1090, 1050, 0)], 1),
        # The server's clock is behind, but its counters start from zero.
        ([(1000, 10, 5), (1090, 500, 0)], 1),
        # Another server behind the same URL, which began before the first reading.
        ([(1000, 10, 5), (1001, 500, 7)], 0),
        # Two servers behind one URL, both younger than the arm.
        ([(1000, 990, 5), (1001, 995, 2), (1002, 990, 6), (1003, 995, 3)], 0),
        # No process start in the metrics: one fall of a counter shows it, two show two servers.
        ([(1000, None, 5), (1001, None, 0), (1002, None, 4)], 1),
        ([(1000, None, 5), (1001, None, 2), (1002, None, 6), (1003, None, 3)], 0),
        ([(1000, None, None), (1001, None, None)], 0),
    ],
)
def test_what_readings_show(values: list[Any], restarts: int) -> None:
    found = restarts_of(readings(*values), ())
    assert len(found) == restarts


def test_a_launched_server_has_another_url_when_a_run_is_resumed() -> None:
    first = ServerSample(*ARM, "http://127.0.0.1:1", 1000, started=900, generation_tokens=9)
    second = ServerSample(*ARM, "http://127.0.0.1:2", 2000, started=1900, generation_tokens=0)
    samples = {ARM: [first, second]}
    assert restarts_of(samples, ()) == []
    assert len(restarts_of(samples, {"candidate"})) == 1


RESTART = readings((1000, 10, 5), (1090, 1050, 0))


@pytest.mark.parametrize(
    ("losses", "words"),
    [
        ([lost("t1", 1040)], ["restarted in arm main while it was answering: session s"]),
        # Lost long before it: a finding of its own.
        ([lost("t1", 500)], ["lost the connection in arm main"]),
        ([lost("t1", 500), lost("t1", 502, "refused", 1)], ["lost the connection"]),
        ([lost("t1", 1040, "refused")], []),
        # A stream that broke off in its middle has codes of its own, and is named beside others.
        ([lost("t1", 500, received=True)], []),
        ([lost("t1", 1040, received=True)], ["restarted"]),
        # Each turn is named once.
        ([lost("t1", 1040), lost("t1", 1200, attempt=1)], ["restarted"]),
    ],
)
def test_which_losses_count(losses: list[Loss], words: list[str]) -> None:
    found, notes = judge_losses(losses, restarts_of(RESTART, ()))
    assert [finding.severity for finding in found] == ["error"] * len(words)
    assert all(word in finding.message for word, finding in zip(words, found, strict=True))
    idle = [note for note in notes if "no turn in flight" in note]
    assert len(idle) == (0 if words and "restarted" in words[0] else 1)


def test_the_baseline_excuses_the_same_kind_of_loss_alone() -> None:
    restarts = restarts_of(RESTART, ())
    candidate, other = lost("t1", 1040), lost("t2", 1040, path="baseline")
    found, notes = judge_losses([candidate, other], restarts)
    assert [finding.severity for finding in found] == ["error"], "the baseline did not restart"
    assert any(note.startswith("the baseline's server lost the connection") for note in notes)
    both = restarts_of(RESTART | readings((1000, 9, 5), (1090, 1050, 0), path="baseline"), ())
    found, _ = judge_losses([candidate, other], both)
    assert [finding.severity for finding in found] == ["warning"]


def test_turns_that_may_have_found_an_empty_cache() -> None:
    def exchange(session: str, turn: str, sent_at: float) -> Exchange:
        key = CaptureKey("r", "candidate", "main", session, turn)
        return exchange_of(Capture(key, {}, 200, sent_at, (), "done"))

    sent = [
        exchange("a", "t1", 999),
        exchange("a", "t2", 1050),
        exchange("a", "t3", 1100),
        exchange("a", "t4", 1101),
        exchange("b", "t1", 1102),
        exchange("b", "t2", 1103),
    ]
    (restart,) = restarts_of(RESTART, ())
    cold = cold_turns({one.turn: one for one in sent}, [restart])
    assert cold == {("a", "t2"), ("a", "t3"), ("b", "t1")}
