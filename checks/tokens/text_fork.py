"""Where two texts of one prompt part, when only one of them carries tokens.

A stream as users send it has no token ids. Where its text leaves that of the same path's judged
stream, the judged stream's tokens tell whether rounding explains it: some token there has a listed
alternative within the bound, and the other text goes on with it.

    judged   … |twice| when         the baseline lists  " early" 0.06 nat below  " twice"
    plain    … |early| when         so the plain text may have forked there

Text that was lost goes on with something the baseline does not list as near, and stays a fault.
Servers list alternatives by id; their texts are those that the run has seen these ids have. An
alternative of unknown text may be the one that was taken, at the very token where they part.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from checks.formats import json_values
from checks.formats.json_values import NotJson
from checks.formats.markers import markers
from checks.pair import Message, message_of_response
from checks.tokens.regret import above, regret_at
from traces.wire.response import Response, Token
from traces.wire.tokens import joined_text, texts_of

LOOK_BACK = 8
"""So many tokens up to the first differing character may be the fork: markup lies between a fork
and the first name of a call, and two tokens may share their first characters. White space explains
only what differs within it or right behind it: two newlines are likely one below one almost
anywhere."""

PART = "\ufffd"
"""In the text of a token that holds a part of a character: what it reads as stands only beside the
tokens of the other parts."""


@dataclass(frozen=True, slots=True)
class TextFork:
    """The near tie at which a text leaves the judged one: token index, regret in nat."""

    token: int
    regret: float


def near_tie_in_text(
    judged: Response, other: Message, bound: float, texts: Mapping[int, str]
) -> TextFork | None:
    """The near tie (regret <= `bound`) that explains why `other` differs from `judged`.

    `texts` holds the known texts of token ids. `None` where the two are equal, or where no listed
    alternative explains the difference.
    """
    tokens = judged.tokens or ()
    raw = joined_text(tokens)
    cursor = 0
    for candidate, baseline in _pieces(message_of_response(judged), other, raw):
        start, candidate, baseline = _spelled(raw, cursor, candidate, baseline)
        if candidate != baseline:
            return None if start < 0 else _fork(tokens, start, (candidate, baseline), bound, texts)
        cursor = max(cursor, start + len(candidate))
    return None


def _pieces(candidate: Message, baseline: Message, raw: str) -> Iterator[tuple[str, str]]:
    """The texts of both side by side, in the order models write them."""
    yield candidate.reasoning, baseline.reasoning
    yield candidate.content, baseline.content
    for left, right in zip_longest(candidate.calls, baseline.calls):
        yield (left and left.name) or "", (right and right.name) or ""
        mine, other = (left and left.arguments) or "", (right and right.arguments) or ""
        if mine in raw:
            yield mine, other
        else:
            yield from zip_longest(_leaves(mine), _leaves(other), fillvalue="")


def _leaves(arguments: str) -> list[str]:
    """Keys and values of an argument object in order; markup families write them one by one."""
    try:
        value = json_values.parse_plain(arguments)
    except NotJson:
        return [arguments]
    return list(_leaves_of(value))


def _leaves_of(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _leaves_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves_of(inner)
    else:
        yield value if isinstance(value, str) else json.dumps(value)


def _spelled(raw: str, cursor: int, candidate: str, baseline: str) -> tuple[int, str, str]:
    """(where `candidate` begins in `raw`, both texts as the raw text has them); −1 if not found."""
    start = raw.find(candidate, cursor)
    if start >= 0:
        return start, candidate, baseline
    left, right = (json.dumps(text, ensure_ascii=False)[1:-1] for text in (candidate, baseline))
    return raw.find(left, cursor), left, right


def _fork(
    tokens: Sequence[Token],
    start: int,
    pair: tuple[str, str],
    bound: float,
    texts: Mapping[int, str],
) -> TextFork | None:
    """The first of `pair` begins at character `start` of the tokens' text; the second stands in
    its place in the other answer."""
    candidate, baseline = pair
    shorter = min(len(candidate), len(baseline))
    parted = next((i for i in range(shorter) if candidate[i] != baseline[i]), shorter)
    place = -start
    places: list[int] = []
    for text in texts_of(tokens):
        if place > parted:
            break
        places.append(place)
        place += len(text or "")
    last = len(places) - 1
    for index in range(last, max(last - LOOK_BACK, -1), -1):
        begin = max(places[index], 0)
        rest, shared = baseline[begin:], parted - begin
        for option in tokens[index].top:
            if option.id is None or option.id == tokens[index].id:
                continue
            seen = regret_at(tokens[index], option.id)
            if seen is None or above(seen.value, bound):
                continue
            text = texts.get(option.id, option.text)
            if text is None or PART in text:
                taken = index == last
            else:
                taken = _goes_on(rest, text, shared, opens=not candidate)
            if taken:
                return TextFork(index, seen.value)
    return None


def _goes_on(rest: str, option: str, shared: int, *, opens: bool) -> bool:
    """Whether a text may go on with the token `option`, when so many characters are `shared`.

    Where it ends there, or where its whole channel is new (`opens`), the token is one that clients
    do not see: markup, an end token, white space. Elsewhere it is one that they do: white space and
    the first characters of a marker too, but no whole marker.
    """
    seen = option.strip()
    if not rest.strip() or opens:
        unseen = not seen or any(marker.startswith(seen) for marker in markers())
        return unseen or (bool(rest) and rest.startswith(option))
    if not seen:
        return rest.startswith(option) and shared <= len(option)
    return seen not in markers() and (rest.startswith(option) or rest.startswith(seen))
