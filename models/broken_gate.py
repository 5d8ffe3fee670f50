"""`make gate-broken`: the same gate on a candidate whose target has one perturbed layer.

Both servers are started from one path. Between the two starts the weights under it are replaced by
a copy with noise in one layer: what happens when a checkpoint is overwritten between two restarts.
Nothing the servers say of themselves differs; only their tokens do. Ends as `draftgate gate` does,
which is 1: fail.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from dataclasses import replace
from pathlib import Path

from draftgate.config.file import read_config
from draftgate.progress import reporter
from draftgate.run.folder import RunFolder
from draftgate.run.gate import run_gate
from draftgate.run.paths import server_spec
from models.perturbed import perturbed_copy
from replay.launch.cpus import cpu_shares
from replay.launch.server import Server

LAYER = 3
NOISE = 6e-2


def main() -> int:
    """Start both servers, gate them by their URLs, end them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-c", "--config", type=Path, default=Path("gate.toml"))
    parser.add_argument("--noise", type=float, default=NOISE, help="standard deviation added")
    arguments = parser.parse_args()
    config = read_config(arguments.config)
    home = Path(config.run.output) / "broken"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    real = Path(config.server.model).resolve()
    model = home / "target"
    model.symlink_to(real)
    logs = RunFolder(home)
    says = reporter()
    shares = cpu_shares(2)
    specs = [
        replace(server_spec(config, name, cpus), model=str(model))
        for name, cpus in zip(("baseline", "candidate"), shares, strict=True)
    ]
    with Server(specs[0], logs.log("baseline")) as baseline:
        says.note("starting the baseline on the true weights")
        baseline.wait_healthy()
        model.unlink()
        perturbed_copy(real, model, LAYER, arguments.noise)
        with Server(specs[1], logs.log("candidate")) as candidate:
            says.note(f"starting the candidate: layer {LAYER} has noise of {arguments.noise:g}")
            candidate.wait_healthy()
            urls = {"baseline": {"urls": [baseline.url]}, "candidate": {"urls": [candidate.url]}}
            outcome = run_gate(read_config(arguments.config, urls), says)
    outcome.print_summary()
    return outcome.exit_code


if __name__ == "__main__":
    sys.exit(main())
