"""Encoders stay within their memory on small pictures, which glibc's allocator checks in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpu_renderer.encode.formats import FORMATS

ENCODES = """
import sys
from pathlib import Path
import numpy as np
from gpu_renderer.encode.formats import FORMATS
from gpu_renderer.encode.segments import open_segment
for columns, rows in ((34, 22), (48, 34), (50, 34)):
    pictures = np.random.default_rng(0).integers(0, 256, (4, rows, columns, 4), dtype=np.uint8)
    with open_segment(Path(sys.argv[2]), FORMATS[sys.argv[1]], (columns, rows), 25.0, keeps_alpha=False, quality="high") as segment:
        for picture in pictures:
            segment.write(picture)
        assert segment.close() > 0
"""
CHECKED = {"MALLOC_CHECK_": "3", "LD_PRELOAD": "libc_malloc_debug.so.0"}
"""Variables with which glibc ends a process when it frees a block that was written beyond its end."""


@pytest.mark.parametrize("name", [name for name, each in FORMATS.items() if each.codec is not None])
def test_an_encoder_writes_nothing_beyond_its_memory(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", ENCODES, name, str(tmp_path / "segment")]
    done = subprocess.run(command, env=os.environ | CHECKED, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
