"""Base URLs are taken in any usual form, and refused where they would fail or leak."""

import pytest

from replay.sending.client import StreamClient
from replay.sending.endpoint import Endpoint
from replay.sending.url import server_root
from traces.errors import ConfigError


@pytest.mark.parametrize(
    ("given", "root"),
    [
        ("http://host:8000", "http://host:8000"),
        ("http://host:8000/", "http://host:8000"),
        ("https://host/v1", "https://host"),
        ("https://host/team-a/v1/", "https://host/team-a"),
        ("http://[::1]:8000/v1", "http://[::1]:8000"),
    ],
)
def test_the_root_of_a_server(given: str, root: str) -> None:
    assert server_root(given) == root
    assert StreamClient(given).base_url == Endpoint(given).base_url == root


@pytest.mark.parametrize(
    "given", ["localhost:8000", "host", "", "ftp://host", "http://", "http://["]
)
def test_what_is_no_url_is_said(given: str) -> None:
    with pytest.raises(ConfigError, match="is no http"):
        server_root(given)


def test_a_password_in_a_url_is_refused_and_not_repeated() -> None:
    with pytest.raises(ConfigError) as caught:
        server_root("http://user:hunter2@host:8000")
    assert "hunter2" not in str(caught.value) + caught.value.fix
    assert "api_key_env" in caught.value.fix
