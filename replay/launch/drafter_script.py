"""Run by a Python that has vLLM: prints the drafter's config as vLLM parsed it, as JSON.

    python drafter_script.py --model M --speculative-config '{"model": "D", …}' …
    DRAFTER {"checkpoint": {"norm_output": true, …}, "effective": {"norm_output": true, …}}

It parses the server's own command line with the server's own parser, and loads no weights.
"""

import json
import sys
from typing import Any

MARK = "DRAFTER "


def main(arguments: list[str]) -> None:
    from vllm.engine.arg_utils import EngineArgs
    from vllm.entrypoints.launchers.cli_args import make_arg_parser
    from vllm.transformers_utils.repo_utils import get_hf_file_to_dict
    from vllm.utils.argparse_utils import FlexibleArgumentParser

    parsed = make_arg_parser(FlexibleArgumentParser()).parse_args(arguments)
    speculative = EngineArgs.from_cli_args(parsed).create_engine_config().speculative_config
    drafter = getattr(speculative, "draft_model_config", None)
    name = getattr(speculative, "model", None)
    # Methods without a model of their own (n-gram, suffix) put the target's config here.
    if drafter is None or not name or speculative.method in ("ngram", "ngram_gpu", "suffix"):
        found: dict[str, Any] = {"checkpoint": None, "effective": None}
    else:
        found = {
            "checkpoint": get_hf_file_to_dict("config.json", name, speculative.revision),
            "effective": drafter.hf_config.to_dict(),
        }
    print(MARK + json.dumps(found, default=str))


if __name__ == "__main__":
    main(sys.argv[1:])
