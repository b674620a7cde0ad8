"""Run a function in a process whose work is bounded, so that an attack fails a test instead of stopping the machine."""

from __future__ import annotations

import resource
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def bounded(code: str, *words: str, cpu_seconds: int = 30, memory_mb: int = 1500) -> str:
    """Return the output of code in a fresh interpreter. Fail if it exceeds its processor time or memory.

    The default is four times what the slowest of these takes where two busy hosts share a core; work whose cost grows
    with the square of its input takes minutes.
    """

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
        resource.setrlimit(resource.RLIMIT_AS, (memory_mb << 20, memory_mb << 20))

    command = [sys.executable, "-c", textwrap.dedent(code), *words]
    done = subprocess.run(
        command, cwd=ROOT, env={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"},
        preexec_fn=limit, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"status {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout.strip()
