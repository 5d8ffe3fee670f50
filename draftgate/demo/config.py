"""The configuration of the demo: that of `make gate-quick`, with the package's own files.

It is written into the demo's folder, so that it can be read, changed and gated again:

    draftgate gate -c draftgate-demo/draftgate.toml
"""

import json
from pathlib import Path

from draftgate.demo.files import pair_folder, samples_folder
from traces.output import write_whole

QUICK = """\
max_sessions = 8      # leave this line and the next one out to replay all of them
max_turns = 40
"""

WHOLE = """\
routes = ["messages", "responses", "completions"]
route_turns = 16
"""

TEXT = """\
# Written by `draftgate demo`. Both servers are started here, on the CPU, with a small model that
# came with draftgate, and an EAGLE 3.1 drafter for it.

[run]
sessions = [{samples}]
{limits}concurrency = 6
max_tokens = 256
order = "together"
# The CPU build of vLLM 0.32 has a fault in sampled turns with a drafter: `draftgate docs evidence`.
# On a GPU keep the default.
sampled_share = 0
db = {db}
output = {output}

[server]
model = {target}
served_model_name = "draftgate-pair"
flags = [
  "--enforce-eager",
  "--dtype", "bfloat16",
  "--max-model-len", "16384",
  "--enable-auto-tool-choice",
  "--tool-call-parser", "hermes",
  "--reasoning-parser", "qwen3",
]
env = {{ VLLM_CPU_KVCACHE_SPACE = "1" }}

[candidate]
speculative_config = {{ method = "eagle3", model = {drafter}, num_speculative_tokens = 3 }}

[policy]
# A run of about 20,000 tokens can certify an excess rate of 3e-4 per token. For production traffic
# keep the default, 1e-4, and replay 60,000 tokens or more.
rate_margin = 3e-4
# The small target has a near tie in every twentieth turn, and some of its calls change behind one.
# For production traffic keep the default, 0.05, and replay more sessions.
call_margin = 0.08
"""


def demo_config(folder: Path, *, whole: bool = False) -> str:
    """The TOML text of a demo in `folder`; `whole` replays every session. Paths are absolute."""
    pair, home = pair_folder(), folder.absolute()
    paths = {
        "samples": samples_folder(),
        "db": home / "draftgate.duckdb",
        "output": home,
        "target": pair / "target",
        "drafter": pair / "drafter",
    }
    quoted = {name: json.dumps(str(path), ensure_ascii=False) for name, path in paths.items()}
    return TEXT.format(limits=WHOLE if whole else QUICK, **quoted)


def write_demo(folder: Path, *, whole: bool = False) -> Path:
    """Write the configuration into `folder`, made where it is not there; the file is given back."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "draftgate.toml"
    write_whole(file, demo_config(folder, whole=whole))
    return file
