"""What cutting a run's own outputs costs: the time and memory split invariance adds to a judgement.

    python benchmarks/run_cuts.py .draftgate/runs/RUN hermes qwen3 models/weights/target

Prints one JSON object: the first call, which loads vLLM, and the second, which only cuts.
"""

import json
import resource
import sys
import time
from pathlib import Path

from checks.vllm.splits import judge_split_invariance
from draftgate.run.folder import add_journal
from traces.journal.exchange import Evidence
from traces.journal.served_parsers import ServedParsers

DRAFTS, SEED = 3, 0


def main() -> None:
    """Judge the main arms of one run folder twice."""
    folder, tool, reasoning, tokenizer = sys.argv[1:]
    evidence = Evidence()
    for path in ("baseline", "candidate"):
        add_journal(evidence, Path(folder) / f"{path}-main-0.jsonl.zst")
    found: dict[str, object] = {}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for name in ("first", "second"):
        wall, cpu = time.perf_counter(), time.process_time()
        run = judge_split_invariance(
            evidence.of("candidate"),
            evidence.of("baseline"),
            ServedParsers(tool, reasoning, tokenizer),
            DRAFTS,
            SEED,
        )
        found[f"{name}_wall_s"] = round(time.perf_counter() - wall, 1)
        found[f"{name}_cpu_s"] = round(time.process_time() - cpu, 1)
    found["more_mib"] = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    print(json.dumps({**found, **run.counts}))


if __name__ == "__main__":
    main()
