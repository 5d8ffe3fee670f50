"""What a chat-completions request asks for, as far as judgement depends on it.

Field names and neutral values: vLLM 0.32 `chat_completion/protocol.py` and `sampling_params.py`.
"""

from typing import Any

GREEDY_BELOW = 1e-5
"""vLLM samples greedily below this temperature (`sampling_params._SAMPLING_EPS`)."""


def is_greedy(request: dict[str, Any]) -> bool:
    """Temperature 0; a request that does not say is sampled at the server's default."""
    temperature = request.get("temperature")
    return temperature is not None and float(temperature) < GREEDY_BELOW


def seed_sent(request: dict[str, Any]) -> int | None:
    """The seed that decides what is drawn; `None` without one, and of a greedy turn."""
    return None if is_greedy(request) else request.get("seed")


def wants_usage(request: dict[str, Any]) -> bool:
    """`stream_options.include_usage`."""
    return bool((request.get("stream_options") or {}).get("include_usage"))


def token_limit(request: dict[str, Any]) -> int | None:
    """`max_completion_tokens`, else the older `max_tokens`."""
    for name in ("max_completion_tokens", "max_tokens"):
        if request.get(name) is not None:
            return int(request[name])
    return None


def stop_strings(request: dict[str, Any]) -> tuple[str, ...]:
    """`stop`: one string or several; empty strings never match."""
    stop = request.get("stop") or []
    return tuple(s for s in ([stop] if isinstance(stop, str) else stop) if s)


def stop_token_ids(request: dict[str, Any]) -> frozenset[int]:
    """`stop_token_ids`: the output ends at the first of them."""
    given = request.get("stop_token_ids") or []
    return frozenset(token for token in given if isinstance(token, int))


def named_tool(request: dict[str, Any]) -> str | None:
    """The function a `tool_choice` object names."""
    choice = request.get("tool_choice")
    if not isinstance(choice, dict):
        return None
    function = choice.get("function") or choice
    return function.get("name") if isinstance(function, dict) else None


def tool_schemas(request: dict[str, Any]) -> dict[str, Any]:
    """JSON Schema of the arguments by tool name; `None` where a tool declares none."""
    functions = [tool.get("function") or {} for tool in request.get("tools") or []]
    return {f["name"]: f.get("parameters") for f in functions if isinstance(f.get("name"), str)}


def has_format(request: dict[str, Any]) -> bool:
    """Whether the content must follow a format (`response_format`, `structured_outputs`)."""
    kind = (request.get("response_format") or {}).get("type", "text")
    return kind != "text" or bool(request.get("structured_outputs"))


def under_grammar(request: dict[str, Any]) -> bool:
    """Whether a grammar masks tokens: of a format, or of a tool call that must be made."""
    forced = request.get("tool_choice") == "required" or named_tool(request) is not None
    return has_format(request) or forced


def processes_logits(request: dict[str, Any]) -> tuple[str, ...]:
    """The parameters by which logits are changed before the argmax is taken."""
    neutral = {"repetition_penalty": 1, "presence_penalty": 0, "frequency_penalty": 0}
    names = [n for n, v in neutral.items() if request.get(n) is not None and request[n] != v]
    names += [
        name
        for name in ("logit_bias", "bad_words", "min_tokens", "allowed_token_ids")
        if request.get(name)
    ]
    if has_format(request):
        names.append("response_format or structured_outputs")
    if request.get("tool_choice") == "required" or named_tool(request):
        names.append("tool_choice")
    return tuple(names)
