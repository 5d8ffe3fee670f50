"""Outputs to cut: calls that are hard on parsers, written in each parser's own format."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from checks.splits.markup import FORMATS, CallToWrite, ToolFormat
from checks.splits.reasoning_markup import REASONING_FORMATS

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "read_file",
            "description": "Read a file",
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}},
                "required": ["path"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "write_file",
            "description": "Write a file",
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
                "required": ["path", "content"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "search",
            "description": "Search with options",
            "parameters": {
                "type": "object",
                "properties": {
                    "query": {"type": "string"},
                    "options": {"type": "object"},
                    "limit": {"type": "number"},
                    "exact": {"type": "boolean"},
                },
                "required": ["query"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "list_todos",
            "description": "No arguments",
            "parameters": {"type": "object", "properties": {}},
        },
    },
]
"""The tools the samples call."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Calls to write, with text before and behind them."""

    name: str
    calls: tuple[CallToWrite, ...]
    before: str = ""

    def fits(self, form: ToolFormat) -> bool:
        """Whether the format can hold it."""
        values = [v for call in self.calls for v in call.arguments.values()]
        return (
            (form.prose or not self.before)
            and (form.parallel or len(self.calls) == 1)
            and (form.typed or all(isinstance(value, str) for value in values))
        )

    def text(self, form: ToolFormat) -> str:
        """The output as a model writes it."""
        return self.before + form.write(self.calls)


READ = CallToWrite("read_file", {"path": "src/a.py", "lines": 12})
WRITE = CallToWrite(
    "write_file",
    {"path": "b.md", "content": 'if x < 3 and "y" in s:\n    print("é✅ {} [0]\\n")\n'},
)

SAMPLES: tuple[Sample, ...] = (
    Sample("plain", (CallToWrite("read_file", {"path": "a.py"}),)),
    Sample("prose first", (CallToWrite("read_file", {"path": "a.py"}),), "Reading it.\n\n"),
    Sample("number", (READ,)),
    Sample("code", (WRITE,)),
    Sample("parallel", (READ, WRITE)),
    Sample(
        "nested",
        (
            CallToWrite(
                "search",
                {
                    "query": "naïve 👨‍💻",
                    "options": {"deep": {"list": [1, {"k": "v"}], "none": None}},
                    "limit": 0.5,
                    "exact": True,
                },
            ),
        ),
    ),
    Sample("no arguments", (CallToWrite("list_todos", {}),)),
)
"""Seven outputs: what coding agents send, and what parsers stumble over."""


def training_texts() -> Iterator[str]:
    """Texts the test tokenizer learns its merges from."""
    for form in FORMATS.values():
        for sample in SAMPLES:
            if sample.fits(form):
                yield sample.text(form)


def samples_for(parser: str) -> Sequence[tuple[str, str]]:
    """(name, text) of every sample the tool parser's format can hold."""
    form = FORMATS[parser]
    return [(s.name, s.text(form)) for s in SAMPLES if s.fits(form)]


THOUGHT = "The test fails: `a < b` is wrong.\nI will change é to <= 3."
ANSWER = "Done. See `b.md` [1].\n"


def reasoning_samples_for(parser: str) -> Sequence[tuple[str, str]]:
    """(name, text) of reasoning and answer as the reasoning parser's models write them."""
    write = REASONING_FORMATS[parser]
    return [("short", write("Look first.", "Done.")), ("long", write(THOUGHT, ANSWER))]
