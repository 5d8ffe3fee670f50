"""The garbage collector runs again after work that paused it, however that ended."""

import gc

import pytest

from traces.collection import collector_paused


def test_it_runs_again_even_after_an_error() -> None:
    seen = []

    def fail() -> None:
        with collector_paused():
            seen.append(gc.isenabled())
            raise ValueError

    with pytest.raises(ValueError):
        fail()
    assert (seen, gc.isenabled()) == ([False], True)


def test_one_that_did_not_run_stays_off() -> None:
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
