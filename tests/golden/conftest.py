"""Share the OpenGL context with the renderer's tests."""

from tests.gpu_renderer.conftest import context_painter, painter

__all__ = ["context_painter", "painter"]
