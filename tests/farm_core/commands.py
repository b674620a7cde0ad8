"""Commands as processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def start_command(*words: str, folder: Path, modules: Path | None = None, **variables: str) -> subprocess.Popen[str]:
    """Start a command in a process group of its own, as a shell does. `modules` is searched before all other modules."""
    path = str(ROOT) if modules is None else f"{modules}:{ROOT}"
    environment = os.environ | {"PYTHONPATH": path} | variables
    command, pipe = [sys.executable, "-m", "farm_core", *words], subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=pipe, stderr=pipe, text=True, process_group=0)
