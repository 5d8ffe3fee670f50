"""What a string argument holds: by the tool, the argument's name, its schema and the file it names.

| argument | of | holds |
|---|---|---|
| `command`, `cmd`, `script` … | any tool but editors, where it names an action | shell commands |
| `patch`, `diff` | any tool | a diff |
| `input` | `apply_patch` | a diff |
| `code`, `new_string`, `old_str` … | any tool | source, in the language of the file `path` names |
| `content` | any tool | the same, where `path` came before it or the tool writes files |
| anything else | | a string; fences and diffs in it are still seen |
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from traces.boundaries.blocks.diff_block import DiffBlock
from traces.boundaries.blocks.document import Block
from traces.boundaries.blocks.language import file_language
from traces.boundaries.blocks.shell_block import ShellBlock
from traces.boundaries.blocks.text_block import ProseBlock, code_or_prose
from traces.boundaries.label import STRING


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


COMMAND_KEYS = _words(
    "command cmd commands script bash_command shell_command commandline keystrokes bash"
)
DIFF_KEYS = _words("patch diff udiff patch_text patchtext unified_diff")
CONTENT_KEYS = _words("content contents search replace")
SOURCE_KEYS = _words(
    "file_text filetext file_content new_content source new_source cell_source "
    "new_string old_string newstring oldstring new_str old_str newtext oldtext new_text old_text "
    "insert_text insert_line_text replacement replacement_text to_replace replace_with code_edit "
    "snippet codecontent replacementcontent targetcontent"
)
PATH_KEYS = _words(
    "path file_path filepath file filename target_file targetfile file_name relative_path "
    "absolute_path notebook_path relative_workspace_path"
)
_EDITOR = re.compile(r"edit|str_replace|file|notebook|browser|memory", re.I)
_WRITER = re.compile(r"write|create|edit|replace", re.I)
_PYTHON = re.compile(r"python|jupyter|notebook", re.I)
_PATCH_TOOL = re.compile(r"apply_?(?:patch|diff)", re.I)


@dataclass(slots=True)
class Call:
    """What is known so far of the call being read: its tool, and the file it names.

    `catalog` holds the argument schemas of the request's tools, by name.
    """

    catalog: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tool: str | None = None
    language: str | None = None

    def note(self, key: str, value: str) -> None:
        """Remember an argument that says what others hold: a file name, a language."""
        if key.lower() in PATH_KEYS:
            self.language = file_language(value) or self.language
        elif key.lower() in ("language", "lang"):
            self.language = value.lower() or self.language

    def type_of(self, key: str) -> str | None:
        """The JSON Schema type of an argument, where the request declares one."""
        declared = self._declared(key)
        kind = declared.get("type") if isinstance(declared, Mapping) else None
        return kind if isinstance(kind, str) else None

    def _declared(self, key: str) -> Any:
        return self.catalog.get(self.tool or "", {}).get(key)

    def block(self, key: str) -> Block | None:
        """The block a string argument is read as; `None`: a string of no known kind."""
        name, tool = key.lower(), self.tool or ""
        if name in DIFF_KEYS or (name == "input" and _PATCH_TOOL.search(tool)):
            return DiffBlock(closed=True)
        if name in COMMAND_KEYS and not self._names_action(key):
            return ShellBlock(inner=code_or_prose, session=False)
        if name == "code" or (name == "script" and _PYTHON.search(tool)):
            return code_or_prose(self.language or ("python" if _PYTHON.search(tool) else None))
        if name in SOURCE_KEYS or (
            name in CONTENT_KEYS and (self.language or _WRITER.search(tool))
        ):
            return code_or_prose(self.language)
        return None

    def _names_action(self, key: str) -> bool:
        """Whether a `command` is one of a fixed set (``view``, ``create``), not a shell command."""
        declared = self._declared(key)
        if isinstance(declared, Mapping):
            return "enum" in declared
        return _EDITOR.search(self.tool or "") is not None


def string_block() -> Block:
    """The block of a string argument of which nothing is known."""
    return ProseBlock(STRING)


def schemas(tools: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Argument schemas by tool name, from a request's `tools` (OpenAI or Anthropic shape)."""
    found: dict[str, Mapping[str, Any]] = {}
    for tool in tools:
        function = tool.get("function", tool)
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            continue
        parameters = function.get("parameters") or function.get("input_schema") or {}
        properties = parameters.get("properties") if isinstance(parameters, Mapping) else None
        found[function["name"]] = properties if isinstance(properties, Mapping) else {}
    return found
