"""The format and the writer of every spelling."""

from collections.abc import Callable
from typing import NamedTuple

from tests.support.spellings import agents, canonical, databases, documents, logs, observed
from tests.support.spellings.conversation import Conversation


class Spelling(NamedTuple):
    """`repeats`: every row holds the prompt again. `many`: a file can hold many conversations."""

    format: str
    write: Callable[[list[Conversation]], bytes]
    repeats: bool = False
    many: bool = False


SPELLINGS: dict[str, Spelling] = {
    "draftgate": Spelling("draftgate", canonical.draftgate, many=True),
    "claude-code": Spelling("claude-code", agents.claude_code, many=True),
    "codex": Spelling("codex", agents.codex),
    "codex-exec": Spelling("codex-exec", agents.codex_exec),
    "swe-agent": Spelling("swe-agent", documents.swe_agent, repeats=True),
    "mini-swe-agent": Spelling("mini-swe-agent", documents.mini_swe_agent),
    "openhands": Spelling("openhands", documents.openhands, many=True),
    "openhands-sdk": Spelling("openhands", documents.openhands_sdk),
    "atif": Spelling("atif", documents.atif, many=True),
    "gemini-cli": Spelling("gemini-cli", documents.gemini),
    "qwen-code": Spelling("qwen-code", agents.qwen_code),
    "opencode": Spelling("opencode", documents.opencode),
    "opencode-db": Spelling("opencode", databases.opencode, many=True),
    "cline": Spelling("cline", documents.cline),
    "goose": Spelling("goose", agents.goose),
    "goose-db": Spelling("goose", databases.goose, many=True),
    "pi": Spelling("pi", agents.pi),
    "copilot-cli": Spelling("copilot-cli", agents.copilot_cli),
    "kimi": Spelling("kimi", agents.kimi),
    "aider": Spelling("aider", logs.aider, many=True),
    "aider-llm": Spelling("aider-llm-history", logs.aider_llm, repeats=True),
    "vllm-log": Spelling("vllm-log", logs.vllm_log, repeats=True),
    "request-log": Spelling("request-log", logs.request_log, repeats=True),
    "litellm": Spelling("request-log", logs.litellm, repeats=True),
    "har": Spelling("request-log", logs.har, repeats=True),
    "otel": Spelling("otel", logs.otel, repeats=True),
    "open-inference": Spelling("otel", logs.open_inference, repeats=True),
    "chat-messages": Spelling("chat-messages", logs.chat_messages, many=True),
    "chat-parquet": Spelling("chat-messages", logs.chat_parquet, many=True),
    "adp": Spelling("adp", documents.adp, many=True),
    "crush-db": Spelling("crush", databases.crush, many=True),
    "adk": Spelling("adk", observed.adk),
    "cursor": Spelling("cursor", observed.cursor),
    "tau-bench": Spelling("chat-messages", observed.tau_bench, many=True),
    "tau2-bench": Spelling("chat-messages", observed.tau2_bench, many=True),
    "converse": Spelling("request-log", observed.converse, repeats=True),
    "langsmith": Spelling("langsmith", observed.langsmith, repeats=True),
    "langfuse": Spelling("langfuse", observed.langfuse, repeats=True),
    "openai-agents": Spelling("openai-agents", observed.agents_sdk, repeats=True),
    "inspect": Spelling("inspect", observed.inspect_json, repeats=True, many=True),
    "inspect-eval": Spelling("inspect", observed.inspect_eval, repeats=True, many=True),
    "prompts": Spelling("prompts", logs.prompts, many=True),
}
