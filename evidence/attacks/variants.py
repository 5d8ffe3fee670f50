"""The cases of this checkout cut in new ways: are faults still caught, and sound twins silent?

    python -m evidence.attacks.variants --count 4000

A variant of a scenario changes what must not matter to its judgement:

    chunking      deltas of text merged, cut at random, or sent one character at a time
    ids           equal token ids given to both paths, or taken away, where the texts show the fault
    temperature   0.7, where equal tokens, the stream or the calls alone show it
    position      words in front of the answer, on both paths, so that the fault comes later
    spelling      `reasoning_content` for `reasoning`; another model, other ids of answer and calls

Where one of these takes away the evidence a fault rests on, no such variant is made. Expected are
the very codes of the scenario. SPLIT_VARIANT, which needs vLLM's parsers, is left out.
"""

import argparse
import copy
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from checks import findings as f
from checks.cases.judge import judge_scenario
from checks.findings import CODES, CONTENT, TOOL_CALLS, TRANSPORT
from evidence.markdown import table
from traces.cases.case import parse_case

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "cases"
Scenario = dict[str, Any]

WORDS = ("Right.", "Let me look at that first.", "I will go through it step by step now. " * 6)

NEEDS_VLLM = frozenset({f.SPLIT_VARIANT})
BY_IDS = frozenset(
    {f.LOGPROBS_COUNT, f.LOGPROBS_CONSTANT, f.LOGPROBS_SHIFTED, f.NON_FINITE_LOGPROBS}
    | {f.USAGE_UNDERCOUNT, f.TOKEN_IDS_GAP, f.MAX_TOKENS_ACCOUNTING, f.TOKENS_AFTER_STOP}
)
"""Codes that token ids, or scores, show."""
BY_REFERENCE = frozenset(
    {f.CONTENT_DIFF, f.REASONING_DIFF, f.TOOL_CALL_LOST, f.TOOL_CALL_EXTRA, f.ARGS_DIFFER}
    | {f.ARGS_SCHEMA, f.FINISH_REASON_WRONG, f.UTF8_REPLACEMENT, f.MARKER_LEAK_ARGS}
    | {f.MARKER_LEAK_CONTENT, f.MARKER_LEAK_REASONING}
)
"""Codes that hang on the baseline's text, which a sampled turn without ids does not have."""


def scenarios(folder: Path = FOLDER) -> Iterator[tuple[str, Scenario]]:
    """Every scenario with codes to expect, by a name of its own."""
    for file in sorted([*folder.glob("*/*.json"), *folder.glob("*.case.json")]):
        for scenario in json.loads(file.read_text(encoding="utf-8"))["scenarios"]:
            codes = (scenario.get("expected") or {}).get("codes")
            if codes is not None and not NEEDS_VLLM & set(codes):
                yield f"{file.stem}: {scenario['name']}", scenario


def codes_of(scenario: Scenario) -> frozenset[str]:
    """What it must be found to be."""
    return frozenset(scenario["expected"]["codes"])


def variant(scenario: Scenario, rng: random.Random) -> tuple[tuple[str, ...], Scenario] | None:
    """A random variant and what was changed in it; `None` where nothing could be."""
    found = copy.deepcopy(scenario)
    done = []
    for name, change in CHANGES.items():
        if rng.random() < 0.6 and change(found, rng):
            done.append(name)
    return (tuple(done), found) if done else None


def _chunks(scenario: Scenario) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (scenario.get("candidate") or {}).get("chunks") or []
    return found


def _choice(chunk: dict[str, Any], bare: bool = True) -> dict[str, Any] | None:
    """The one choice of a chunk; with `bare` only where it carries neither ids nor scores."""
    choices = chunk.get("choices")
    if not isinstance(choices, list) or len(choices) != 1:
        return None
    choice: dict[str, Any] = choices[0]
    if bare and (choice.get("token_ids") is not None or choice.get("logprobs") is not None):
        return None
    return choice if isinstance(choice.get("delta"), dict) else None


def rechunk(scenario: Scenario, rng: random.Random) -> bool:
    """Cut the text of every delta, or send it one character at a time; merge some."""
    chunks = _chunks(scenario)
    if not chunks or scenario["candidate"].get("chunk_times_ms"):
        return False
    most = rng.choice((1, 3, 12, 60))
    cut: list[dict[str, Any]] = []
    for chunk in chunks:
        cut += _cut(chunk, most, rng)
    merged = _merged(cut, rng) if rng.random() < 0.4 else cut
    changed = merged != chunks
    scenario["candidate"]["chunks"] = merged
    return changed


