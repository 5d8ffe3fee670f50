"""A capture of what a server sends for a text: its deltas, through vLLM's own parsers."""

import json
from collections.abc import Mapping
from typing import Any

from checks.splits.samples import TOOLS
from traces.wire.capture import Capture, CaptureKey

ASKED = {"messages": [{"role": "user", "content": "go"}], "tools": TOOLS, "temperature": 0}


def capture(
    turn: str,
    text: str,
    parsers: tuple[str | None, str | None],
    *,
    finish: str = "tool_calls",
    end: str = "<|endoftext|>",
    step: int = 2,
    request: Mapping[str, Any] = ASKED,
) -> Capture:
    """What a server sends for `text`: `step` tokens per delta, each through vLLM's own parser."""
    from checks.vllm.cuts import tokenizer_named
    from checks.vllm.parsers import ParserUnderTest

    tokenizer = tokenizer_named("built-in")
    under_test = ParserUnderTest(*parsers, tokenizer, request=request)
    ids = tokenizer.encode(text + end, add_special_tokens=False)
    tokens = under_test.detokenize(ids, stopped=bool(end))
    parser = under_test._fresh()
    events: list[tuple[float, str | bytes]] = []
    for start in range(0, len(ids), step):
        stop = min(start + step, len(ids))
        delta = parser.parse_delta(
            tokens.text[tokens.offsets[start] : tokens.offsets[stop]],
            list(ids[start:stop]),
            under_test.request,
            [],
            finished=stop == len(ids),
        )
        choice: dict[str, Any] = {"index": 0, "delta": {}, "token_ids": list(ids[start:stop])}
        if delta is not None:
            choice["delta"] = delta.model_dump(mode="json", exclude_none=True)
        if stop == len(ids):
            choice["finish_reason"] = finish
        events.append((float(start), f"data: {json.dumps({'choices': [choice]})}\n\n"))
    events.append((9999.0, "data: [DONE]\n\n"))
    key = CaptureKey("r", "candidate", "main", "s", turn)
    return Capture(key, dict(request), 200, 0.0, tuple(events), "done")
