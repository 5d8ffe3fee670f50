"""Runs the pair in one vLLM engine of this process and prints what was loaded and accepted.

python drafting_engine.py TARGET DRAFTER PROMPTS.json → one JSON object on the last line.
A process of its own, because an engine leaves global state behind.
"""

import json
import os
import sys

os.environ |= {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "HF_HUB_OFFLINE": "1",
}


def loaded(worker: object) -> dict[str, object]:
    """What the drafter module in the worker really has."""
    model = worker.model_runner.drafter.model.model  # type: ignore[attr-defined]
    return {
        "fc_norms": 0 if model.fc_norm is None else len(model.fc_norm),
        "norm_output": bool(model.norm_output),
    }


def main() -> None:
    from vllm import LLM, SamplingParams

    target, drafter, prompts = sys.argv[1:]
    llm = LLM(
        model=target,
        enforce_eager=True,
        max_model_len=4096,
        max_num_seqs=8,
        disable_log_stats=False,
        speculative_config={"method": "eagle3", "model": drafter, "num_speculative_tokens": 3},
    )
    config = llm.llm_engine.vllm_config.speculative_config.draft_model_config.hf_config
    found = llm.collective_rpc(loaded)[0]
    with open(prompts, encoding="utf-8") as file:
        asked = [{"prompt": prompt} for prompt in json.load(file)]
    outputs = llm.generate(asked, SamplingParams(temperature=0, max_tokens=120), use_tqdm=False)
    counters = {m.name: m.value for m in llm.get_metrics() if hasattr(m, "value")}
    found |= {
        "config_fc_norm": bool(config.fc_norm),
        "config_norm_output": bool(config.norm_output),
        "drafts": counters["vllm:spec_decode_num_drafts"],
        "accepted": counters["vllm:spec_decode_num_accepted_tokens"],
        "texts": [output.outputs[0].text for output in outputs],
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
