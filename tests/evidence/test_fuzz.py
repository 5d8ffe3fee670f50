"""Whatever reads bytes of others takes changed ones: a seeded part of the long run.

`python -m evidence.attacks.fuzz` is the long one, whose figures stand in docs/evidence.md.
"""

import pytest

from evidence.attacks.fuzz.loop import Found, examples_of, feed, random_inputs
from evidence.attacks.fuzz.targets import TARGETS, Target
from traces.errors import InputError

RUNS = {"labels": 400, "questions": 400, "redaction": 800, "recordings": 1500}
"""Inputs of a target; of all others 2500. Where one takes long, fewer."""


@pytest.mark.parametrize("name", TARGETS)
def test_changed_inputs_are_read_or_refused(name: str) -> None:
    found = random_inputs(TARGETS[name], RUNS.get(name, 2500), seed=1)
    assert found.faults == {}


@pytest.mark.parametrize("name", [name for name in TARGETS if name not in ("questions",)])
def test_the_examples_themselves_are_mostly_sound(name: str) -> None:
    """Changing inputs that are refused at once would test nothing."""
    found, examples = Found(), examples_of(TARGETS[name])[:200]
    for data in examples:
        feed(TARGETS[name], data, found)
    assert len(examples) >= 2
    assert found.refused <= 0.1 * len(examples)


def test_the_loop_keeps_what_goes_wrong_and_only_that() -> None:
    def fragile(data: bytes) -> None:
        if data[:1] == b"b":
            raise KeyError("b")
        if data[:1] == b"c":
            raise InputError("refused")

    found = Found()
    for data in (b"a", b"bbb", b"b", b"bb", b"c"):
        feed(Target(fragile, lambda: iter(())), data, found)
    assert (found.inputs, found.refused) == (5, 1)
    ((kind, shortest),) = found.faults.items()
    assert kind.startswith("KeyError at tests/evidence/test_fuzz.py:")
    assert (shortest, found.times[kind]) == (b"b", 3)


def test_an_input_that_takes_long_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([0.0, 3.0])
    monkeypatch.setattr("evidence.attacks.fuzz.loop.time.process_time", lambda: next(times))
    found = Found()
    feed(Target(len, lambda: iter(())), b"x", found)
    assert list(found.faults) == ["more than 2.0 s"]
