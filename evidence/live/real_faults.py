"""Real faults on real vLLM: what the gate says of candidates that are not what they should be.

    python -m evidence.live.real_faults                    # all of them, one after the other
    python -m evidence.live.real_faults layer-6e-2 fp8-kv  # some

Baseline and candidate are attached by URL, as servers of a staging cluster are, so the gate sees no
command line. One baseline serves all cases. Weights lie under one path, which is pointed at other
weights before a candidate starts: what happens when a checkpoint is overwritten between restarts.
The embedded pair, on the first turns of the sample sessions.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file

from draftgate.config.config import Config
from draftgate.config.file import read_config
from draftgate.progress import reporter
from draftgate.run.gate import run_gate
from draftgate.run.paths import server_spec
from evidence.live import beginnings
from evidence.live.results import Result, keep, result_of, shown
from models.perturbed import perturbed_copy
from replay.launch.command import ServerSpec
from replay.launch.cpus import cpu_shares
from replay.launch.server import Server

HOME = Path(".draftgate/evidence").resolve()
MODEL = HOME / "pair"
TARGET, DRAFTER = Path("models/weights/target").resolve(), Path("models/weights/drafter")
LAYER = 3
NGRAM = {
    "method": "ngram",
    "num_speculative_tokens": 3,
    "prompt_lookup_min": 2,
    "prompt_lookup_max": 4,
}
OTHER_TEMPLATE = HOME / "other_template.jinja"
TOOL_PARSER = "--tool-call-parser"


@dataclass(frozen=True, slots=True)
class Case:
    """`noise`: standard deviation added to one layer. `flags` replace the baseline's of the same
    name. `drafter` of `None` is that of ``gate.toml``. `reference`: the name of the case whose
    run's acceptance is compared with.
    """

    what: str
    noise: float = 0.0
    flags: Mapping[str, str] = field(default_factory=dict)
    drafter: Mapping[str, Any] | None = None
    plain_head: bool = False
    reference: str = ""


CASES = {
    "sound": Case("EAGLE 3.1, nothing wrong"),
    "layer-1e-2": Case("one layer perturbed by 1e-2", noise=1e-2),
    "layer-6e-2": Case("one layer perturbed by 6e-2", noise=6e-2),
    "float32": Case("float32 where the baseline has bf16", flags={"--dtype": "float32"}),
    "fp8-kv": Case("KV cache in fp8", flags={"--kv-cache-dtype": "fp8"}),
    "template": Case("other chat template", flags={"--chat-template": str(OTHER_TEMPLATE)}),
    "parser": Case("other tool parser (qwen3_coder)", flags={TOOL_PARSER: "qwen3_coder"}),
    "eagle3": Case(
        "EAGLE 3: the same head without `fc_norm` and `norm_output`",
        plain_head=True,
        reference="sound",
    ),
    "ngram": Case("n-gram, nothing wrong", drafter=NGRAM),
    "draft-model": Case(
        "draft model (the target itself), nothing wrong",
        drafter={"method": "draft_model", "model": str(TARGET), "num_speculative_tokens": 3},
    ),
}


def plain_head(folder: Path) -> Path:
    """The embedded drafter as an EAGLE 3 head: both flags off, the norms of `fc_norm` gone."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DRAFTER, folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config |= {"fc_norm": False, "norm_output": False}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    weights = load_file(folder / "model.safetensors")
    kept = {name: weight for name, weight in weights.items() if not name.startswith("fc_norm")}
    save_file(kept, folder / "model.safetensors", {"format": "pt"})
    return folder


def speculation(case: Case, config: Config) -> dict[str, Any]:
    """The candidate's --speculative-config."""
    chosen = dict(config.candidate.speculative_config if case.drafter is None else case.drafter)
    if case.plain_head:
        chosen["model"] = str(plain_head(HOME / "plain-head"))
    return chosen


def point_at(case: Case) -> None:
    """Lay the case's weights under the one path both servers load from."""
    MODEL.unlink(missing_ok=True)
    if not case.noise:
        MODEL.symlink_to(TARGET)
        return
    copy = HOME / f"perturbed-{case.noise:g}"
    shutil.rmtree(copy, ignore_errors=True)
    perturbed_copy(TARGET, copy, LAYER, case.noise)
    MODEL.symlink_to(copy)


def with_flags(spec: ServerSpec, flags: Mapping[str, str]) -> tuple[str, ...]:
    """The server's flags with some values in place of others; new ones come last."""
    kept: list[str] = []
    left = dict(flags)
    given = iter(spec.flags)
    for flag in given:
        kept.append(flag)
        if flag in left:
            next(given)
            kept.append(left.pop(flag))
    return (*kept, *(part for pair in left.items() for part in pair))


def spec_of(config: Config, name: str, case: Case, cpus: tuple[int, ...] | None) -> ServerSpec:
    """The server to launch."""
    whole = server_spec(config, "baseline", cpus)
    return ServerSpec(
        name=name,
        model=str(MODEL),
        flags=with_flags(whole, case.flags),
        speculative_config=speculation(case, config) if name != "baseline" else {},
        env=whole.env,
        served_model_name=whole.served_model_name,
        cpus=cpus,
    )


def overrides(
    case: Case, urls: tuple[str, str], drafter: Mapping[str, Any], runs: Mapping[str, str]
) -> dict[str, Any]:
    """What the gate is given beside ``gate.toml``; `drafter` is the candidate's own."""
    return {
        "run": {"sessions": [str(HOME / "beginnings.jsonl")], "max_tokens": 128},
        "baseline": {"urls": [urls[0]]},
        "candidate": {"urls": [urls[1]], "speculative_config": dict(drafter)},
        "reference": {"run": runs[case.reference]} if case.reference in runs else {},
    }


def main() -> int:
    """Print the table; 0 where every case ran."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", choices=[[], *CASES], help="default: all")
    parser.add_argument("--turns", type=int, default=4, help="turns of each session")
    arguments = parser.parse_args()
    names = arguments.names or list(CASES)
    gate, says = Path("gate.toml"), reporter()
    config = read_config(gate)
    beginnings.write(HOME / "beginnings.jsonl", arguments.turns)
    template = (TARGET / "chat_template.jinja").read_text(encoding="utf-8")
    OTHER_TEMPLATE.write_text(template.replace("# Tools", "# Functions"), encoding="utf-8")
    first, second = cpu_shares(2)
    results: list[Result] = []
    runs: dict[str, str] = {}
    with ExitStack() as stack:
        point_at(CASES["sound"])
        baseline = Server(spec_of(config, "baseline", CASES["sound"], first), HOME / "baseline.log")
        stack.enter_context(baseline)
        baseline.wait_healthy()
        for name in names:
            case = CASES[name]
            point_at(case)
            says.note(f"{name}: starting the candidate")
            with Server(spec_of(config, name, case, second), HOME / f"{name}.log") as candidate:
                candidate.wait_healthy()
                urls, drafter = (baseline.url, candidate.url), candidate.spec.speculative_config
                outcome = run_gate(read_config(gate, overrides(case, urls, drafter, runs)), says)
            outcome.print_summary()
            runs[name] = outcome.run
            results.append(result_of(case.what, outcome))
            keep(results[-1], HOME / "real_faults.jsonl")
    print(shown(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
