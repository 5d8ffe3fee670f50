"""`make evidence`: the gate on real weights, whose rounding forks greedy text without any fault.

    python -m evidence.live.natural_noise                  # n-gram, draft model, EAGLE 3.1
    python -m evidence.live.natural_noise ngram            # one of them

SmolLM2-135M-Instruct is served in bf16 without and with each drafter. None of them changes what the
model means, so a verdict of `fail` is a false alarm; the exit code is then 1. Prints the table of
`docs/evidence.md`.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from draftgate.config.file import read_config
from draftgate.progress import reporter
from draftgate.run.gate import run_gate
from evidence.live import chats
from evidence.live.head import trained_head
from evidence.live.results import keep, result_of, shown
from evidence.live.smollm2 import checkpoint

HOME = Path(".draftgate/evidence")
CONFIG = Path(__file__).with_name("smollm2.toml")
NAMES = {"ngram": "n-gram", "draft": "draft model (the target itself)", "eagle": "EAGLE 3.1"}


def drafter(kind: str, target: Path) -> dict[str, Any]:
    """vLLM's --speculative-config."""
    if kind == "ngram":
        lookup = {"prompt_lookup_min": 2, "prompt_lookup_max": 4}
        return {"method": "ngram", "num_speculative_tokens": 3, **lookup}
    if kind == "draft":
        return {"method": "draft_model", "model": str(target), "num_speculative_tokens": 3}
    head = trained_head(target, HOME / "smollm2-head")
    return {"method": "eagle3", "model": str(head), "num_speculative_tokens": 3}


def main() -> int:
    """0 where no run failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("drafters", nargs="*", choices=[[], *NAMES], help="default: all")
    parser.add_argument("--turns", type=int, default=112, help="most turns of a run")
    arguments = parser.parse_args()
    chosen = arguments.drafters or list(NAMES)
    target = checkpoint(HOME / "smollm2")
    chats.write(HOME / "chats.jsonl")
    results = []
    for kind in chosen:
        speculative = {"candidate": {"speculative_config": drafter(kind, target)}}
        settings = {"run": {"max_turns": arguments.turns}, **speculative}
        outcome = run_gate(read_config(CONFIG, settings), reporter())
        outcome.print_summary()
        results.append(result_of(NAMES[kind], outcome))
        keep(results[-1], HOME / "natural_noise.jsonl")
    print(shown(results))
    return int(any(result.verdict in ("fail", "invalid") for result in results))


if __name__ == "__main__":
    sys.exit(main())
