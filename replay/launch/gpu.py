"""Memory and utilization of this machine's NVIDIA GPUs, by NVML (package ``nvidia-ml-py``)."""

import importlib
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class GpuReading:
    """Over all GPUs: bytes in use, and the mean share of time a kernel ran (0 to 1)."""

    memory_bytes: float
    utilization: float


class GpuReader:
    """Reads the GPUs; without NVML or a GPU every reading is None."""

    def __init__(self) -> None:
        self._nvml: Any = None
        self._devices: list[Any] = []
        try:
            nvml: Any = importlib.import_module("pynvml")
        except ImportError:
            return
        try:
            nvml.nvmlInit()
            count = nvml.nvmlDeviceGetCount()
            self._devices = [nvml.nvmlDeviceGetHandleByIndex(n) for n in range(count)]
        except nvml.NVMLError:
            return
        self._nvml = nvml

    def read(self) -> GpuReading | None:
        """Now; None too where the driver does not tell."""
        if self._nvml is None or not self._devices:
            return None
        try:
            used = [self._nvml.nvmlDeviceGetMemoryInfo(device).used for device in self._devices]
            busy = [self._nvml.nvmlDeviceGetUtilizationRates(d).gpu for d in self._devices]
        except self._nvml.NVMLError:
            return None
        return GpuReading(float(sum(used)), sum(busy) / len(busy) / 100)
