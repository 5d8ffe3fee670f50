"""What a first configuration is made of, as far as the user says it."""

import sys
from dataclasses import dataclass, field, replace
from typing import Any

import click


@dataclass(frozen=True, slots=True)
class Wanted:
    """`drafter` are the entries of vLLM's --speculative-config that were given; the parsers and the
    tokenizer are those of the servers, by vLLM's names."""

    sessions: tuple[str, ...] = ()
    baseline_urls: tuple[str, ...] = ()
    candidate_urls: tuple[str, ...] = ()
    api_key_env: str = ""
    model: str = ""
    drafter: dict[str, Any] = field(default_factory=dict)
    tool_parser: str = ""
    reasoning_parser: str = ""
    tokenizer: str = ""

    @property
    def attached(self) -> bool:
        """Whether any path is a running server."""
        return bool(self.baseline_urls or self.candidate_urls)

    def urls(self, path: str) -> tuple[str, ...]:
        """The servers of a path."""
        return self.baseline_urls if path == "baseline" else self.candidate_urls


def on_terminal() -> bool:
    """Whether there is a person to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def asked(wanted: Wanted) -> Wanted:
    """`wanted`, completed by questions on the terminal; an empty answer leaves a thing open."""
    if not wanted.sessions:
        words = _ask("Recorded sessions (files, folders, globs)")
        wanted = replace(wanted, sessions=tuple(words.split()))
    if wanted.model:
        return wanted
    if not wanted.baseline_urls:
        url = _ask("URL of the server without the drafter (empty: draftgate launches it)")
        wanted = replace(wanted, baseline_urls=(url,) if url else ())
    if not wanted.candidate_urls:
        url = _ask("URL of the server with the drafter (empty: draftgate launches it)")
        wanted = replace(wanted, candidate_urls=(url,) if url else ())
    if wanted.baseline_urls and wanted.candidate_urls:
        return wanted
    wanted = replace(wanted, model=_ask("Model to launch (a folder or a name)"))
    if not wanted.candidate_urls and not wanted.drafter:
        method = _ask("Method of the drafter (eagle3, mtp, ngram, draft_model …)")
        drafter = _ask("Model of the drafter (empty: the method needs none)") if method else ""
        given = {"method": method, "model": drafter}
        wanted = replace(wanted, drafter={key: text for key, text in given.items() if text})
    if not wanted.tool_parser:
        text = "Tool-call parser of the servers (hermes, qwen3_coder …; empty: none)"
        wanted = replace(wanted, tool_parser=_ask(text))
    if not wanted.reasoning_parser:
        text = "Reasoning parser of the servers (qwen3, deepseek_r1 …; empty: none)"
        wanted = replace(wanted, reasoning_parser=_ask(text))
    return wanted


def _ask(question: str) -> str:
    answer: str = click.prompt(question, default="", show_default=False, err=True)
    return answer.strip()
