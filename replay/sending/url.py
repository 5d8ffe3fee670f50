"""Base URLs of attached servers."""

import re
from urllib.parse import urlsplit

from traces.errors import ConfigError

EXAMPLE = "write it like http://host:8000"

KEY = "put a key into an environment variable and name it in `api_key_env`"


def without_secrets(url: str) -> str:
    """A URL, or what was meant as one, without what stands before an ``@`` or behind a ``?`` or
    ``#``: keys are put there.

    ``http://user:key@host:x/v1?api_key=k`` -> ``http://…@host:x/v1?…``
    """
    place, mark, _ = [*re.split("([?#])", url, maxsplit=1), "", ""][:3]
    scheme, slashes, rest = place.rpartition("://")
    _, at, host = rest.rpartition("@")
    return f"{scheme}{slashes}{'…@' if at else ''}{host}{mark}{'…' if mark else ''}"


def server_root(url: str) -> str:
    """``http://host:8000/v1/`` -> ``http://host:8000``.

    Raises ConfigError for what is no http(s) URL, and for one that carries a user name, a password
    or a query, since URLs are shown in logs and reports. Its text never repeats those.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(f"{without_secrets(url)!r} is no http(s) URL", EXAMPLE)
    if parts.query or parts.fragment:
        shown = without_secrets(url)
        raise ConfigError(f"{shown!r} carries more than the place of a server", f"{EXAMPLE}; {KEY}")
    if parts.username or parts.password:
        raise ConfigError(f"the URL of {parts.hostname} carries a user name or password", KEY)
    return url.rstrip("/").removesuffix("/v1").rstrip("/")
