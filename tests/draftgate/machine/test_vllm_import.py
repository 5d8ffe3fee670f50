"""vLLM imports here only if its server does."""

import sys
from pathlib import Path

import pytest

from draftgate.machine.vllm_import import import_vllm
from replay.launch.diagnosis import TORCH_EXTRAS, likely_fix

BROKEN = "raise RuntimeError('operator torchvision::nms does not exist')"


def package(folder: Path, server: str) -> dict[str, str]:
    """A vllm whose server module is `server`, as a server's environment finds it."""
    module = folder / "vllm" / "entrypoints" / "openai" / "api_server.py"
    module.parent.mkdir(parents=True)
    (folder / "vllm" / "__init__.py").write_text("__version__ = '0.32.0'\n")
    module.write_text(server + "\n")
    return {"PYTHONPATH": str(folder)}


def test_a_server_that_imports_is_named_with_its_version(tmp_path: Path) -> None:
    assert import_vllm(sys.executable, package(tmp_path, "")).version == "vLLM 0.32.0"


def test_vllm_without_its_server_is_not_importable(tmp_path: Path) -> None:
    found = import_vllm(sys.executable, package(tmp_path, BROKEN))
    assert found.version == ""
    assert found.problem == "RuntimeError: operator torchvision::nms does not exist"
    assert likely_fix(found.problem) == TORCH_EXTRAS


@pytest.mark.parametrize("name", ["torchvision", "torchaudio", "torchcodec"])
def test_builds_for_another_torch_come_with_the_command_that_removes_them(name: str) -> None:
    log = f"OSError: Could not load this library: /site-packages/{name}/lib/_{name}.so"
    assert likely_fix(log) == TORCH_EXTRAS
