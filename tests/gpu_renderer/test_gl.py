"""Wait for the GPU."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from gpu_renderer.backends.gl.readback import ReadbackRing
from gpu_renderer.encode.planes import encoder_frame, layout
from gpu_renderer.geometry import damage
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target

pytestmark = pytest.mark.gl

SIDE = 512


class _Clock:
    """Thread that counts, and runs only while another thread releases the GIL on purpose."""

    def __init__(self) -> None:
        self.ticks = 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run)

    @contextmanager
    def running(self) -> Iterator[None]:
        interval = sys.getswitchinterval()
        sys.setswitchinterval(3600.0)
        self._thread.start()
        try:
            yield
        finally:
            sys.setswitchinterval(interval)
            self._stopped.set()
            self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(0.001):
            self.ticks += 1


def much_drawn(painter: Painter) -> Target:
    """Return a target that takes a software rasteriser long to draw."""
    source, into = (painter.pool.take(Region(0, 0, SIDE, SIDE), "f4") for _ in range(2))
    region = tuple(map(float, source.region))
    for _ in range(100):
        painter.draw(
            "copy.frag", into, textures={"u_source": source.texture}, uniforms={"u_source_region": region}, blend="over"
        )
    painter.pool.give_back(source)
    return into


def test_other_threads_run_while_what_was_drawn_is_waited_for(painter: Painter) -> None:
    clock = _Clock()
    with clock.running():
        target = much_drawn(painter)
        before = clock.ticks
        painter.calls.finish()
        assert clock.ticks > before
    painter.pool.give_back(target)


@pytest.mark.parametrize("pixel_buffers", [False, True])
def test_other_threads_run_while_a_frame_is_read_back(painter: Painter, pixel_buffers: bool) -> None:
    of, clock = layout(SIDE, SIDE), _Clock()
    ring, into = ReadbackRing(painter, of, 2, pixel_buffers=pixel_buffers), encoder_frame(of)
    picture = painter.pool.take(Region(0, 0, SIDE, SIDE), "f1")
    with clock.running():
        target = much_drawn(painter)
        before = clock.ticks
        ring.put(picture, damage.whole(picture.region), into)
        assert ring.collect() is into
        assert clock.ticks > before
    ring.close()
    painter.pool.give_back(target, picture)


def test_a_fence_is_passed_when_what_came_before_it_is_done(painter: Painter) -> None:
    fences = [(much_drawn(painter), painter.calls.fence()) for _ in range(3)]
    for target, fence in itertools.islice(fences, 2):
        painter.calls.wait_for(fence)
        assert not np.frombuffer(target.framebuffer.read(components=4, dtype="f4"), np.float32).any()
    painter.calls.wait_for(fences[2][1])
    painter.pool.give_back(*(target for target, _ in fences))
