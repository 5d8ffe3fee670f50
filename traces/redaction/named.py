"""Values that are secrets by the name before them: in code, JSON and YAML, in environments, on
command lines, in query strings and connection strings."""

import re

from traces.redaction.rule import Rule, rule
from traces.redaction.values import looks_secret, may_be_secret

SECRET_WORDS = (
    "password passwd passphrase pwd secret token api_key apikey api-key access_key accesskey "
    "access-key private_key privatekey private-key credential auth"
)

NAME = (
    r"(?i:password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key"
    r"|credentials?|auth)(?P<more>(?:[_-][A-Za-z0-9]{1,64}){0,8}+)"
)
"""Bounded, so that a long run of such words is not read again from each of them."""
ASSIGNED = r"""\\?["'`]?(?:\s+is)?\s*(?:=>|:=|=|:)\s*"""

_NOT_ITSELF = """
algorithm alg backend budget class count dir endpoint enabled expires expiry expire field
file format hashers header hours id ids index length lifetime limit lists manager max method
min minutes mode model name parallelism path policy position prefix prompt provider required
reset scheme seconds size strategy suffix timeout ttl type uri url usage validators
"""
NOT_ITSELF = frozenset(_NOT_ITSELF.split())
"""Last words of a name that make it that of something about a secret."""


def _is_itself(match: re.Match[str]) -> bool:
    more = re.split(r"[_-]", match.group("more").lower())
    return NOT_ITSELF.isdisjoint(more)


def _quoted(match: re.Match[str]) -> bool:
    return _is_itself(match) and may_be_secret(match.group("secret"))


def _plain(match: re.Match[str]) -> bool:
    return _is_itself(match) and looks_secret(match.group("secret"))


def _value(match: re.Match[str]) -> bool:
    return may_be_secret(match.group("secret"))


def _strong(match: re.Match[str]) -> bool:
    return looks_secret(match.group("secret"))


def _url_password(match: re.Match[str]) -> bool:
    return match.group("secret") != match.group("user") and may_be_secret(match.group("secret"))


COMMAND = r"[^\n|;]{0,1000}?\s"
"""What stands between a command and one of its options; so much, that each `curl` of a long line
does not read all of it."""

NAMED_VALUES: tuple[Rule, ...] = (
    rule(
        "named-secret",
        SECRET_WORDS,
        NAME + ASSIGNED + r"""[bfru]?\\?["'`](?P<secret>[^\s"'`\\]{6,})""",
        accepts=_quoted,
    ),
    rule(
        "named-secret",
        SECRET_WORDS,
        NAME + ASSIGNED + r"""(?P<secret>[^\s"'`\\,;<>(){}\[\]|]{6,})(?=[\s"'`\\,;]|$)""",
        accepts=_plain,
    ),
    rule(
        "named-secret",
        SECRET_WORDS,
        r"(?P<name>(?<![A-Za-z])[A-Z0-9_]{0,64}(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|KEY))"
        r"""(?P<more>(?:_[A-Z0-9]{1,64}){0,8}+)=(?P<secret>[^\s"'$(`\\]{6,})""",
        accepts=_quoted,
    ),
    rule(
        "named-secret",
        "--",
        r"(?i:--(?:[a-z]+-)*(?:password|passwd|token|secret|api-key)[= ])"
        r"""["']?(?P<secret>[^\s"'$(`\\-][^\s"'\\]{5,})""",
        accepts=_value,
    ),
    rule(
        "query-secret",
        "=",
        r"[?&;](?i:[\w.-]*?(?:key|token|auth|sig|signature|secret|password|passwd|pwd))"
        r"=(?P<secret>[A-Za-z0-9._~%+/=!*-]{8,})",
        accepts=_strong,
    ),
    rule(
        "named-secret",
        "login",
        r"\blogin\s+\S+\s+password\s+(?P<secret>\S{6,})",
        accepts=_value,
    ),
    rule(
        "named-secret",
        "mysql mariadb sshpass",
        r"\b(?:mysql|mariadb)\w*\b" + COMMAND + r"""-p["']?(?P<secret>[^\s"'$-][^\s"']{5,})""",
    ),
    rule("named-secret", "sshpass", r"""\bsshpass\s+-p\s*["']?(?P<secret>[^\s"'$][^\s"']{3,})"""),
    rule(
        "named-secret",
        "login",
        r"\blogin\b" + COMMAND + r"""(?:-p|--password)[ =]["']?(?P<secret>[^\s"'$-][^\s"']{5,})""",
        accepts=_value,
    ),
    rule(
        "named-secret",
        "curl wget",
        r"\bcurl\b" + COMMAND + r"""(?:-u|--user)[ =]["']?[^\s:"'$]+:(?P<secret>[^\s"'$]{4,})""",
        accepts=_value,
    ),
    rule(
        "url-password",
        "://",
        r"""://(?P<user>[^\s:/?#@"']*):(?P<secret>[^\s/?#@"']+)@""",
        accepts=_url_password,
    ),
)
