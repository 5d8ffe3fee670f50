"""What a server serves, from ``/v1/models``.

{"object": "list", "data": [{"id": "m", "root": "/models/m", "max_model_len": 16384}]}
"""

from typing import Annotated, Any

from msgspec import Meta, Struct, ValidationError, convert

from traces.errors import ServerError
from traces.journal.path_facts import ModelFacts

ROUTE = "/v1/models"


class _Entry(Struct):
    id: str
    root: str | None = None
    max_model_len: Annotated[int, Meta(ge=1, lt=2**31)] | None = None


class _List(Struct):
    data: list[_Entry]


def models_of(answer: Any, url: str) -> tuple[ModelFacts, ...] | None:
    """The models the server at `url` names; None where it does not answer that route.

    Raises ServerError for JSON that is no list of models.
    """
    if answer is None:
        return None
    try:
        found = convert(answer, _List)
    except ValidationError as error:
        raise ServerError(
            f"{url}{ROUTE} gives no list of models: {str(error).replace('`', '')}",
            "is this a vLLM server? correct `urls`, or what stands before it",
        ) from None
    return tuple(ModelFacts(e.id, e.root, e.max_model_len) for e in found.data)


def first_model(answer: Any, url: str) -> str:
    """The name of the first model. Raises ServerError where the server names none."""
    models = models_of(answer, url)
    if not models:
        raise ServerError(f"{url}: {ROUTE} names no model", "is this a vLLM server?")
    return models[0].id
