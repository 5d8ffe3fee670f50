"""A/A gates on real servers: the baseline is its own candidate, so every `fail` is a false alarm.

    python -m evidence.live.twins                # five gates: concurrency 1 and 8, cache on and off
    python -m evidence.live.twins mixed-1        # one, by name

Nothing speculates here: `run.kind` is ``aa``, so that the verdict is labeled and no draft is asked
for. Where the two servers run in different modes on purpose, `PATHS_DIFFER` counts as `info`; no
configuration file may say so. Everything else is judged as always. The embedded target on the first
turns of the sample sessions, or SmolLM2 on short chats.
"""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from draftgate.config.config import Config
from draftgate.config.file import read_config
from draftgate.progress import reporter
from draftgate.run.gate import run_gate
from draftgate.run.paths import server_spec
from evidence.live import beginnings, chats
from evidence.live.results import Result, keep, result_of, shown
from evidence.live.servers import served
from evidence.live.smollm2 import checkpoint
from replay.launch.command import ServerSpec

HOME = Path(".draftgate/evidence")
PAIR, SMOLLM2 = Path("gate.toml"), Path(__file__).with_name("smollm2.toml")
EAGER = "--enforce-eager"
COLD = "--no-enable-prefix-caching"


@dataclass(frozen=True, slots=True)
class Twins:
    """`modes`: the flags that differ, of one server, or of baseline and candidate in this order.

    A mode without ``--enforce-eager`` is compiled.
    """

    what: str
    concurrency: int
    config: Path = PAIR
    modes: tuple[tuple[str, ...], ...] = ((EAGER,),)


COMPILED: tuple[str, ...] = ()
GATES = {
    "one": Twins("one server, concurrency 1", 1),
    "eight": Twins("one server, concurrency 8", 8),
    "one-cold": Twins("one server, concurrency 1, no prefix cache", 1, modes=((EAGER, COLD),)),
    "eight-cold": Twins("one server, concurrency 8, no prefix cache", 8, modes=((EAGER, COLD),)),
    "two": Twins("two servers, concurrency 8", 8, modes=((EAGER,), (EAGER,))),
    "mixed-1": Twins("eager, and compiled as candidate", 8, modes=((EAGER,), COMPILED)),
    "mixed-2": Twins("compiled, and eager as candidate", 6, modes=(COMPILED, (EAGER,))),
    "smollm2-8": Twins("SmolLM2, concurrency 8", 8, SMOLLM2),
    "smollm2-cold": Twins(
        "SmolLM2, concurrency 4, without a prefix cache as candidate",
        4,
        SMOLLM2,
        ((EAGER,), (EAGER, COLD)),
    ),
    "smollm2-mixed": Twins("SmolLM2, eager, and compiled as candidate", 6, SMOLLM2, ((EAGER,), ())),
}
DEFAULT = ("one", "eight", "one-cold", "eight-cold", "two")


def twin_config(
    twins: Twins, urls: list[str], sessions: Path = HOME / "beginnings.jsonl"
) -> Config:
    """The configuration of one gate; `sessions` are those of the embedded target."""
    severity = {"PATHS_DIFFER": "info"} if len(set(twins.modes)) > 1 else {}
    run: dict[str, Any] = {"concurrency": twins.concurrency, "kind": "aa"}
    if twins.config == PAIR:
        run |= {"sessions": [str(sessions)], "max_tokens": 64}
    else:
        run["max_tokens"] = 120
    overrides = {
        "run": run,
        "baseline": {"urls": urls[:1]},
        "candidate": {"urls": urls[-1:], "speculative_config": {}},
    }
    config = read_config(twins.config, overrides)
    policy = config.policy.model_copy(update={"severity": severity})
    return config.model_copy(update={"policy": policy})


@contextmanager
def servers(config: Config, twins: Twins) -> Iterator[list[str]]:
    """The servers in their modes; their URLs."""
    with served([spec(config, mode) for mode in twins.modes], HOME) as started:
        yield [server.url for server in started]


def spec(config: Config, mode: tuple[str, ...]) -> ServerSpec:
    """The baseline's server in one mode."""
    whole = server_spec(config, "baseline")
    kept = tuple(flag for flag in whole.flags if flag != EAGER)
    return ServerSpec(
        name="twin",
        model=whole.model,
        flags=(*kept, *mode),
        env=whole.env,
        served_model_name=whole.served_model_name,
        start_timeout_s=whole.start_timeout_s,
    )


def gate(name: str) -> Result:
    """One gate, start to end."""
    twins = GATES[name]
    if twins.config == SMOLLM2:
        checkpoint(HOME / "smollm2")
        chats.write(HOME / "chats.jsonl")
    beginnings.write(HOME / "beginnings.jsonl")
    with servers(read_config(twins.config), twins) as urls:
        outcome = run_gate(twin_config(twins, urls), reporter())
    outcome.print_summary()
    result = result_of(twins.what, outcome)
    keep(result, HOME / "twins.jsonl")
    return result


def main() -> int:
    """0 where no gate failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", choices=[[], *GATES], help="default: the first five")
    results = [gate(name) for name in parser.parse_args().names or DEFAULT]
    print(shown(results))
    return int(any(result.verdict in ("fail", "invalid") for result in results))


if __name__ == "__main__":
    sys.exit(main())
