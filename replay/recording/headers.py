"""Which headers a proxy passes on: all but those that concern one connection alone."""

from collections.abc import Iterable

from multidict import CIMultiDict

HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""RFC 9110 section 7.6.1, and what RFC 2616 section 13.5.1 listed."""

ANSWERED_HERE = frozenset({"host", "expect"})
"""Of a request: the upstream is asked under its own name, and ``100-continue`` is answered here."""

RawHeaders = Iterable[tuple[bytes, bytes]]


def passed_on(raw: RawHeaders, dropped: frozenset[str] = frozenset()) -> CIMultiDict[str]:
    """The end-to-end headers among `raw`, in order, repeated ones too.

    Left out are those in `dropped` (lower case), and those that ``Connection`` names. A repeated
    name is spelled as it was first: aiohttp keeps only the last of two spellings.
    """
    pairs = [(_text(name), _text(value)) for name, value in raw]
    named = {
        token.strip().lower()
        for name, value in pairs
        if name.lower() == "connection"
        for token in value.split(",")
    }
    left_out = HOP_BY_HOP | dropped | named
    first: dict[str, str] = {}
    kept = CIMultiDict[str]()
    for name, value in pairs:
        if name.lower() not in left_out:
            kept.add(first.setdefault(name.lower(), name), value)
    return kept


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")
