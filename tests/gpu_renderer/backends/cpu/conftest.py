"""Painter for tests of the native kernels."""

from __future__ import annotations

import pytest

from gpu_renderer.opengl.painter import Painter


@pytest.fixture
def software(painter: Painter) -> Painter:
    if not painter.is_software:
        pytest.skip("kernels composite only where OpenGL runs on the processor")
    return painter
