"""Lines are those of the stream, wherever a block ends, and none is longer than the bound."""

import io
from itertools import product

import pytest

from traces.readers.files import bounded_lines
from traces.readers.files.bounded_lines import TOO_LONG

BLOCK, LONGEST = 4, 11


def expected(content: bytes) -> list[bytes]:
    """By their definition: cut behind every newline; a line over the bound, or one that ends at
    the bound without its newline, is replaced."""
    lines = content.split(b"\n")
    whole = [line + b"\n" for line in lines[:-1]] + [lines[-1]] * bool(lines[-1])
    fits = [len(line) + (not line.endswith(b"\n")) <= LONGEST for line in whole]
    return [line if fit else TOO_LONG for line, fit in zip(whole, fits, strict=True)]


@pytest.mark.parametrize("end", ["", "\n"])
def test_every_place_where_a_block_can_end(monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    monkeypatch.setattr(bounded_lines, "BLOCK_BYTES", BLOCK)
    monkeypatch.setattr(bounded_lines, "MAX_LINE_BYTES", LONGEST)
    for sizes in product(range(14), repeat=3):
        content = ("\n".join("x" * size for size in sizes) + end).encode()
        found = list(bounded_lines.bounded_lines(io.BytesIO(content)))
        assert found == expected(content), content
