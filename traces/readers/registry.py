"""All formats, and which one a file is in."""

from dataclasses import dataclass

from traces.readers.files.sample import Sample
from traces.readers.formats.adp import Adp
from traces.readers.formats.aider.chat_history import Aider
from traces.readers.formats.aider.llm_history import AiderLlm
from traces.readers.formats.atif import Atif
from traces.readers.formats.canonical import Canonical
from traces.readers.formats.chat_rows.prompts import Prompts
from traces.readers.formats.chat_rows.rows import ChatRows
from traces.readers.formats.claude.claude_code import ClaudeCode
from traces.readers.formats.cline import Cline
from traces.readers.formats.codex.exec_stream import CodexExec
from traces.readers.formats.codex.rollout import Codex
from traces.readers.formats.copilot_cli import CopilotCli
from traces.readers.formats.crush import Crush
from traces.readers.formats.cursor import Cursor
from traces.readers.formats.gemini.adk import Adk
from traces.readers.formats.gemini.gemini_cli import Gemini
from traces.readers.formats.gemini.qwen_code import QwenCode
from traces.readers.formats.goose.goose import Goose
from traces.readers.formats.kimi import Kimi
from traces.readers.formats.observed.agents_sdk import AgentsSdk
from traces.readers.formats.observed.inspect_log import InspectLog
from traces.readers.formats.observed.langfuse import Langfuse
from traces.readers.formats.observed.langsmith import LangSmith
from traces.readers.formats.opencode.opencode import Opencode
from traces.readers.formats.openhands.openhands import OpenHands
from traces.readers.formats.otel.otel import Otel
from traces.readers.formats.pi import Pi
from traces.readers.formats.requests.request_logs import RequestLogs
from traces.readers.formats.requests.vllm_log import VllmLog
from traces.readers.formats.swe_agent.mini_swe_agent import MiniSweAgent
from traces.readers.formats.swe_agent.swe_agent import SweAgent
from traces.readers.formats.unsupported import UNSUPPORTED
from traces.readers.reader import Reader

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
    Crush(),
    Adk(),
    Cursor(),
    Aider(),
    AiderLlm(),
    VllmLog(),
    RequestLogs(),
    Otel(),
    InspectLog(),
    LangSmith(),
    Langfuse(),
    AgentsSdk(),
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
