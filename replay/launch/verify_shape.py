"""The target in verify shape: a server that drafts as the candidate does and accepts nothing.

Verifying k + 1 rows at once rounds otherwise than decoding one. With every draft rejected,
right or not, each token is the target's own choice, computed in the shape in which the candidate's
tokens are: the noise of verification alone, without any of its logic. For targets whose noise has
heavy tails (MoE, FP8, NVFP4) this is the floor to compare the candidate with.

`rejection_sample_method` and `synthetic_acceptance_rates` are vLLM's (`config/speculative.py`);
its CPU kernels do not have them.
"""

from dataclasses import replace

from replay.launch.command import ServerSpec
from traces.errors import ConfigError


def in_verify_shape(spec: ServerSpec) -> ServerSpec:
    """The candidate's server with all drafts rejected."""
    drafts = spec.speculative_config.get("num_speculative_tokens")
    if not isinstance(drafts, int) or drafts < 1:
        raise ConfigError(
            "the noise floor in verify shape needs the number of draft tokens",
            "set `num_speculative_tokens` in [candidate] speculative_config",
        )
    rejecting = {
        "rejection_sample_method": "synthetic",
        "synthetic_acceptance_rates": [0.0] * drafts,
    }
    given = {k: v for k, v in spec.speculative_config.items() if k != "synthetic_acceptance_length"}
    return replace(spec, name="verify-floor", speculative_config={**given, **rejecting})
