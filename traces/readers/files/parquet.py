"""Rows of a Parquet file as plain values, one batch in memory at a time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from traces.errors import InputError

BATCH_ROWS = 64


def parquet_rows(file: Path) -> Iterator[dict[str, Any]]:
    """Each row as a dict. Raises InputError for a file pyarrow cannot read."""
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(file) as table:
            for batch in table.iter_batches(batch_size=BATCH_ROWS):
                yield from batch.to_pylist()
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"{file}: not a readable Parquet file", "write the file anew") from error
