"""How fast outputs are labeled and steps become rows, on one core.

python benchmarks/labels.py [--megabytes 4] [--stream 16]

prose and fences    30.1 MB/s whole     0.7 MB/s in deltas of 16 characters
small arguments      1.8 MB/s whole     0.7 MB/s in deltas of 16 characters
draft positions     23.5 M rows/s joined
"""

import argparse
import json
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from checks.acceptance.drafting import Drafting
from checks.acceptance.positions import join
from checks.acceptance.steps import StepFacts, Steps, reconcile
from traces.boundaries import Labeller, label, token_labels

CODE = (
    "def total(prices: list[float]) -> float:\n    return sum(price * 1.2 for price in prices)\n\n"
)
DIFF = (
    "--- a/shop.py\n+++ b/shop.py\n@@ -1,2 +1,2 @@\n"
    " def total(prices):\n-    return 0\n+    return 1\n"
)
PROSE = (
    "The price is summed without tax; the test expects it with tax, so this line has to change.\n"
)
ARGUMENTS = json.dumps({"path": "shop.py", "content": CODE * 6, "times": 3})
COMMAND = json.dumps({"command": "cat > a.py <<'EOF'\n" + CODE + "EOF\npython a.py | head -n 5\n"})

TEXTS = {
    "prose and fences": ("plain", PROSE * 6 + "```python\n" + CODE * 3 + "```\n"),
    "diffs": ("plain", PROSE + "```diff\n" + DIFF * 4 + "```\n"),
    "JSON arguments": (
        "hermes",
        PROSE + '<tool_call>\n{"name": "write", "arguments": ' + ARGUMENTS + "}\n</tool_call>\n",
    ),
    "shell in JSON": (
        "kimi_k2",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.bash:0"
        "<|tool_call_argument_begin|>" + COMMAND + "<|tool_call_end|><|tool_calls_section_end|>",
    ),
    "tagged arguments": (
        "qwen3_coder",
        "<tool_call>\n<function=write>\n<parameter=path>\nshop.py\n</parameter>\n"
        "<parameter=content>\n" + CODE * 6 + "</parameter>\n</function>\n</tool_call>\n",
    ),
    "small arguments": (
        "hermes",
        '<tool_call>\n{"name": "f", "arguments": {"a": 1, "b": [true, "x"]}}\n</tool_call>\n',
    ),
}


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of the quickest of three."""
    best = float("inf")
    for _ in range(3):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


def stream(text: str, family: str, size: int) -> None:
    labeller = Labeller(family)
    for at in range(0, len(text), size):
        labeller.feed(text[at : at + size])
    labeller.close()


def measure_labels(megabytes: float, size: int) -> None:
    for name, (family, unit) in TEXTS.items():
        text = unit * max(1, round(megabytes * 1e6 / len(unit.encode())))
        amount = len(text.encode()) / 1e6
        whole = amount / seconds(partial(label, text, family))
        part = text[: len(text) // 4]
        streamed = len(part.encode()) / 1e6 / seconds(partial(stream, part, family, size))
        print(
            f"{name:18}{whole:6.1f} MB/s whole{streamed:8.1f} MB/s in deltas of {size} characters"
        )


def measure_positions(tokens: int, k: int = 3) -> None:
    rng = np.random.default_rng(0)
    accepted = tuple(rng.integers(0, k + 1, tokens // 3).tolist())
    committed = [1, *(a + 1 for a in accepted)]
    count = sum(committed)
    facts = StepFacts(accepted, (k,) * len(accepted), count, tuple(committed), 5000, 0)
    steps = reconcile(facts, Drafting("eagle3", k))
    assert isinstance(steps, Steps)
    text = TEXTS["JSON arguments"][1] * (1 + 4 * count // len(TEXTS["JSON arguments"][1]))
    labels = token_labels(label(text, "hermes"), range(0, 4 * count, 4))
    positions = join(steps, labels, 5000, template="t")
    joined = len(positions) / 1e6 / seconds(partial(join, steps, labels, 5000))
    print(f"{'draft positions':18}{joined:6.1f} M rows/s joined")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=4.0, help="text per measurement")
    parser.add_argument("--stream", type=int, default=16, help="characters per delta")
    arguments = parser.parse_args()
    measure_labels(arguments.megabytes, arguments.stream)
    measure_positions(300_000)


if __name__ == "__main__":
    main()
