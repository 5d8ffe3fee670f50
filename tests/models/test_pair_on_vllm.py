"""What vLLM makes of the committed pair: both EAGLE 3.1 flags are on, and both matter."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vLLM is not installed"),
]

ROOT = Path(__file__).resolve().parents[2]
WEIGHTS = ROOT / "models" / "weights"
ENGINE = ROOT / "tests" / "support" / "drafting_engine.py"


@pytest.fixture(scope="module")
def prompts(tmp_path_factory):
    from transformers import AutoTokenizer

    from models.generator.session import session
    from models.generator.stories import STORIES

    tokenizer = AutoTokenizer.from_pretrained(WEIGHTS / "target")
    made = []
    for index in range(16):
        record = session(f"flags-{index}", STORIES, 1)
        until = next(i for i, m in enumerate(record["messages"]) if m["role"] == "assistant")
        made.append(
            tokenizer.apply_chat_template(
                record["messages"][:until],
                tools=record["tools"] or None,
                tokenize=False,
                add_generation_prompt=True,
            )
        )
    path = tmp_path_factory.mktemp("prompts") / "prompts.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    return path


def run(drafter, prompts):
    done = subprocess.run(
        [sys.executable, str(ENGINE), str(WEIGHTS / "target"), str(drafter), str(prompts)],
        check=False,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


def length(result):
    return 1 + result["accepted"] / result["drafts"]


@pytest.fixture(scope="module")
def as_committed(prompts):
    return run(WEIGHTS / "drafter", prompts)


def with_flag_off(flag, folder, prompts):
    """The committed drafter with one flag false; the norm weights of `fc_norm` must then go."""
    shutil.copytree(WEIGHTS / "drafter", folder)
    config = json.loads((folder / "config.json").read_text())
    config[flag] = False
    (folder / "config.json").write_text(json.dumps(config))
    if flag == "fc_norm":
        from safetensors.torch import load_file, save_file

        path = folder / "model.safetensors"
        kept = {k: v for k, v in load_file(path).items() if not k.startswith("fc_norm")}
        save_file(kept, path, {"format": "pt"})
    return run(folder, prompts)


def test_vllm_parses_and_loads_both_flags(as_committed):
    assert as_committed["config_fc_norm"] is True
    assert as_committed["config_norm_output"] is True
    assert as_committed["fc_norms"] == 3
    assert as_committed["norm_output"] is True


def test_acceptance_is_neither_near_nothing_nor_at_the_ceiling(as_committed):
    assert as_committed["drafts"] > 100
    assert 1.6 < length(as_committed) < 3.5


@pytest.mark.parametrize("flag", ["fc_norm", "norm_output"])
def test_switching_a_flag_off_lowers_acceptance_and_keeps_the_text(
    flag, as_committed, prompts, tmp_path
):
    without = with_flag_off(flag, tmp_path / "drafter", prompts)
    assert (without["fc_norms"], without["norm_output"]) == (
        (0, True) if flag == "fc_norm" else (3, False)
    )
    assert length(without) < length(as_committed) - 0.05
    same = sum(a == b for a, b in zip(without["texts"], as_committed["texts"], strict=True))
    assert same >= 14, "a drafter cannot change what the target says"
