"""A pair of evidence as the parts of a case scenario: everything the checks looked at."""

from collections.abc import Sequence
from typing import Any

from checks import findings as f
from checks.cases.stream import chunks_of_response, times_around_the_longest_gap
from checks.pair import Message, Pair, Side
from traces.wire.response import Token

Scenario = dict[str, Any]


def scenario_of_pair(pair: Pair, name: str = "seen") -> Scenario:
    """The scenario (case format 1) that holds all of `pair`; absent parts are left out."""
    scenario = {
        "name": name,
        "route": _route(pair.candidate),
        "request": pair.request,
        "baseline": _baseline(pair.baseline, pair.compare_text),
        "candidate": _candidate(pair),
        "context": {"stop_match": pair.stop_match, "block_size": pair.block_size},
    }
    return {key: value for key, value in _known(scenario).items() if value != {}}


def _route(side: Side) -> str | None:
    """The route whose events the scenario holds; `None` where it holds chat chunks."""
    return side.stream.route if side.stream is not None and side.stream.events else None


def _baseline(side: Side, with_message: bool) -> Scenario:
    refused = side.status is not None and not side.served
    message = None if refused or side.message is None else message_json(side.message)
    return {
        "message": message if with_message else None,
        "finish_reason": side.finish_reason,
        "tokens": None if refused else tokens_json(side.tokens),
        "http_status": side.status,
        "cached_tokens": side.cached_tokens,
        "gap_p99_ms": side.gap_p99_ms,
    }


def _candidate(pair: Pair) -> Scenario:
    side = pair.candidate
    part: Scenario = {
        "raw_text": side.raw_text,
        "tokens": tokens_json(side.tokens),
        "step_tokens": None if side.step_tokens is None else list(side.step_tokens),
        "http_status": side.status,
        "neighbours": [{"id": n.id, "text": n.text} for n in pair.neighbours] or None,
    }
    if side.stream is not None:
        served = side.status == 200
        shown = list(side.stream.events) or chunks_of_response(side.stream)
        part["chunks"] = shown if served else []
        part["done"] = side.stream.done
        part["error_body"] = None if served else side.stream.error
        if pair.baseline.gap_p99_ms is not None and served and part["chunks"]:
            part["chunk_times_ms"] = times_around_the_longest_gap(side.stream, part["chunks"])
    return part


def message_json(message: Message) -> Scenario:
    """An assistant message as a server gives it."""
    return {
        "role": "assistant",
        "content": message.content or None,
        "reasoning": message.reasoning or None,
        "tool_calls": [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.calls
        ],
    }


def tokens_json(tokens: Sequence[Token] | None) -> list[Scenario] | None:
    """Tokens as case files write them."""
    if tokens is None:
        return None
    return [
        _known(
            {
                "id": token.id,
                "text": token.text,
                "logprob": token.logprob,
                "top_logprobs": [
                    _known({"id": top.id, "text": top.text, "logprob": top.logprob})
                    for top in token.top
                ]
                or None,
            }
        )
        for token in tokens
    ]


def _known(part: Scenario) -> Scenario:
    """Without what is unknown, two levels deep."""
    inner = {k: _known(v) if isinstance(v, dict) and k in PARTS else v for k, v in part.items()}
    return {key: value for key, value in inner.items() if value is not None}


PARTS = {"baseline", "candidate", "context"}


def without_shared_flaws(scenario: Scenario, shared: set[str]) -> Scenario:
    """The scenario without stream flaws that both paths show.

    A case holds only the baseline's result, so a flaw of its stream could not excuse the same flaw
    of the candidate's. `shared` are the codes of such flaws.
    """
    request = dict(scenario.get("request") or {})
    candidate = dict(scenario.get("candidate") or {})
    if f.STREAM_NO_DONE in shared:
        candidate["done"] = True
    if f.USAGE_MISSING in shared:
        request.pop("stream_options", None)
    if shared & {f.USAGE_UNDERCOUNT, f.TOKEN_IDS_GAP, f.MAX_TOKENS_ACCOUNTING}:
        candidate["chunks"] = [c for c in candidate.get("chunks", []) if c.get("choices")]
        request.pop("stream_options", None)
    if f.MAX_TOKENS_ACCOUNTING in shared:
        request = {k: v for k, v in request.items() if k not in LIMITS}
    if f.TOOL_HEADER_MISSING in shared:
        candidate["chunks"] = [_whole_header(c) for c in candidate.get("chunks", [])]
    if f.TOOL_HEADER_CHANGED in shared:
        candidate["chunks"] = [c for c in candidate.get("chunks", []) if not _names_again(c)]
    return {**scenario, "request": request, "candidate": candidate}


def _calls(chunk: Scenario) -> list[Scenario]:
    choice = (chunk.get("choices") or [{}])[0]
    return (choice.get("delta") or {}).get("tool_calls") or []


def _names_again(chunk: Scenario) -> bool:
    """Whether the chunk only gives a call another name (`checks.cases.stream`)."""
    return any("id" not in call and call["function"].get("name") for call in _calls(chunk))


LIMITS = {"max_tokens", "max_completion_tokens"}


def _whole_header(chunk: Scenario) -> Scenario:
    calls = _calls(chunk)
    if not calls:
        return chunk
    filled = [{"id": f"call_{call['index']}", **call} for call in calls]
    return {"choices": [{**chunk["choices"][0], "delta": {"tool_calls": filled}}]}
