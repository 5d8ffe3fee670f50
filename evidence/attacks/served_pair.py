"""A baseline and a candidate, stand-ins in a process of their own, which gates are run against."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection

from tests.support.paper.gate import K
from tests.support.paper.model import HashedVocabulary
from tests.support.paper.server import Faults, PaperServer, served
from tests.support.paper.spoiled import torn_arguments


@dataclass(frozen=True, slots=True)
class Servers:
    """URLs of the two paths."""

    baseline: str
    candidate: str


@contextmanager
def servers(torn: bool) -> Iterator[Servers]:
    """Both run while the context lasts; the candidate is sound, or with `torn` tears call
    arguments."""
    context = get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(torn, there), daemon=True)
    process.start()
    try:
        yield Servers(*here.recv())
    finally:
        process.kill()
        process.join()


def _serve(torn: bool, said: Connection) -> None:
    """In a process of its own, until it is ended."""
    words = HashedVocabulary()
    faults = Faults(drafts=K, spoil=torn_arguments) if torn else Faults(drafts=K)
    pair = PaperServer(words), PaperServer(words, faults)
    with served(*pair):
        said.send((pair[0].url, pair[1].url))
        time.sleep(1e9)
