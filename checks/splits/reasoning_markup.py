"""Write reasoning and answer as the models of each vLLM reasoning parser write them.

    <think>I will read the file.</think>It is there.

Formats are those of vLLM 0.32's `reasoning` and `parser` modules.
"""

from collections.abc import Callable

Write = Callable[[str, str], str]


def tagged(begin: str, end: str, after: str = "") -> Write:
    """Reasoning between two markers, then the answer, then `after`."""
    return lambda reasoning, answer: f"{begin}{reasoning}{end}{answer}{after}"


_THINK = tagged("<think>", "</think>")

REASONING_FORMATS: dict[str, Write] = {
    "cohere_command3": tagged(
        "<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>", "<|END_RESPONSE|>"
    ),
    "cohere_command4": tagged(
        "<|START_THINKING|>", "<|END_THINKING|><|START_TEXT|>", "<|END_TEXT|>"
    ),
    "deepseek_r1": _THINK,
    "deepseek_v3": _THINK,
    "deepseek_v4": _THINK,
    "deepseek_v41": _THINK,
    "ernie45": tagged("<think>\n", "\n</think>\n<response>\n", "\n</response>\n"),
    "gemma4": tagged("<|channel>thought\n", "<channel|>"),
    "glm45": _THINK,
    "glm47": _THINK,
    "granite": tagged("Here is my thought process: ", " Here is my response: "),
    "granite_thinking_parser": _THINK,
    "holo2": _THINK,
    "hunyuan_a13b": tagged("<think>\n", "\n</think>\n<answer>\n", "\n</answer>"),
    "hy_v3": _THINK,
    "hy_v4": _THINK,
    "inkling": tagged(
        "<|message_model|><|content_thinking|>",
        "<|end_message|><|message_model|><|content_text|>",
        "<|end_message|>",
    ),
    "k2_horizon": tagged("<ifm|think>", "</ifm|think>"),
    "kimi_k2": _THINK,
    "kimi_k3": tagged(
        "<|open|>think<|sep|>",
        "<|close|>think<|sep|><|open|>response<|sep|>",
        "<|close|>response<|sep|>",
    ),
    "ling3": _THINK,
    "mimo": _THINK,
    "minicpmv": _THINK,
    "minimax_m2": _THINK,
    "minimax_m2_append_think": _THINK,
    "minimax_m3": tagged("<mm:think>", "</mm:think>"),
    "mistral": tagged("[THINK]", "[/THINK]"),
    "muse_glimmer": tagged(
        "<|start|>assistant to=self<|message|>",
        "<|eom|><|start|>assistant to=user<|message|>",
        "<|eot|>",
    ),
    "nemotron_v3": _THINK,
    "olmo3": _THINK,
    "plamo3": tagged("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>"),
    "poolside_v1": _THINK,
    "qwen3": _THINK,
    "seed_oss": tagged("<seed:think>", "</seed:think>"),
    "step3": _THINK,
    "step3p5": _THINK,
}
"""How each reasoning parser's models write; `hf` and `openai_gptoss` are not written here."""

UNWRITTEN = {
    "hf": "the format is a response template of the tokenizer; there is none to write by",
    "openai_gptoss": "Harmony is parsed from gpt-oss token ids, which only its own tokenizer has",
}
"""Reasoning parsers whose format is not written here, and why."""
