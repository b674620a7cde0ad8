"""Software GL gives bit-identical frames with any number of threads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cluster.worker.egl_devices import device_index
from gpu_renderer.commands.options import FONTS
from gpu_renderer.opengl.painter import Painter

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.gl, pytest.mark.skipif(not FONTS.is_dir(), reason="no font folder: run ./farm fonts --base")]

# Mesa creates its threads with the first context of a process, so each number of threads needs its own process.
PROGRAM = """
import hashlib, json, sys
from pathlib import Path
from benchmarks.drawing.scenes import SCENES
from cluster.worker.egl_devices import device_index
from gpu_renderer.commands.options import FONTS
from gpu_renderer.session import Output, RenderSession, SessionOptions
from gpu_renderer.content.text.folders import FontFolders
from motion.bundle import read_value

threads, frames = int(sys.argv[1]), {}
options = SessionOptions(FontFolders(FONTS), device_index(None, software=True), raster_threads=threads)
with RenderSession(options) as session:
    for name in ("heavy-effects", "busy", "gradient-hero", "fifty-layers"):
        with session.open(read_value(SCENES[name].document()), Output(480, 270), lambda _: None) as opened:
            for frame in (0, 40):
                frames[f"{name} {frame}"] = hashlib.sha256(session.still(opened, frame).tobytes()).hexdigest()
    names = [path.joinpath("comm").read_text() for path in Path("/proc/self/task").iterdir()]
print(json.dumps([frames, sum(name.startswith("llvmpipe-") for name in names)]))
"""


def render_in_process(threads: int) -> tuple[dict[str, str], int]:
    """Return digests of the frames, and the number of threads that rasterised them."""
    words = [sys.executable, "-c", PROGRAM, str(threads)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 0, done.stderr
    frames, found = json.loads(done.stdout.splitlines()[-1])
    return frames, found


@pytest.mark.thorough
def test_the_number_of_raster_threads_is_as_asked_and_changes_no_pixel(context_painter: Painter) -> None:
    if not context_painter.is_software and device_index(None, software=True) is None:
        pytest.skip("this machine has no software rasteriser beside its GPU")
    alone, threads = render_in_process(0)
    assert threads == 0
    assert len(set(alone.values())) == len(alone)
    for count in (1, 2, 4):
        assert render_in_process(count) == (alone, count)
