"""Memory that a renderer process keeps after freeing it."""

from __future__ import annotations

import subprocess
import sys

MIB = 1 << 20
FREES_LARGE_BLOCKS_BETWEEN_SMALL_ONES = """
from pathlib import Path
from gpu_renderer.memory import set_up
set_up()
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
    assert _printed(FREES_LARGE_BLOCKS_BETWEEN_SMALL_ONES) < 8 * MIB


FREES_SMALL_BLOCKS_BETWEEN_OTHERS = """
from pathlib import Path
from gpu_renderer.memory import return_free_blocks
def resident(): return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
before = resident()
kept = [(bytearray(b"1") * (1 << 16), bytearray(b"1") * 2000) for _ in range(1000)]
kept = [small for _, small in kept]
return_free_blocks()
print(resident() - before)
"""
RUNS_CODE_THAT_WAS_UNMAPPED = """
import re
from pathlib import Path
from gpu_renderer.memory import unmap_code
def resident():
    for mapping in re.split(r"(?m)^(?=[0-9a-f]+-)", Path("/proc/self/smaps").read_text()):
        if "/libavcodec" in mapping and " r-xp " in mapping:
            return int(re.search(r"Rss: +(\\d+)", mapping)[1])
import av
av.CodecContext.create("libx264", "w")
before = resident()
unmap_code("libavcodec")
print(before - resident())
context = av.CodecContext.create("libx264", "w")
context.width, context.height, context.pix_fmt = 64, 64, "yuv420p"
context.open()
"""


def _printed(code: str) -> int:
    return int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def test_small_free_blocks_go_back_to_the_system_from_between_others() -> None:
    assert _printed(FREES_SMALL_BLOCKS_BETWEEN_OTHERS) < 16 * MIB


def test_unmapped_code_is_not_resident_and_runs_again() -> None:
    assert _printed(RUNS_CODE_THAT_WAS_UNMAPPED) > 0
