"""What an import has read goes with its last use: nothing of it waits for the garbage collector.

The collector is paused while sessions are read. A cycle that holds a file's document would keep it
in memory until the collector runs, and an import of many files would grow.
"""

import gc
from pathlib import Path

import pytest

from tests.support.spellings import SPELLINGS, conversations
from traces.importing.importer import import_files
from traces.importing.inspection import inspect_file

FEW = 100
"""Objects: less than those of the smallest document here."""


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_file_that_was_read_leaves_nothing(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(SPELLINGS[name].write(conversations(7, 2, 12, 1)))
    for imported in import_files([file]):  # what is made once, such as compiled patterns
        inspect_file(imported)
    gc.collect()
    gc.disable()
    try:
        for imported in import_files([file]):
            assert inspect_file(imported).file.counts.sessions or imported.reason
        del imported
        assert gc.collect() < FEW
    finally:
        gc.enable()
