"""What a first configuration is made of, as far as the user says it."""

import sys
from dataclasses import dataclass, replace
from typing import Any

import click


@dataclass(frozen=True, slots=True)
class Wanted:
    """`method`, `drafter` (its model) and `draft_tokens` go to vLLM's --speculative-config; the
    parsers and the tokenizer are those of the servers, by vLLM's names."""

    sessions: tuple[str, ...] = ()
    baseline_urls: tuple[str, ...] = ()
    candidate_urls: tuple[str, ...] = ()
    api_key_env: str = ""
    model: str = ""
    method: str = ""
    drafter: str = ""
    draft_tokens: int | None = None
    tool_parser: str = ""
    reasoning_parser: str = ""
    tokenizer: str = ""

    @property
    def attached(self) -> bool:
        """Whether any path is a running server."""
        return bool(self.baseline_urls or self.candidate_urls)

    @property
    def speculative_config(self) -> dict[str, Any]:
        """What of it was given."""
        given = (self.method, self.drafter, self.draft_tokens)
        names = ("method", "model", "num_speculative_tokens")
        return {name: value for name, value in zip(names, given, strict=True) if value}

    def urls(self, path: str) -> tuple[str, ...]:
        """The servers of a path."""
        return self.baseline_urls if path == "baseline" else self.candidate_urls


def on_terminal() -> bool:
    """Whether there is a person to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def asked(wanted: Wanted) -> Wanted:
    """`wanted`, completed by questions on the terminal; an empty answer leaves a thing open."""

    def ask(key: str, question: str, *, several: bool = False) -> None:
        nonlocal wanted
        if getattr(wanted, key):
            return
        answer = click.prompt(question, default="", show_default=False, err=True).strip()
        found: dict[str, Any] = {key: tuple(answer.split()) if several else answer}
        wanted = replace(wanted, **found)

    ask("sessions", "Recorded sessions (files, folders, globs)", several=True)
    if wanted.model:
        return wanted
    empty = "empty: draftgate launches it"
    ask("baseline_urls", f"URL of the server without the drafter ({empty})", several=True)
    ask("candidate_urls", f"URL of the server with the drafter ({empty})", several=True)
    if wanted.baseline_urls and wanted.candidate_urls:
        return wanted
    ask("model", "Model to launch (a folder or a name)")
    if not wanted.candidate_urls and not wanted.speculative_config:
        ask("method", "Method of the drafter (eagle3, mtp, ngram, draft_model …)")
        if wanted.method:
            ask("drafter", "Model of the drafter (empty: the method needs none)")
    ask("tool_parser", "Tool-call parser of the servers (hermes, qwen3_coder …; empty: none)")
    ask("reasoning_parser", "Reasoning parser of the servers (qwen3, deepseek_r1 …; empty: none)")
    return wanted
