"""Which cores the OpenMP threads of each launched CPU server get.

vLLM's CPU backend binds its threads by ``VLLM_CPU_OMP_THREADS_BIND`` (``auto``, ``nobind``, or core
ids; `vllm/utils/ompmultiprocessing.py`). ``auto`` knows nothing of other servers: two of them would
sit on the same cores and spin against each other. So servers that run at the same time get disjoint
shares of equal size; equal, since the number of threads changes how sums are split and rounded.
"""

import os

BIND = "VLLM_CPU_OMP_THREADS_BIND"


def cpu_shares(servers: int) -> list[tuple[int, ...] | None]:
    """One share of this process's cores per server; None (vLLM decides) for a single server.

    With fewer cores than servers all get the same cores.
    """
    cores = sorted(os.sched_getaffinity(0))
    if servers < 2:
        return [None] * servers
    size = len(cores) // servers
    if size == 0:
        return [tuple(cores)] * servers
    return [tuple(cores[n * size : (n + 1) * size]) for n in range(servers)]
