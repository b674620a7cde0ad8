"""Run commands of the operators' manual as somebody types them."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path


def typed(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in the folder, on a terminal that answers every question with yes."""
    ours, theirs = pty.openpty()
    os.write(ours, b"y\n")
    try:
        return subprocess.run(
            ["bash", "-c", command], cwd=folder, stdin=theirs, capture_output=True, text=True, check=False, timeout=600
        )
    finally:
        os.close(ours)
        os.close(theirs)
