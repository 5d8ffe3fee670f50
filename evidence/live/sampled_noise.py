"""Sampled turns on real weights: is the distribution of their tokens the baseline's?

    python -m evidence.live.sampled_noise          # n-gram, whose drafts can be computed again
    python -m evidence.live.sampled_noise draft    # the target itself as draft model

SmolLM2-135M-Instruct on the short chats, every turn at temperature 0.7 and top-p 0.9. Where vLLM's
rejection sampler is sound, a `fail` is a false alarm; the exit code is then 1. The one of the CPU
build of vLLM 0.32 is not (docs/evidence.md): there the gate must fail.
"""

import argparse
import sys
from pathlib import Path

from msgspec.structs import replace

from checks.sampled.judge import EVIDENCE, EXCESS
from draftgate.config.file import read_config
from draftgate.progress import reporter
from draftgate.run.gate import run_gate
from draftgate.run.outcome import GateOutcome
from evidence.live import chats
from evidence.live.natural_noise import CONFIG, HOME, NAMES, drafter
from evidence.live.smollm2 import checkpoint
from evidence.markdown import table
from traces.importing.importer import import_files
from traces.session.file import write_sessions
from traces.session.turn import Sampling

SAMPLING = Sampling(temperature=0.7, top_p=0.9)
HEAD = ("candidate", "verdict", "bound", "state", "value", "90% interval", "what was seen")


def write_sampled(file: Path) -> Path:
    """The short chats, every turn with `SAMPLING`."""
    plain = chats.write(file.with_name("chats.jsonl"))
    found = (session for source in import_files([str(plain)]) for session in source.sessions)
    write_sessions(
        (
            session.replaced(turns=tuple(replace(t, sampling=SAMPLING) for t in session.turns))
            for session in found
        ),
        file,
    )
    return file


def rows(what: str, outcome: GateOutcome) -> list[tuple[object, ...]]:
    """One row per bound of the sampled distribution."""
    return [
        (
            what,
            f"`{outcome.verdict.verdict}`",
            f"`{bound.name}`",
            bound.state,
            "n/a" if bound.value is None else f"{bound.value:.3g} {bound.unit}",
            "n/a" if bound.low is None else f"{bound.low:.4f} … {bound.high:.4f}",
            bound.message,
        )
        for bound in outcome.verdict.bounds
        if bound.name in (EVIDENCE, EXCESS)
    ]


def main() -> int:
    """0 where no run failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("drafters", nargs="*", choices=[[], *NAMES], help="default: ngram")
    target = checkpoint(HOME / "smollm2")
    sessions = write_sampled(HOME / "sampled-chats.jsonl")
    found, failed = [], False
    for kind in parser.parse_args().drafters or ["ngram"]:
        settings = {
            "run": {"sessions": [str(sessions)], "max_tokens": 96},
            "candidate": {"speculative_config": drafter(kind, target)},
        }
        outcome = run_gate(read_config(CONFIG, settings), reporter())
        outcome.print_summary()
        found += rows(NAMES[kind], outcome)
        failed |= outcome.verdict.verdict in ("fail", "invalid")
    print(table(HEAD, found))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
