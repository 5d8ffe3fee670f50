"""Editing a response so that its parts still agree: ids, text, log probabilities, calls."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from traces.wire.response import Response, Token
from traces.wire.tokens import UNKNOWN, Tokens, known_texts

Channel = Literal["content", "reasoning", "arguments"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a token's text stands: characters `start` to `end` of a channel.

    `call` is the position of the tool call, 0 for content and reasoning.
    """

    channel: Channel
    call: int
    start: int
    end: int


def vocabulary(responses: Iterable[Response]) -> dict[int, str]:
    """Token id -> text, of every token a run has emitted whose text stands for itself.

    Alternatives on the wire carry ids alone. Tokens that are part of a character (U+FFFD when
    decoded alone) or have no text are left out.
    """
    texts: dict[int, str] = {}
    for response in responses:
        tokens = Tokens.of(response.tokens or ())
        for token_id, text in zip(tokens.ids.tolist(), tokens.texts, strict=True):
            if token_id != UNKNOWN and text and "\ufffd" not in text:
                texts[token_id] = text
    return texts


def place_of(response: Response, index: int) -> Place | None:
    """Where output token `index` stands; `None` in markup, or where that cannot be known.

    A channel's text must occur exactly once in the joined texts of all tokens.
    """
    texts = known_texts(response.tokens or ())
    if texts is None:
        return None
    before = sum(map(len, texts[:index]))
    after = before + len(texts[index])
    joined = "".join(texts)
    for channel, call, text in _channels(response):
        start = joined.find(text)
        if start < 0 or joined.find(text, start + 1) >= 0:
            continue
        if start <= before and after <= start + len(text) and after > before:
            return Place(channel, call, before - start, after - start)
    return None


def span_of(response: Response, start: int, end: int) -> Place | None:
    """Where output tokens `start` to `end` stand, side by side in one channel; else `None`."""
    places = [place_of(response, index) for index in range(start, end)]
    if not places or places[0] is None or places[-1] is None:
        return None
    first, last = places[0], places[-1]
    whole = all(
        p is not None and (p.channel, p.call) == (first.channel, first.call) for p in places
    )
    return replace(first, end=last.end) if whole else None


def _channels(response: Response) -> list[tuple[Channel, int, str]]:
    found: list[tuple[Channel, int, str]] = [
        ("content", 0, response.content),
        ("reasoning", 0, response.reasoning),
    ]
    found += [("arguments", i, call.arguments) for i, call in enumerate(response.tool_calls)]
    return [entry for entry in found if entry[2]]


def write(response: Response, place: Place, text: str) -> Response:
    """The response with the characters at `place` replaced by `text`."""

    def edited(old: str) -> str:
        return old[: place.start] + text + old[place.end :]

    if place.channel == "content":
        return replace(response, content=edited(response.content))
    if place.channel == "reasoning":
        return replace(response, reasoning=edited(response.reasoning))
    calls = list(response.tool_calls)
    calls[place.call] = replace(calls[place.call], arguments=edited(calls[place.call].arguments))
    return replace(response, tool_calls=tuple(calls))


def swap_token(response: Response, index: int, texts: Mapping[int, str]) -> Response | None:
    """Output token `index` replaced by the runner-up of its own list, as if that had led there.

    The two trade log probabilities, so the path's own argmax check still holds. `None` where
    there is no runner-up with a known text, or the text around it cannot be rewritten.
    """
    tokens = response.tokens or ()
    old = tokens[index]
    rivals = sorted((t for t in old.top if t.id != old.id), key=lambda entry: -entry.logprob)
    place = place_of(response, index)
    if not rivals or rivals[0].id is None or place is None or old.logprob is None:
        return None
    new_id, text = rivals[0].id, texts.get(rivals[0].id)
    if text is None:
        return None
    trade = {old.id: rivals[0].logprob, new_id: old.logprob}
    top = tuple(replace(entry, logprob=trade.get(entry.id, entry.logprob)) for entry in old.top)
    token = Token(id=new_id, text=text, logprob=old.logprob, top=top)
    edited = write(response, place, text)
    return replace(edited, tokens=(*tokens[:index], token, *tokens[index + 1 :]))
