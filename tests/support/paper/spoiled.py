"""Faults that several tests plant in what a paper server is about to send."""

from typing import Any

from tests.support.paper.stream import Stream

Request = dict[str, Any]


def wrong_token(stream: Stream, request: Request) -> None:
    """Token 2 is one that both distributions find unlikely, committed all the same."""
    distribution = stream.distributions[2]
    stream.ids[2], stream.texts[2] = min(distribution, key=lambda t: distribution[t]), "q"


def torn_arguments(stream: Stream, request: Request) -> None:
    """The arguments of every call lack their last character."""
    for call in stream.calls:
        call["arguments"] = call["arguments"][:-1]
