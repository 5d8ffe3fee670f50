"""What a model wrote, read from the text of its own tokens: the second reference of an answer.

A path hands on what its model wrote, cut into channels and calls. What was lost or added on the way
is the path's fault, in any turn and whatever the baseline answered; what the model itself wrote
wrongly is the model's. Nothing here parses a family of markup as its parser would: each question is
answered for the path's fault only where the model's own text leaves no other reading.

    own text   <tool_call>{"name": "ls", "arguments": {"path": "."}}</tool_call>
    delivered  {"path": "."}}       the model's value ends before the brace: the path added it
    delivered  {"path": "           the model's value goes on: the path lost the rest
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from checks.formats import json_values, schema
from checks.formats.json_values import NotJson
from checks.formats.markers import markers

REASONING_ENDS = ("</think>", "</seed:think>", "[/THINK]", "<|END_THINKING|>", "</mm:think>")
"""What ends the reasoning, in the families whose reasoning has an end of its own."""


def spells_word(own: str, word: str) -> bool:
    """Whether the word stands in the model's own text."""
    return times_spelled(own, word) > 0


def times_spelled(own: str, word: str) -> int:
    """How often a word stands in the model's own text, not as a part of a longer one."""
    return len(re.findall(rf"(?<!\w){re.escape(word)}(?!\w)", own))


def wrote_broken(own: str, arguments: str) -> bool:
    """Whether arguments that are no JSON are the model's own doing.

    They are where its text holds just these, and no whole value in their place; where it leaves its
    last call open; and where it gives a call none at all.
    """
    if left_open(own):
        return True
    if not arguments.strip():
        return not re.search(r"[{=]|<arg_key>|<param", own)
    for text, piece in ((own, arguments), (_close(own), _close(arguments))):
        places = [match.start() for match in re.finditer(re.escape(piece), text)]
        if places:
            return any(not _whole(text, place, len(piece)) for place in places)
    return False


def _whole(own: str, place: int, length: int) -> bool:
    """Whether the model's own text holds a whole value where a broken one of `length` begins.

    Of a value with more behind it, the rest must belong to an object around it.
    """
    end = _end_of_value(own, place)
    if end is None:
        return False
    if end >= place + length:
        return True
    start = own.rfind("{", 0, place)
    while start >= 0:
        around = _end_of_value(own, start)
        if around is not None and around > end:
            return around >= place + length
        start = own.rfind("{", 0, start)
    return False


def _end_of_value(text: str, start: int) -> int | None:
    try:
        return json_values.end_of_value(text, start)
    except NotJson:
        return None


def left_open(own: str) -> bool:
    """Whether the model opened more of some tag than it closed: it stopped inside a call, or inside
    its reasoning.

    >>> left_open("<function=ls></function>"), left_open("<function=ls>")
    (False, True)
    """
    return any(len(opens.findall(own)) > own.count(close) for opens, close in _tags())


@cache
def _tags() -> tuple[tuple[re.Pattern[str], str], ...]:
    """(what opens a tag, what closes it), of all families."""
    known = set(markers())
    pairs: list[tuple[re.Pattern[str], str]] = []
    for close in sorted(known):
        if close.startswith("</") and close.endswith(">"):
            opens = rf"<{re.escape(close[2:-1])}(?=[\s=>])"
            pairs.append((re.compile(opens), close))
        for end, begin in (("end", "begin"), ("end", "start"), ("END", "START")):
            opened = re.sub(rf"(?<![A-Za-z]){end}(?![A-Za-z])", begin, close)
            if opened != close and opened in known:
                pairs.append((re.compile(re.escape(opened)), close))
    return tuple(pairs)


def breaks_schema(own: str, arguments: str, rule: Any, calls_with: Mapping[str, int]) -> bool:
    """Whether arguments that violate the schema `rule` are the model's own doing.

    They are the path's where they lack a required key that the model wrote (`calls_with` counts the
    delivered calls that have each key), where a value is nowhere in its text, or where a value it
    wrote by the schema was not converted.
    """
    if _close(arguments) in _close(own):
        return True
    value = json_values.parse_plain(arguments)
    if not isinstance(value, dict) or not isinstance(rule, dict):
        return False
    missing = [key for key in rule.get("required") or () if key not in value]
    if any(_keys(own, key) > calls_with.get(key, 0) for key in missing):
        return False
    close = _close(own)
    for text in json_values.strings(value):
        spellings = _close(text), _close(json.dumps(text)[1:-1])
        if not any(spelling in close for spelling in spellings):
            return False
    return not any(_unconverted(inner, rule, key) for key, inner in value.items())


def _keys(own: str, key: str) -> int:
    """How often the model's text writes a key, as JSON, as a tag or as an attribute."""
    name = re.escape(key)
    return len(re.findall(rf'"{name}"\s*:|=\s*"?{name}"?\s*>|<{name}>|>{name}</|\b{name}=', own))


def _unconverted(value: Any, rule: Mapping[str, Any], key: str) -> bool:
    """Whether a value is the text of another one, by which the schema would be satisfied."""
    wanted = (rule.get("properties") or {}).get(key)
    if not isinstance(value, str) or wanted is None or not schema.violations(wanted, value):
        return False
    try:
        return not schema.violations(wanted, json_values.parse_plain(value))
    except NotJson:
        return False


def holds_whole_call(text: str, tools: Mapping[str, Any]) -> bool:
    """Whether a text holds a well-formed call of a known tool, with its markup."""
    return any(True for _ in _whole_calls(text, tools))


def _whole_calls(text: str, tools: Mapping[str, Any]) -> Iterator[str]:
    for match in re.finditer(r"(?:<[^<>\s]*>|\[[A-Z_]+\])\s*(?=\{)", text):
        end = _end_of_value(text, match.end())
        value = None if end is None else json.loads(text[match.end() : end])
        if (
            isinstance(value, dict)
            and value.get("name") in tools
            and (isinstance(value.get("arguments", value.get("parameters")), dict))
        ):
            yield value["name"]
    for name in tools:
        heads = rf'<(?:function|invoke)(?:=| name=")?{re.escape(name)}"?>'
        if re.search(rf"{heads}.*?</(?:function|invoke)>", text, re.DOTALL):
            yield name


def _close(text: str) -> str:
    """The text without white space: servers write JSON out anew."""
    return "".join(text.split())
