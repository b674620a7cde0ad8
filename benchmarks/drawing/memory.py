"""Peak memory of a measurement. It imports nothing of the farm, whose settings alone take 15 MB."""

from __future__ import annotations

from pathlib import Path


def peak_rss_mb_of_process() -> float:
    """Return the peak memory of this program, MB. `ru_maxrss` is wrong: a process inherits it from its parent."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("the kernel does not tell the peak of a process")
