"""JSON that a server sent: the one way it is decoded, with the limits of `traces.limits`."""

import re
from typing import Any

from msgspec import MsgspecError
from msgspec.json import decode

from traces.json_bytes import decode_json
from traces.limits import DIGITS, NESTING, PastLimit

_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


def decode_served(data: bytes | str) -> Any:
    """The value, integers of any allowed size exact.

    A lone surrogate, which no UTF-8 file and no store takes, is written out (``\\ud800``). Raises
    PastLimit for what is nested too deeply or has too long an integer, ValueError for no JSON.
    """
    refuse_nesting(data)
    try:
        return decode(data)
    except (MsgspecError, ValueError, RecursionError):
        pass
    try:
        return _written_out(decode_json(data))
    except RecursionError:
        raise PastLimit(f"nested more than {NESTING} deep") from None
    except ValueError as error:
        if "integer string conversion" in str(error):
            raise PastLimit(f"one with an integer of more than {DIGITS} digits") from None
        raise


def refuse_nesting(data: bytes | str) -> None:
    """Raise PastLimit where arrays and objects are nested too deeply; linear in the data."""
    if isinstance(data, bytes):
        if data.count(b"[") + data.count(b"{") <= NESTING:
            return
        data = data.decode(errors="replace")
    elif data.count("[") + data.count("{") <= NESTING:
        return
    depth = 0
    for match in _BRACKETS.finditer(data):
        first = data[match.start()]
        if first in "[{":
            depth += 1
            if depth > NESTING:
                raise PastLimit(f"nested more than {NESTING} deep")
        elif first in "]}":
            depth -= 1


def _written_out(value: Any) -> Any:
    """The value with lone surrogates as escapes."""
    if isinstance(value, str):
        if _SURROGATE.search(value) is None:
            return value
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_written_out(key): _written_out(inner) for key, inner in value.items()}
    return [_written_out(inner) for inner in value] if isinstance(value, list) else value