def _cut(chunk: dict[str, Any], most: int, rng: random.Random) -> list[dict[str, Any]]:
    """Cut the text of one chunk; ids and scores stay with its first piece."""
    choice = _choice(chunk, bare=False)
    if choice is None or choice.get("finish_reason") is not None or chunk.get("usage"):
        return [chunk]
    place = _text(choice["delta"])
    if place is None:
        return [chunk]
    holder, key = place
    text, pieces = holder[key], []
    while text:
        size = rng.randint(1, most)
        pieces.append(text[:size])
        text = text[size:]
    holder[key] = pieces[0]
    return [chunk, *(_more(chunk, piece) for piece in pieces[1:])]


def _text(delta: dict[str, Any]) -> tuple[dict[str, Any], str] | None:
    """The one text a delta carries, by its holder and key."""
    held: list[tuple[dict[str, Any], str]] = [
        (delta, key)
        for key in ("content", "reasoning", "reasoning_content")
        if isinstance(delta.get(key), str) and delta[key]
    ]
    for call in delta.get("tool_calls") or []:
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict) and function.get("arguments"):
            held.append((function, "arguments"))
    if len(held) != 1 or not isinstance(held[0][0][held[0][1]], str):
        return None
    return held[0]


def _more(chunk: dict[str, Any], piece: str) -> dict[str, Any]:
    """A further delta of the same text, with nothing else in it."""
    choice = chunk["choices"][0]
    found = _text(choice["delta"])
    assert found is not None
    delta: dict[str, Any] = {found[1]: piece}
    if found[1] == "arguments":
        (call,) = choice["delta"]["tool_calls"]
        delta = {"tool_calls": [{"index": call["index"], "function": {"arguments": piece}}]}
    rest = {k: v for k, v in chunk.items() if k not in ("usage", "prompt_token_ids", "choices")}
    return {**rest, "choices": [{"index": choice["index"], "delta": delta, "finish_reason": None}]}


def _merged(chunks: Sequence[dict[str, Any]], rng: random.Random) -> list[dict[str, Any]]:
    """Some neighbors that carry content alone, made one."""
    found: list[dict[str, Any]] = []
    for chunk in chunks:
        if found and rng.random() < 0.5 and _is_content(found[-1]) and _is_content(chunk):
            text = chunk["choices"][0]["delta"]["content"]
            found[-1]["choices"][0]["delta"]["content"] += text
        else:
            found.append(chunk)
    return found


def _is_content(chunk: dict[str, Any]) -> bool:
    choice = _choice(chunk)
    if choice is None or choice.get("finish_reason") is not None or chunk.get("usage"):
        return False
    return list(choice["delta"]) == ["content"] and bool(choice["delta"]["content"])


def _ids(scenario: Scenario, side: str) -> list[Any] | None:
    tokens = (scenario.get(side) or {}).get("tokens")
    return [token.get("id") for token in tokens] if tokens else None


def _equal_tokens(scenario: Scenario) -> bool:
    ids = _ids(scenario, "baseline")
    return ids is not None and None not in ids and ids == _ids(scenario, "candidate")


def without_ids(scenario: Scenario, rng: random.Random) -> bool:
    """Take token ids and scores from both sides: the texts are judged as they are."""
    sides = [scenario.get(side) or {} for side in ("baseline", "candidate")]
    families = {CODES[code].family for code in codes_of(scenario)}
    texts = families <= {TRANSPORT, CONTENT, TOOL_CALLS} and not codes_of(scenario) & BY_IDS
    shown = any(side.get("tokens") for side in sides) or _on_wire(scenario)
    known = _equal_tokens(scenario) or not sides[0].get("tokens")
    greedy = (scenario.get("request") or {}).get("temperature") == 0 or not codes_of(scenario)
    if not shown or not texts or not known or not greedy or not sides[0].get("message"):
        return False
    for side in sides:
        side.pop("tokens", None)
    sides[1].pop("step_tokens", None)
    for choice in [c for chunk in _chunks(scenario) for c in chunk.get("choices") or []]:
        choice.pop("token_ids", None)
        choice.pop("logprobs", None)
    return True


