"""One OpenGL context for the tests of the renderer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gpu_renderer.context import create_context
from gpu_renderer.painter import Painter


@pytest.fixture(scope="session")
def painter() -> Iterator[Painter]:
    """A painter on this process's context."""
    context = create_context()
    yield Painter(context)
    context.release()
