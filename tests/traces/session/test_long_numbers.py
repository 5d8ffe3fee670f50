"""Lines that hold a number of more than 64 bits are found by a ninth of their bytes."""

import re

from hypothesis import given
from hypothesis import strategies as st

from traces.session.file import has_long_number


@given(
    st.lists(
        st.binary(max_size=30) | st.integers(0, 40).map(lambda digits: b"7" * digits), max_size=6
    ).map(b"".join)
)
def test_every_row_of_nineteen_digits_is_found_and_no_other(line: bytes) -> None:
    assert has_long_number(line) is bool(re.search(rb"[0-9]{19}", line))
