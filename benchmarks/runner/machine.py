"""Machine line: a description of the machine of a result. Results of different lines are compared by ratios only."""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path

import av
import psutil

from cluster.setup.version import commit

ROOT = Path(__file__).resolve().parents[2]


def machine_line(renderer: str) -> dict[str, str]:
    """Return the processor, cores, memory, renderer, versions, commit and time."""
    return {
        "processor": _processor(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory_gib": f"{psutil.virtual_memory().total / 2**30:.0f}",
        "renderer": renderer,
        "python": platform.python_version(),
        "av": av.__version__,
        "commit": commit() or "unknown",
        "load_before": f"{psutil.getloadavg()[0]:.1f}",
        "measured_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
