"""Base URLs of attached servers."""

from urllib.parse import urlsplit

from traces.errors import ConfigError


def server_root(url: str) -> str:
    """``http://host:8000/v1/`` -> ``http://host:8000``.

    Raises ConfigError for what is no http(s) URL, and for one that carries a password, since URLs
    are shown in logs and reports.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(f"{url!r} is no http(s) URL", "write it like http://host:8000")
    if parts.username or parts.password:
        raise ConfigError(
            f"the URL of {parts.hostname} carries a user name or password",
            "put the key into an environment variable and name it in `api_key_env`",
        )
    return url.rstrip("/").removesuffix("/v1").rstrip("/")
