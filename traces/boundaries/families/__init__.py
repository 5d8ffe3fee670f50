"""The parser families by vLLM's tool parser names (vllm/tool_parsers/__init__.py, 0.32)."""

from traces.boundaries.families import envelopes, sections, spelled, tagged
from traces.boundaries.families.shape import build
from traces.boundaries.mode import Family
from traces.errors import InputError

PLAIN = build("plain", {}, {})

FAMILIES: dict[str, Family] = {
    "plain": PLAIN,
    "apertus": envelopes.APERTUS,
    "cohere_command3": envelopes.COHERE,
    "cohere_command4": envelopes.COHERE,
    "deepseek_v3": sections.DEEPSEEK_V3,
    "deepseek_v31": sections.DEEPSEEK_V31,
    "deepseek_v32": tagged.DEEPSEEK_V32,
    "deepseek_v4": tagged.DEEPSEEK_V4,
    "deepseek_v41": tagged.DEEPSEEK_V41,
    "dots": tagged.DOTS,
    "ernie45": envelopes.HERMES,
    "functiongemma": spelled.FUNCTIONGEMMA,
    "gemma4": spelled.GEMMA4,
    "gigachat3": envelopes.GIGACHAT,
    "glm45": tagged.GLM,
    "glm47": tagged.GLM,
    "granite": envelopes.GRANITE,
    "granite-20b-fc": envelopes.GRANITE_20B,
    "granite4": envelopes.HERMES,
    "hermes": envelopes.HERMES,
    "hunyuan_a13b": envelopes.TOOL_CALLS,
    "hy_v3": tagged.HY_V3,
    "hy_v4": tagged.HY_V3,
    "inkling": envelopes.INKLING,
    "internlm": envelopes.INTERNLM,
    "jamba": envelopes.TOOL_CALLS,
    "k2_horizon": tagged.K2_HORIZON,
    "kimi_k2": sections.KIMI_K2,
    "kimi_k3": tagged.KIMI_K3,
    "lfm2": spelled.LFM2,
    "ling3": tagged.GLM,
    "llama3_json": envelopes.LLAMA,
    "llama4_json": envelopes.LLAMA,
    "llama4_pythonic": spelled.LLAMA4_PYTHONIC,
    "longcat": envelopes.LONGCAT,
    "mimo": tagged.QWEN3_CODER,
    "minicpm5": tagged.MINICPM5,
    "minimax_m2": tagged.MINIMAX_M2,
    "minimax_m3": tagged.MINIMAX_M3,
    "mistral": sections.MISTRAL,
    "muse_glimmer": tagged.MUSE_GLIMMER,
    "olmo3": spelled.OLMO3,
    "openai": sections.HARMONY,
    "phi4_mini_json": envelopes.PHI4,
    "plamo3": sections.PLAMO3,
    "poolside_v1": tagged.GLM,
    "pythonic": spelled.PYTHONIC,
    "qwen3_coder": tagged.QWEN3_CODER,
    "qwen3_json": envelopes.HERMES,
    "qwen3_xml": tagged.QWEN3_CODER,
    "seed_oss": tagged.SEED_OSS,
    "step3": tagged.STEP3,
    "step3p5": tagged.QWEN3_CODER,
    "xlam": envelopes.XLAM,
}
"""Every tool parser of vLLM 0.32 but `hf`, whose markup is the model's own template."""


def family(name: str | None) -> Family:
    """The family of a vLLM tool parser; `None` or ``plain``: no tool markup.

    Raises InputError for a name that is not known.
    """
    if name is None:
        return PLAIN
    if name not in FAMILIES:
        raise InputError(
            f"no boundary rules for tool parser {name!r}",
            f"name one of {', '.join(FAMILIES)}; `plain` is for text without tool markup",
        )
    return FAMILIES[name]
