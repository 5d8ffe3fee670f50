"""All formats, and which one a file is in."""

from dataclasses import dataclass

from traces.readers.adp import Adp
from traces.readers.aider import Aider
from traces.readers.aider_llm import AiderLlm
from traces.readers.atif import Atif
from traces.readers.canonical import Canonical
from traces.readers.chat_rows import ChatRows
from traces.readers.claude_code import ClaudeCode
from traces.readers.cline import Cline
from traces.readers.codex import Codex
from traces.readers.codex_exec import CodexExec
from traces.readers.copilot_cli import CopilotCli
from traces.readers.gemini import Gemini
from traces.readers.goose import Goose
from traces.readers.kimi import Kimi
from traces.readers.mini_swe_agent import MiniSweAgent
from traces.readers.opencode import Opencode
from traces.readers.openhands import OpenHands
from traces.readers.otel import Otel
from traces.readers.pi import Pi
from traces.readers.prompts import Prompts
from traces.readers.qwen_code import QwenCode
from traces.readers.reader import Reader
from traces.readers.request_logs import RequestLogs
from traces.readers.sample import Sample
from traces.readers.swe_agent import SweAgent
from traces.readers.unsupported import UNSUPPORTED
from traces.readers.vllm_log import VllmLog

READERS: tuple[Reader, ...] = (
    Canonical(),
    QwenCode(),
    ClaudeCode(),
    Codex(),
    CodexExec(),
    SweAgent(),
    MiniSweAgent(),
    OpenHands(),
    Atif(),
    Gemini(),
    Opencode(),
    Cline(),
    Goose(),
    Pi(),
    CopilotCli(),
    Kimi(),
    Aider(),
    AiderLlm(),
    VllmLog(),
    RequestLogs(),
    Otel(),
    Adp(),
    ChatRows(),
    *UNSUPPORTED,
    Prompts(),
)
"""In order of preference where two formats fit equally well: the more particular first."""

LEAST_SHARE = 0.2
"""Below this share of fitting rows a file is not taken to be in a format."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The reader chosen, if any, and how well each one fitted."""

    reader: Reader | None
    scores: dict[str, float]


def choose(sample: Sample) -> Choice:
    """The reader that fits the sample best, of those that know a key in it."""
    possible = [r for r in READERS if not r.keys or not r.keys.isdisjoint(sample.keys)]
    scores = {reader.format: reader.match(sample) for reader in possible}
    best = max(possible, key=lambda reader: scores[reader.format])
    fits = scores[best.format] >= LEAST_SHARE
    return Choice(best if fits else None, {k: round(v, 3) for k, v in scores.items() if v > 0})


def reader_named(name: str) -> Reader | None:
    """The reader of a format, by its name."""
    return next((reader for reader in READERS if reader.format == name), None)
