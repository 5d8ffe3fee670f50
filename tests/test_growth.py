"""Every pass over text of a server or a recording takes time in proportion to its length.

Each of the units is repeated to texts of 4k characters and twice as many, again and again, until a
pass takes a measurable time or the text has 1M characters; there it is compared with a quarter of
that text. Only ratios count: a pass that is quadratic takes 16 times as long for four times the
text wherever it takes any time at all.
"""

import math
import time
from collections.abc import Callable

import pytest

from checks.exact.judge import judge_pair
from checks.exact.repetition import REPEATS
from checks.formats import json_values
from checks.formats.markers import leaked
from checks.pair import pair_of_responses
from tests.support.case_builder import request
from traces.boundaries import label
from traces.redaction.redaction import Redactor
from traces.wire.reassembly import response_of_chunks
from traces.wire.sse import SseParser

UNITS = (
    *("a", " ", "\n", "\t", "-", "_", ".", "/", "\\", '"', "'", "`", "=", ":", "@", "0", "é", "漢"),
    *("ab ", "BEGIN!", "TOKEN_", "token-", "npm", "sk-", "key=", "password: ", "a@"),
    *("a.b@c.", "1.2."),
    *("http://", "/home/u/", "Bearer ", "eyJ", "-----BEGIN ", "AKIA", "ghp_", "user:pw@", "%20"),
    *("{", "[", "{}", '{"a":', '{"a": 1}', '"a", ', "<", "</", "<tool_call>", "</think>", "<|"),
    *("<a ", "[ARGS", "```\n", "```diff\n"),
    *("@@ -1 +1 @@\n", "+a\n", "-a\n", "--- a\n", "| ", "$ ls\n"),
    *("def f(", "# ", "* ", "call:f{", "[f(a=", "\u202e", "\r\n", "token_id:"),
    *("data: ", "::error::"),
    *("curl ", "login ", "mysql x", "KEY_", "auth-", "--token-", "?key", "://a:", "is a secret "),
)  # fmt: skip
MEASURABLE_S = 0.02
LONGEST = 1 << 20
MOST_GROWTH = math.sqrt(8)
"""Per doubling, of which two are measured at once: halfway between linear (2) and quadratic (4)."""

TRIES = (1, 2, 4, 1, 2, 4)


def redacted(text: str) -> None:
    Redactor()(text)


def sse(text: str) -> None:
    parser, data = SseParser(), text.encode()
    for start in range(0, len(data), 512):
        list(parser.feed(0.0, data[start : start + 512]))
    _ = parser.left_over


def judged(content: str, arguments: str = "{}") -> None:
    function = {"name": "read_file", "arguments": arguments}
    delta = {"content": content, "tool_calls": [{"index": 0, "id": "c", "function": function}]}
    chunk = {"choices": [{"index": 0, "delta": delta, "finish_reason": "tool_calls"}]}
    last = {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 3}}
    answer = response_of_chunks([chunk, last], done=True)
    other = response_of_chunks([{"choices": [{**chunk["choices"][0], "delta": {}}]}], done=True)
    judge_pair(pair_of_responses(request(), other, answer))


PASSES: dict[str, Callable[[str], object]] = {
    "redaction": redacted,
    "labels": label,
    "markers": lambda text: leaked(text, ""),
    "repetition": REPEATS.search,
    "argument repeats": json_values.repeats,
    "SSE": sse,
    "judging content": judged,
    "judging arguments": lambda text: judged("", text),
}


def seconds(run: Callable[[str], object], text: str) -> float:
    begin = time.process_time()
    run(text)
    return time.process_time() - begin


def growth(run: Callable[[str], object], unit: str) -> float:
    """How much longer the pass takes for four times the text, at the first measurable size.

    Where that is much, greater sizes and other moments decide: what outgrows a cache costs a step
    once, and a neighbor on the machine comes and goes; what is quadratic takes 16 times as long
    each time. So the least of a few ratios is the one that holds.
    """
    size = 4096
    while size < LONGEST and seconds(run, repeated(unit, size)) < MEASURABLE_S:
        size *= 2
    least = math.inf
    for larger in TRIES:
        least = min(least, ratio(run, unit, larger * size))
        if least <= MOST_GROWTH**2:
            return least
    # Over four doublings a cache or a neighbor weighs half as much; what is quadratic does not.
    return min(least, math.sqrt(ratio(run, unit, 8 * size, parts=16)))


def ratio(run: Callable[[str], object], unit: str, size: int, parts: int = 4) -> float:
    """Time for a text over that for a part of it, the best of two and of three, in turns."""
    whole = part = math.inf
    for _ in range(2):
        part = min(part, seconds(run, repeated(unit, size // parts)))
        whole = min(whole, seconds(run, repeated(unit, size)))
    return whole / min(part, seconds(run, repeated(unit, size // parts)))


def repeated(unit: str, size: int) -> str:
    return unit * (size // len(unit))


@pytest.mark.parametrize("name", PASSES)
def test_twice_the_text_takes_twice_the_time(name: str) -> None:
    assert len(UNITS) >= 40
    most = MOST_GROWTH**2
    slow = {unit: round(g, 1) for unit in UNITS if (g := growth(PASSES[name], unit)) > most}
    assert slow == {}


def test_a_quadratic_pass_is_seen() -> None:
    def quadratic(text: str) -> None:
        for end in range(0, len(text), 16):
            text.count("x", 0, end)

    assert growth(quadratic, "ab ") > MOST_GROWTH**2
