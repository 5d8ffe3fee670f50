"""Work that makes millions of objects and no cycles, without the garbage collector's rounds.

Decoding a journal or reading a recording makes lists, dicts and texts by the million, which die
with their counts; the collector looks at them, and at everything else in the process, over and
over, and finds nothing. Up to half of the time goes there.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """The collector does not run inside; after it, it runs if it did before."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


@contextmanager
def heap_set_aside() -> Iterator[None]:
    """The collector does not look at what is there now; vLLM alone is a million objects that stay,
    and every round over them takes longer than judging a session."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
