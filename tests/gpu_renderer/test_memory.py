"""What a renderer's process keeps of memory that it has freed."""

from __future__ import annotations

import subprocess
import sys

MIB = 1 << 20
FREES_LARGE_BLOCKS_BETWEEN_SMALL_ONES = """
from pathlib import Path
from gpu_renderer.session import return_large_blocks
return_large_blocks()
def resident(): return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
bytearray(16 << 20)  # by which glibc would learn to keep such blocks
before = resident()
kept = []
for _ in range(20):
    large = [bytearray(b"1") * (8 << 20)]
    kept.append((large, bytearray(b"1") * 2000))
for large, _ in kept: large.clear()
print(resident() - before)
"""


def test_large_blocks_go_back_to_the_system_even_from_between_small_ones() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FREES_LARGE_BLOCKS_BETWEEN_SMALL_ONES], check=True, capture_output=True, text=True
    )
    assert int(done.stdout) < 8 * MIB
