"""The garbage collector runs again after work that paused it, however that ended."""

import gc

import pytest

from traces.collection import collector_paused


def test_it_runs_again_even_after_an_error() -> None:
    with pytest.raises(ValueError), collector_paused():
        assert not gc.isenabled()
        raise ValueError
    assert gc.isenabled()


def test_one_that_did_not_run_stays_off() -> None:
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
