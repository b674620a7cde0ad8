"""Painter for tests of the native kernels."""

from __future__ import annotations

import pytest

from gpu_renderer.opengl.painter import Painter


@pytest.fixture
def software(painter: Painter) -> Painter:
    if not painter.is_software:
        pytest.skip("kernels composite only where OpenGL runs on the processor")
    return painter


@pytest.fixture
def shaders_drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect the names of the shaders that run, in order."""
    found: list[str] = []
    draw = Painter.draw

    def noted(painter: Painter, shader: object, *args: object, **more: object) -> None:
        found.append(str(shader))
        draw(painter, shader, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Painter, "draw", noted)
    return found
