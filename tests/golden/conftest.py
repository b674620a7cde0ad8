"""The same OpenGL context as the renderer's own tests have."""

from tests.gpu_renderer.conftest import context_painter, painter

__all__ = ["context_painter", "painter"]
