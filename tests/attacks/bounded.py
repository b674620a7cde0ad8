"""Run a function in a process with limits, so that an attack fails a test instead of blocking the machine."""

from __future__ import annotations

import resource
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def bounded(code: str, *words: str, cpu_seconds: int = 30, memory_mb: int = 1500) -> str:
    """Return the output of code in a new interpreter. Fail if it exceeds its processor time or memory.

    The default limit is four times the slowest test's time on a core shared by two busy hosts. Work of quadratic cost
    takes minutes.
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
