"""A chat request as the same turn is asked on another route, and back.

Everything starts from the chat request (`traces.session.render`), so that all routes ask for the
same prompt; vLLM turns each of them into a chat request again before it renders the template
(`entrypoints/anthropic/serving.py`, `entrypoints/openai/responses/utils.py`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from traces.routes import messages, responses
from traces.routes.responses import SAMPLING
from traces.wire.route import Route


def asked(
    route: Route, chat: Mapping[str, Any], prompt_ids: Sequence[int] | None = None
) -> dict[str, Any]:
    """The body that asks for a chat request on `route`; `chat` itself stays as it is.

    A completion has no messages: `prompt_ids` is the prompt, as the server rendered it. Raises
    ValueError, which says why, where the route has no words for what the request asks for.
    """
    if route == "messages":
        return messages.asked(chat)
    if route == "responses":
        return responses.asked(chat)
    if route == "completions":
        return _completion(chat, prompt_ids)
    return dict(chat)


def chat_view(route: Route, body: Mapping[str, Any]) -> dict[str, Any]:
    """A body of `route` as the chat request that the checks read: messages, tools, limits, stops.

    What only the route knows is left out. Never raises: a body that is no request of the route
    gives a view with less in it.
    """
    if route == "messages":
        return messages.chat_view(body)
    if route == "responses":
        return responses.chat_view(body)
    return dict(body)


def _completion(chat: Mapping[str, Any], prompt_ids: Sequence[int] | None) -> dict[str, Any]:
    if prompt_ids is None:
        raise ValueError("a completion needs the token ids of its prompt")
    if chat.get("response_format") is not None:
        raise ValueError("an output format is not asked for on this route")
    kept = {
        key: chat[key]
        for key in (*SAMPLING, "max_tokens", "stream_options")
        if chat.get(key) is not None
    }
    return {**kept, "prompt": list(prompt_ids)}
