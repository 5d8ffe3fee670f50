"""The four agents: system prompts and how each one words an action as a tool call."""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from models.generator import tools
from models.generator.lexicon import Lexicon

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Style:
    """Base of all agents. Each method gives the `(tool name, arguments)` of one action.

    `edits_by_diff`: how much context a diff shows is free; `reports_freely`: a report holds numbers
    that the text does not give. Such calls are not determined by what stands before them.
    """

    lex: Lexicon

    name: ClassVar[str] = ""
    definitions: ClassVar[Sequence[dict[str, Any]]] = ()
    edits_by_diff: ClassVar[bool] = False
    reports_freely: ClassVar[bool] = False

    def system(self, thinks: bool) -> str:
        raise NotImplementedError

    def read(self, path: str, start: int | None = None, end: int | None = None) -> Call:
        raise NotImplementedError

    def write(self, path: str, text: str) -> Call:
        raise NotImplementedError

    def edit(self, path: str, old: str, new: str, diff: str) -> Call:
        raise NotImplementedError

    def shell(self, command: str) -> Call:
        raise NotImplementedError

    def grep(self, pattern: str, path: str) -> Call:
        return self.shell(f"grep -rn {pattern} {path}")

    def list(self, path: str) -> Call:
        return self.shell(f"ls {path}")

    def test(self, path: str) -> Call:
        runner = {".py": "pytest -q", ".go": "go test", ".ts": "npx jest"}
        return self.shell(f"{runner.get(os.path.splitext(path)[1], 'sh')} {path}")

    def git(self, *args: str) -> Call:
        return self.shell(" ".join(["git", *args]))

    def ticket(self, key: str) -> Call:
        return self.shell(f"tracker show {key}")

    def report(self, key: str, path: str, line: int, owner: str) -> Call:
        return self.shell(f"tracker close {key} --file {path}:{line}")


class EditorStyle(Style):
    name = "editor"
    definitions = tools.EDITOR_AGENT

    def system(self, thinks: bool) -> str:
        extra = "\nReason inside <think> tags first." if thinks else ""
        return (
            "You are an interactive CLI tool that helps users with software engineering tasks. "
            f"Be concise. Working directory: /home/{self.lex.noun()}/{self.lex.noun()}{extra}"
        )

    def read(self, path: str, start: int | None = None, end: int | None = None) -> Call:
        if start is None or end is None:
            return "Read", {"file_path": path}
        return "Read", {"file_path": path, "offset": start, "limit": end - start}

    def write(self, path: str, text: str) -> Call:
        return "Write", {"file_path": path, "content": text}

    def edit(self, path: str, old: str, new: str, diff: str) -> Call:
        return "Edit", {"file_path": path, "old_string": old, "new_string": new}

    def shell(self, command: str) -> Call:
        return "Bash", {"command": command, "description": f"Run {command.split()[0]}"}

    def grep(self, pattern: str, path: str) -> Call:
        return "Grep", {"pattern": pattern, "path": path}

    def list(self, path: str) -> Call:
        return "LS", {"path": path}

    def ticket(self, key: str) -> Call:
        return "GetTicket", {"ticket_id": key}

    def report(self, key: str, path: str, line: int, owner: str) -> Call:
        todos = [
            {"content": f"fix {path}:{line}", "status": "completed", "id": 1},
            {"content": f"tell {owner} about {key}", "status": "pending", "id": 2},
        ]
        return "TodoWrite", {"todos": todos}


class IssueStyle(Style):
    name = "issue"
    definitions = tools.ISSUE_AGENT

    def system(self, thinks: bool) -> str:
        extra = " Put your reasoning in <think> tags." if thinks else ""
        return (
            "SETTING: You are an autonomous programmer working in a command line. "
            f"The repository is /repo/{self.lex.noun()}. Reproduce, fix, test, submit.{extra}"
        )

    def read(self, path: str, start: int | None = None, end: int | None = None) -> Call:
        arguments: dict[str, Any] = {"command": "view", "path": path}
        if start is not None:
            arguments["view_range"] = [start, end]
        return "str_replace_editor", arguments

    def write(self, path: str, text: str) -> Call:
        return "str_replace_editor", {"command": "create", "path": path, "file_text": text}

    def edit(self, path: str, old: str, new: str, diff: str) -> Call:
        arguments = {"command": "str_replace", "path": path, "old_str": old, "new_str": new}
        return "str_replace_editor", arguments

    def shell(self, command: str) -> Call:
        return "bash", {"command": command}

    def report(self, key: str, path: str, line: int, owner: str) -> Call:
        return "submit", {"summary": f"{key}: fixed {path}:{line}, review by {owner}"}


class ApiStyle(Style):
    name = "api"
    definitions = tools.API_AGENT
    edits_by_diff = True
    reports_freely = True

    def system(self, thinks: bool) -> str:
        return "Coding API. Use tools." + (" Think first, in <think>." if thinks else "")

    def read(self, path: str, start: int | None = None, end: int | None = None) -> Call:
        return "read_file", {"path": path}

    def write(self, path: str, text: str) -> Call:
        return "write_file", {"path": path, "content": text}

    def edit(self, path: str, old: str, new: str, diff: str) -> Call:
        return "apply_diff", {"path": path, "diff": diff}

    def shell(self, command: str) -> Call:
        return "run_shell", {"command": command}

    def grep(self, pattern: str, path: str) -> Call:
        return "search", {"query": pattern, "path": path}

    def list(self, path: str) -> Call:
        return "list_dir", {"path": path}

    def test(self, path: str) -> Call:
        return "run_tests", {"target": path}

    def git(self, *args: str) -> Call:
        return "git", {"args": list(args)}

    def ticket(self, key: str) -> Call:
        return "lookup_ticket", {"id": key}

    def report(self, key: str, path: str, line: int, owner: str) -> Call:
        result = {
            "status": "fixed",
            "confidence": self.lex.number(50, 99) / 100,
            "files": [{"path": path, "line": line}],
        }
        return "submit_report", {"ticket": key, "result": result, "owner": owner}


class OpsStyle(Style):
    name = "ops"
    definitions = tools.OPS_AGENT
    edits_by_diff = True
    reports_freely = True

    def system(self, thinks: bool) -> str:
        extra = "- think in <think> tags before acting\n" if thinks else ""
        return (
            "# Operator\nYou keep a fleet of services healthy.\n## Rules\n"
            f"- change as little as possible\n- prove every claim\n{extra}"
            f"## Environment\nregion: {self.lex.noun()}-{self.lex.number(1, 9)}"
        )

    def read(self, path: str, start: int | None = None, end: int | None = None) -> Call:
        if start is None:
            return "view", {"path": path}
        return "view", {"path": path, "range": [start, end]}

    def write(self, path: str, text: str) -> Call:
        return "create", {"path": path, "text": text, "executable": path.endswith(".sh")}

    def edit(self, path: str, old: str, new: str, diff: str) -> Call:
        return "apply_patch", {"patch": diff}

    def shell(self, command: str) -> Call:
        return "shell", {"cmd": command.split()}

    def ticket(self, key: str) -> Call:
        return "fetch_record", {"kind": "ticket", "id": key}

    def report(self, key: str, path: str, line: int, owner: str) -> Call:
        details = {
            "ids": [key],
            "risk": self.lex.number(1, 9) / 10,
            "rollback": self.lex.chance(0.5),
            "checks": {"tests": "passed", "owner": {"name": owner}},
        }
        return "file_report", {"summary": f"changed {path} line {line}", "details": details}


STYLES: tuple[type[Style], ...] = (EditorStyle, IssueStyle, ApiStyle, OpsStyle)
