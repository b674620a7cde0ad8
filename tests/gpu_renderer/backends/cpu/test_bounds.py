"""The native kernels access nothing beyond their arrays, whatever sizes, places and numbers they get."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gpu_renderer.kernels.loading import installed

ROUNDS = 60


@pytest.mark.parametrize("library", installed(), ids=lambda path: path.stem)
def test_kernels_stay_within_their_arrays(library: Path) -> None:
    command = [sys.executable, "-m", "tests.gpu_renderer.backends.cpu.guarded", str(library), "0", str(ROUNDS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"after {done.stdout.splitlines()[-1:]}: {done.stderr}"
    assert len(done.stdout.splitlines()) == 4 * ROUNDS
