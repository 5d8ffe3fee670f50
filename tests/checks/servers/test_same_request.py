"""Two answers compare only if both paths were asked the same."""

import pytest

from checks.servers.same_request import compare_requests

ASKED = {"model": "a", "temperature": 0, "messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({}, None),
        ({"model": "b", "cache_salt": "x"}, None),
        ({"temperature": 0.7}, ["temperature"]),
        ({"tools": []}, ["tools"]),
        ({"messages": [], "max_tokens": 3}, ["max_tokens", "messages"]),
    ],
)
def test_fields(change: dict, fields: list[str] | None) -> None:
    finding = compare_requests("s", "t", ASKED, ASKED | change)
    assert (finding and finding.detail["fields"]) == fields
    assert finding is None or (finding.code, finding.session) == ("PATHS_DIFFER", "s")