def with_ids(scenario: Scenario, rng: random.Random) -> bool:
    """Give both sides the same tokens, which spell what the model wrote: the texts are compared as
    before, and the path's own tokens can be asked."""
    baseline, candidate = scenario.get("baseline") or {}, scenario.get("candidate") or {}
    raw = candidate.get("raw_text")
    families = {CODES[code].family for code in codes_of(scenario)}
    texts = families <= {TRANSPORT, CONTENT, TOOL_CALLS} and not codes_of(scenario) & BY_IDS
    if not raw or not texts or not baseline.get("message") or _on_wire(scenario):
        return False
    if baseline.get("tokens") or candidate.get("tokens") or scenario.get("acceptance"):
        return False
    counted = [c["usage"].get("completion_tokens") for c in _chunks(scenario) if c.get("usage")]
    count = counted[-1] if counted else max(len(raw) // 4, 1)
    if not isinstance(count, int) or not 0 < count <= len(raw):
        return False
    ends = sorted(rng.sample(range(1, len(raw)), count - 1))
    pieces = [raw[a:b] for a, b in zip([0, *ends], [*ends, len(raw)], strict=True)]
    for side in (baseline, candidate):
        side["tokens"] = [{"id": 800_000 + i, "text": piece} for i, piece in enumerate(pieces)]
    return True


def _on_wire(scenario: Scenario) -> bool:
    """Whether chunks carry ids or scores of their own."""
    choices = [c for chunk in _chunks(scenario) for c in chunk.get("choices") or []]
    return any(c.get("token_ids") is not None or c.get("logprobs") for c in choices)


def sampled(scenario: Scenario, rng: random.Random) -> bool:
    """Ask for sampling. Equal tokens are as good a reference as before; without them only what no
    path may hand on is left."""
    request, codes = scenario.get("request"), codes_of(scenario)
    families = {CODES[code].family for code in codes}
    if not request or not families <= {TRANSPORT, CONTENT, TOOL_CALLS}:
        return False
    if not _equal_tokens(scenario) and (codes & BY_REFERENCE or _ids(scenario, "candidate")):
        return False
    if request.get("temperature") == 0.7:
        return False
    request["temperature"] = 0.7
    return True


def later(scenario: Scenario, rng: random.Random) -> bool:
    """Words in front of the answer on both paths, in tokens of their own where it has tokens."""
    chunks, request = _chunks(scenario), scenario.get("request") or {}
    baseline, candidate = scenario.get("baseline") or {}, scenario.get("candidate") or {}
    message = baseline.get("message")
    plain = not any(request.get(name) for name in ("response_format", "structured_outputs"))
    plain = plain and not any(request.get(n) for n in ("stop", "min_tokens", "bad_words"))
    whole = bool(chunks) and not candidate.get("chunk_times_ms") and not _on_wire(scenario)
    if not plain or not whole or scenario.get("acceptance") or message is None:
        return False
    if _thinks(scenario) or candidate.get("http_status", 200) != 200:
        return False
    first = next((place for place, c in enumerate(chunks) if _choice(c) is not None), None)
    if first is None or (scenario.get("context") or {}).get("cuts"):
        return False
    words = rng.choice(WORDS)
    rest = {k: v for k, v in chunks[first].items() if k not in ("usage", "choices")}
    delta = {"index": 0, "delta": {"content": words}, "finish_reason": None}
    place = first + (1 if _opens(chunks[first]) else 0)
    chunks.insert(place, {**rest, "choices": [delta]})
    message["content"] = words + (message.get("content") or "")
    if candidate.get("raw_text") is not None:
        candidate["raw_text"] = words + candidate["raw_text"]
    _more_tokens(scenario, words)
    return True


def _opens(chunk: dict[str, Any]) -> bool:
    """Whether a chunk only names the role."""
    delta = chunk["choices"][0]["delta"]
    return not any(delta.get(key) for key in ("content", "tool_calls"))


def _thinks(scenario: Scenario) -> bool:
    """Whether either side reasons: words in front of that would be reasoning."""
    raw = str((scenario.get("candidate") or {}).get("raw_text") or "")
    message = (scenario.get("baseline") or {}).get("message") or {}
    deltas = [c["delta"] for c in map(_choice, _chunks(scenario)) if c is not None]
    keys = ("reasoning", "reasoning_content")
    said = any(holder.get(key) for holder in (message, *deltas) for key in keys)
    return said or "think" in raw or "<|channel|>" in raw


def _more_tokens(scenario: Scenario, words: str) -> None:
    """The words as tokens of both sides, counted in usage and allowed by max_tokens."""
    pieces = [words[i : i + 8] for i in range(0, len(words), 8)]
    tokens = [
        {"id": 900_000 + i, "text": piece, "logprob": -0.01} for i, piece in enumerate(pieces)
    ]
    for side in ("baseline", "candidate"):
        held = scenario.get(side) or {}
        if held.get("tokens"):
            held["tokens"] = [*copy.deepcopy(tokens), *held["tokens"]]
    if scenario["candidate"].get("step_tokens"):
        scenario["candidate"]["step_tokens"].insert(0, len(tokens))
    for chunk in _chunks(scenario):
        if usage := chunk.get("usage"):
            for name in ("completion_tokens", "total_tokens"):
                if isinstance(usage.get(name), int):
                    usage[name] += len(tokens)
    request = scenario.get("request") or {}
    for name in ("max_tokens", "max_completion_tokens"):
        if isinstance(request.get(name), int):
            request[name] += len(tokens)


def spelled(scenario: Scenario, rng: random.Random) -> bool:
    """Other names for what carries no meaning."""
    if scenario.get("request"):
        scenario["request"]["model"] = "another/model"
    for chunk in _chunks(scenario):
        if "model" in chunk:
            chunk["model"] = "another/model"
        if "id" in chunk:
            chunk["id"] = "chatcmpl-other"
        for choice in chunk.get("choices") or []:
            delta = choice.get("delta") if isinstance(choice, dict) else None
            if isinstance(delta, dict) and "reasoning" in delta:
                delta["reasoning_content"] = delta.pop("reasoning")
            for call in (delta or {}).get("tool_calls") or []:
                if isinstance(call, dict) and isinstance(call.get("id"), str) and call["id"]:
                    call["id"] = f"{call['id']}-x"
    return bool(_chunks(scenario))


Change = Callable[[Scenario, random.Random], bool]
CHANGES: dict[str, Change] = {
    "ids": lambda scenario, rng: without_ids(scenario, rng) or with_ids(scenario, rng),
    "temperature": sampled,
    "position": later,
    "chunking": rechunk,
    "spelling": spelled,
}


def judged(scenario: Scenario) -> frozenset[str]:
    """The error codes of a scenario."""
    text = json.dumps({"case": 1, "kind": "variant", "scenarios": [scenario]})
    (parsed,) = parse_case(text, "variant").scenarios
    return frozenset(judge_scenario(parsed).codes)


def variants(count: int, seed: int) -> Iterator[tuple[str, tuple[str, ...], Scenario]]:
    """So many different ones, scenarios taking turns."""
    rng = random.Random(seed)
    held = list(scenarios())
    seen: set[str] = set()
    rounds = 0
    while len(seen) < count and rounds < 40 * count / len(held):
        rounds += 1
        for name, scenario in held:
            made = variant(scenario, rng)
            if made is None or len(seen) >= count:
                continue
            text = json.dumps(made[1], sort_keys=True)
            if text not in seen:
                seen.add(text)
                yield name, *made


def main(arguments: Sequence[str] | None = None) -> None:
    """Print how many were judged right, by what was changed, and every one that was not."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    counts: Counter[tuple[str, str]] = Counter()
    wrong: list[str] = []
    for name, changes, scenario in variants(given.count, given.seed):
        expected, found = codes_of(scenario), judged(scenario)
        kind = "faults" if expected else "twins"
        right = found == expected
        for change in (*changes, "all"):
            counts[change, kind] += 1
            counts[change, f"{kind} right"] += right
        if not right:
            wrong.append(f"{name} ({', '.join(changes)}): {sorted(found)}, not {sorted(expected)}")
    head = ("changed", "faults", "caught by their codes", "sound twins", "silent")
    columns = ("faults", "faults right", "twins", "twins right")
    rows = [(change, *(counts[change, c] for c in columns)) for change in (*CHANGES, "all")]
    print(table(head, rows))
    print("\n".join(wrong))


if __name__ == "__main__":
    main()
