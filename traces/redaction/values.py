"""Whether a value could be a secret, or only stands where one would: a type, a path, a name."""

import re

SYMBOLIC = re.compile(
    r"^(?:[<\[{$%(].*|x+|\*+|your[-_].*|\.+|[A-Z]+(?:_[A-Z]+)+"
    r"|.*(?:\{\{|\$\{|%\(|\.\.\.|…).*)$",
    re.IGNORECASE,
)
"""Values that only stand for a secret, such as ``<token>`` or ``$TOKEN``."""

_WORDS = """
admin apikey api_key auth basic bearer boolean bytes changeme credentials default digest
disabled enabled example false github google guest hidden include integer jwt ldap none null
number oauth oauth2 object omit optional pass passphrase password placeholder postgres
redacted required root same-origin saml secret string test text token true undefined user
username value
"""
WORDS = frozenset(_WORDS.split())
"""What stands for a value in schemas, forms, examples and settings."""

VERSION = re.compile(r"^[\^~<>=v]*\d+(?:\.\d+)+(?:[-+.][\w.]+)?$")
PLACE = re.compile(
    r"^(?:[a-z][a-z0-9+.-]*://|\.{0,2}/|~|[A-Za-z]:\\)|^[a-z0-9_.-]+(?:/[a-z0-9_.-]+)+$"
)
NAMES = re.compile(r"^[A-Za-z]+(?:[-_.][A-Za-z]+)+$|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$")
"""Words joined to the name of a thing: ``db-credentials``, ``django.contrib.auth``."""

IDENTIFIER = re.compile(r"^[A-Za-z_][A-Za-z_.]*\d{0,2}$|^[a-z_]+(?:\.[a-z0-9_]+)+$")
LEAST_STRONG = 8


def may_be_secret(value: str) -> bool:
    """Whether a quoted value behind the name of a secret may be one."""
    if value.lower() in WORDS or value.isdigit():
        return False
    return not any(kind.match(value) for kind in (SYMBOLIC, VERSION, PLACE, NAMES))


def looks_secret(value: str) -> bool:
    """Whether a value without quotes looks like a secret: code has names and numbers there."""
    has_both = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    long_enough = len(value) >= LEAST_STRONG and not IDENTIFIER.match(value)
    return has_both and long_enough and may_be_secret(value)
