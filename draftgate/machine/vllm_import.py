"""Whether a Python can run vLLM: importing what a server imports is the only way to know.

`import vllm` alone succeeds where torchvision is built for another torch, and its server fails.
"""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

LONGEST_S = 300
"""A first import on a busy machine compiles and takes minutes."""

_CODE = (
    "import vllm, vllm.entrypoints.openai.api_server; "
    "print('vLLM', getattr(vllm, '__version__', 'of an unknown version'))"
)


@dataclass(frozen=True, slots=True)
class Imported:
    """`version` is ``vLLM 0.32.0``; where it is empty, `problem` is the last line of the error."""

    version: str = ""
    problem: str = ""


def import_vllm(python: str, env: Mapping[str, str] | None = None) -> Imported:
    """Import vLLM's server in another process of `python`.

    `env` is laid over this process's environment, as for a server.
    """
    try:
        done = subprocess.run(
            [python, "-c", _CODE],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **(env or {})},
            timeout=LONGEST_S,
        )
    except subprocess.TimeoutExpired:
        return Imported(problem=f"no end of it in {LONGEST_S} s")
    except OSError as error:
        return Imported(problem=f"{python} cannot be run: {error.strerror}")
    said = done.stdout.strip().splitlines()
    if done.returncode == 0 and said and said[-1].startswith("vLLM "):
        return Imported(said[-1])
    return Imported(problem=(done.stderr.strip().splitlines() or ["no message"])[-1][:200])
