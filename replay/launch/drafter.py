"""The drafter's config: what its checkpoint says, and what vLLM made of it.

A flag that is lost between the two (`fc_norm`, `norm_output` of EAGLE 3.1, say) leaves every output
right and costs acceptance; `checks.acceptance.drafter_config` compares them. A kept flag was
parsed, not necessarily applied: only acceptance shows that.
"""

import subprocess
import sys

import orjson

from replay.launch import drafter_script
from replay.launch.command import ServerSpec, server_command, server_environment
from traces.journal.drafter_configs import DrafterConfigs

LAST_LINES = 5


def read_drafter(spec: ServerSpec, timeout_s: float = 600.0) -> DrafterConfigs:
    """Ask a short-lived process of the server's own Python; it needs vLLM, and no weights."""
    if not spec.speculative_config.get("model"):
        return DrafterConfigs()
    arguments = server_command(spec, port=0)[3:]
    command = [spec.python or sys.executable, drafter_script.__file__, *arguments]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout_s,
            env=server_environment(spec),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return DrafterConfigs(error=f"vLLM did not parse its configuration in {timeout_s:.0f} s")
    except OSError as error:
        return DrafterConfigs(error=f"{command[0]} cannot be run: {error}")
    for line in done.stdout.splitlines():
        if line.startswith(drafter_script.MARK):
            return DrafterConfigs(**orjson.loads(line.removeprefix(drafter_script.MARK)))
    last = " / ".join(done.stderr.strip().splitlines()[-LAST_LINES:])
    return DrafterConfigs(error=f"vLLM did not parse its configuration: {last or 'no message'}")
