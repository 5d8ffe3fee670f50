"""Case files as live servers: what each path of a scenario gave, as bytes on the wire.

A session of one turn stands for a scenario, and names it in its prompt; every other request gets
the paper server's own answer. Where a case holds no tokens of the baseline, it serves the
candidate's: the fault is then behind the model, in the parser or the stream.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.cases import KINDS, TRIALS
from tests.support.hostile_server import Raw

Scenario = dict[str, Any]
DONE = b"data: [DONE]\n\n"
INCLUDED = "include_stop_str_in_output"
KEPT = ("tools", "tool_choice", "response_format", "stop", INCLUDED, "temperature")
"""Fields of a case's request that decide how its answer is judged."""


@dataclass(frozen=True)
class LiveCase:
    """A scenario that a server can replay: `name` is kind and scenario."""

    name: str
    scenario: Scenario

    @property
    def codes(self) -> set[str]:
        return set(self.scenario["expected"]["codes"])

    def candidate(self) -> Raw:
        """The stream as the case holds it, or the refusal."""
        side = self.scenario["candidate"]
        if side.get("error_body") is not None:
            return Raw([json.dumps(side["error_body"]).encode()], side["http_status"])
        return stream(side["chunks"], done=side.get("done") is not False)

    def baseline(self) -> Raw:
        """A sound stream of the baseline's message and tokens; a refusal where it refused."""
        side = self.scenario["baseline"]
        if side.get("http_status", 200) != 200:
            return Raw([b'{"error": {"message": "refused"}}'], side["http_status"])
        request = self.scenario["request"]
        stops = [] if request.get(INCLUDED) else request.get("stop") or []
        return stream(sound_chunks(side, self.scenario["candidate"].get("chunks") or [], stops))


def stream(chunks: Sequence[dict[str, Any]], *, done: bool = True) -> Raw:
    """Chunks as events."""
    events = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks]
    return Raw([*events, *([DONE] if done else [])])


def sound_chunks(
    baseline: Scenario, candidate: Sequence[dict[str, Any]], stops: Sequence[str]
) -> list[dict[str, Any]]:
    """A stream of the baseline: its message in one delta, with its tokens or the candidate's."""
    message = dict(baseline.get("message") or {})
    tokens = baseline.get("tokens")
    ids = [token["id"] for token in tokens] if tokens else _ids(candidate)
    if not message and tokens:
        text = "".join(token["text"] for token in tokens).removesuffix("<|im_end|>")
        message = {"content": min((text.partition(stop)[0] for stop in stops), default=text)}
    calls = [{**call, "index": place} for place, call in enumerate(message.pop("tool_calls", []))]
    message.pop("role", None)
    delta = {"role": "assistant", **message, **({"tool_calls": calls} if calls else {})}
    finish = baseline.get("finish_reason") or ("tool_calls" if calls else "stop")
    choice: dict[str, Any] = {"index": 0, "delta": delta, "finish_reason": finish}
    choice["token_ids"] = ids
    if tokens:
        choice["logprobs"] = {"content": [_entry(token) for token in tokens]}
    usage: dict[str, Any] = {"prompt_tokens": 10, "completion_tokens": len(ids)}
    if baseline.get("cached_tokens") is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": baseline["cached_tokens"]}
    usage["prompt_tokens"] = max(_prompt(candidate), usage["prompt_tokens"])
    base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "paper"}
    return [{**base, "choices": [choice]}, {**base, "choices": [], "usage": usage}]


def _prompt(chunks: Sequence[dict[str, Any]]) -> int:
    counts = [(chunk.get("usage") or {}).get("prompt_tokens") for chunk in chunks]
    return max([count for count in counts if count is not None], default=0)


def _ids(chunks: Sequence[dict[str, Any]]) -> list[int]:
    choices = [choice for chunk in chunks for choice in (chunk.get("choices") or [])[:1]]
    return [number for choice in choices for number in choice.get("token_ids") or []]


def _entry(token: dict[str, Any]) -> dict[str, Any]:
    listed = [_one(top) for top in token.get("top_logprobs") or [token]]
    return {**_one(token), "top_logprobs": listed}


def _one(token: dict[str, Any]) -> dict[str, Any]:
    text = token.get("text") or ""
    return {"token": text, "logprob": token["logprob"], "bytes": list(text.encode())}


def live_cases() -> list[LiveCase]:
    """Every greedy scenario of the case files that holds both sides of a turn, and the tokens of
    the candidate's stream: what a run makes of streams without any is another matter."""
    found = []
    for file in (*KINDS, *TRIALS):
        for scenario in json.loads(file.read_text(encoding="utf-8"))["scenarios"]:
            request, sides = scenario.get("request") or {}, ("baseline", "candidate")
            if all(scenario.get(side) for side in sides) and request.get("temperature") == 0:
                refused = scenario["candidate"].get("error_body") is not None
                if refused or _ids(scenario["candidate"]["chunks"]):
                    found.append(LiveCase(f"{file.stem}: {scenario['name']}", scenario))
    return found


def write_case_sessions(file: Path, cases: Sequence[LiveCase]) -> Path:
    """A request log: one session of one turn per case."""
    with file.open("w", encoding="utf-8") as out:
        for number, case in enumerate(cases):
            message = {"role": "assistant", "content": "Done."}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            kept = {k: v for k, v in case.scenario["request"].items() if k in KEPT}
            asked = [{"role": "user", "content": f"Case {number}."}]
            row = {
                "session_id": f"case-{number}",
                "request": {"model": "paper", "messages": asked, **kept},
                "response": {"object": "chat.completion", "choices": [choice]},
            }
            out.write(json.dumps(row) + "\n")
    return file


def case_of(body: dict[str, Any], cases: Sequence[LiveCase]) -> LiveCase | None:
    """The case that a chat request stands for."""
    last = str((body.get("messages") or [{}])[-1].get("content") or "")
    if not last.startswith("Case "):
        return None
    return cases[int(last.removeprefix("Case ").rstrip("."))]
