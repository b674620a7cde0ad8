"""Frames finished in main memory equal those of the shader."""

from __future__ import annotations

import itertools
from typing import Literal

import numpy as np
import pytest

from gpu_renderer.backends.cpu.frame import CpuFrame
from gpu_renderer.backends.gl.compositor import DisplayEncoding, blit
from gpu_renderer.geometry.region import Rects, Region
from gpu_renderer.kernels.loading import kernels
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import ColorManagement

pytestmark = pytest.mark.gl
FRAME = Region(0, 0, 301, 77)
PARTS: Rects = (Region(0, 0, 7, 77), Region(30, 5, 200, 41), Region(250, 60, 51, 17))
PENDING: Rects = (Region(100, 10, 60, 20), Region(250, 60, 8, 8))
SPACES: tuple[Literal["srgb-linear", "aces-cg"], ...] = ("srgb-linear", "aces-cg")
DISPLAYS: tuple[Literal["srgb", "aces", "pq", "hlg"], ...] = ("srgb", "aces", "pq", "hlg")
COLORS = [ColorManagement(space, display) for space, display in itertools.product(SPACES, DISPLAYS)]


@pytest.mark.parametrize("color", COLORS, ids=lambda color: f"{color.working_space} {color.display_transform}")
@pytest.mark.parametrize("is_opaque", [True, False], ids=["opaque", "with alpha"])
@pytest.mark.parametrize("format", ["f2", "f4"])
def test_every_way_of_display_gives_the_bytes_of_the_shader(
    painter: Painter, color: ColorManagement, is_opaque: bool, format: str
) -> None:
    native = kernels()
    if native is None:
        pytest.skip("no C compiler")
    rng = np.random.default_rng(2)
    values = rng.uniform(-0.2, 1.4, (FRAME.height, FRAME.width, 4)) ** rng.integers(1, 5, (1, FRAME.width, 1))
    values[..., 3] = 1.0 if is_opaque else rng.uniform(0, 1, values.shape[:2])
    with painter.pool.acquired(FRAME, format) as scene:  # type: ignore[arg-type]
        scene.texture.write(values.astype(np.float16 if format == "f2" else np.float32).tobytes(), alignment=1)
        gpu, host = painter.pool.take(FRAME, "f1"), CpuFrame(painter, native, FRAME)
        encoding = DisplayEncoding(color, is_opaque=is_opaque)
        blit(painter, scene, gpu, encoding, PARTS, PENDING)
        host.encode(scene, encoding, PARTS, PENDING)
        shown = host.read()
        assert np.array_equal(shown, gpu.read())
        assert np.array_equal(np.unique(shown[30:46, 30:230, 3]), [255])
        assert not shown[50:60, 7:].any(), "only the parts are shown"
        painter.pool.give_back(gpu)
