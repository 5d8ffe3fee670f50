"""Derive the marker list from vLLM's own parsers; ``python -m checks.vllm.markers`` prints it.

Markers are the tag-like start and end strings of every tool and reasoning parser:

    <tool_call>   </think>   <|tool_call_begin|>   <｜tool▁sep｜>   [TOOL_CALLS]   <function=

They are read from two places: the string constants of the parser modules (documentation strings
aside, regular-expression escapes undone), and the strings their modules, classes and engine tables
hold once imported (where a marker is put together from parts). Bare brackets and plain words are
no markers. `checks/formats/data/markers.json` holds the result for vLLM 0.32; only this script
imports vLLM, and only when it is run.
"""

import ast
import importlib
import json
import re
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

FOLDERS = ("tool_parsers", "reasoning", "parser")

TAG = re.compile(
    r"<\|[^<>|\s]+\|>"  # <|tool_call_begin|>
    r"|</?｜[^<>\s]+｜[^<>=]*>"  # <｜tool▁sep｜>, </｜DSML｜invoke>
    r"|<\|[a-z_]+>|<[a-z_]+\|>"  # <|tool_call>, <tool_call|>
    r"|</?[A-Za-z_][\w:.|]*>"  # <tool_call>, </mm:think>, <ifm|think>
    r"|\[/?[A-Z][A-Z_]+\]"  # [TOOL_CALLS]
    r"|</?[｜\w:]+(?: name)?="  # <function=, <invoke name=
    r"|<｜[^<>\s]+｜ ?[a-z_]+ name="  # <｜DSML｜invoke name=
)
ATTRIBUTE = re.compile(r"(<[a-z｜A-Z]+:?[a-z]+)\\[sb].{0,12}?name")
"""An open form inside a regular expression: ``<atem:invoke\\b[^>]*?\\bname=``."""
OPEN = re.compile(r"</?[a-z_]+")
"""A tag whose end varies, ``<tool_sep`` of ``<tool_sep>`` and ``<tool_sep:variant>``."""
DELIMITED = re.compile(r"<｜[^<>\s]+｜ ?[a-z]+")
"""``<｜DSML｜ parameter``, whose attributes follow."""
GROUP = re.compile(r"\(\?P<\w+>")
NOT_MARKUP = {"<0x0A>", "<reserved_>", "<reserved_:"}
"""Tag-like strings of the parsers that are no start or end: a byte's and unused tokens' names."""


def constants(source: str) -> Iterator[str]:
    """The string constants of a module, documentation strings and log messages aside."""
    tree = ast.parse(source)
    documentation = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and id(node) not in documentation:
            yield text


def tags(text: str) -> set[str]:
    """The markers in one string, which may be a regular expression."""
    forms = {f"{match} name=" for match in ATTRIBUTE.findall(text)}
    if OPEN.fullmatch(text):
        forms |= {f"{text}>", f"{text}:"}
    if DELIMITED.fullmatch(text):
        forms.add(text)
    plain = re.sub(r"\\([^\w\s])", r"\1", GROUP.sub("(", text))
    return (forms | set(TAG.findall(plain))) - NOT_MARKUP


def held(value: Any, depth: int = 4) -> Iterator[str]:
    """The strings a value holds, through containers, enums, patterns and dataclasses."""
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, str):
        yield value
    elif isinstance(value, re.Pattern):
        yield from held(value.pattern, depth)
    elif depth and isinstance(value, dict):
        for part in [*value, *value.values()]:
            yield from held(part, depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for part in value:
            yield from held(part, depth - 1)
    elif depth and hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        for name in value.__dataclass_fields__:
            yield from held(getattr(value, name, None), depth - 1)


def of_module(module: Any) -> Iterator[str]:
    """The strings of a module's names, of its classes' attributes, and of its engine tables."""
    for name, value in vars(module).items():
        if isinstance(value, type) and value.__module__ == module.__name__:
            for key, attribute in vars(value).items():
                if key != "__doc__":
                    yield from held(attribute)
        elif name.endswith("_config") and callable(value) and value.__module__ == module.__name__:
            try:
                yield from held(value())
            except TypeError:  # a table that needs arguments; its constants are read from source
                continue
        elif not name.startswith("__"):
            yield from held(value)


def derive() -> dict[str, list[str]]:
    """Every marker with the parser modules that know it. Imports vLLM."""
    importlib.import_module("vllm.config")
    root = Path(str(importlib.import_module("vllm").__file__)).parent
    found: dict[str, set[str]] = {}
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*.py")):
            name = ".".join(file.relative_to(root).with_suffix("").parts)
            texts = list(constants(file.read_text(encoding="utf-8")))
            try:
                texts += of_module(importlib.import_module(f"vllm.{name}"))
            except ImportError as error:  # a parser whose own package is not installed
                sys.stderr.write(f"{name}: read from its source only ({error})\n")
            for marker in set().union(*map(tags, texts)) if texts else set():
                found.setdefault(marker, set()).add(name)
    return {marker: sorted(names) for marker, names in sorted(found.items())}


def main() -> None:
    """Print ``{"vllm": version, "markers": {marker: [modules]}}``."""
    markers = derive()
    version = importlib.import_module("vllm").__version__
    json.dump({"vllm": version, "markers": markers}, sys.stdout, ensure_ascii=False, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
