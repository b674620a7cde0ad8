"""One GL context for all tests of the renderer, and a stand-in for the rasterisers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gpu_renderer.context import create_context
from gpu_renderer.painter import Painter


@pytest.fixture(scope="session")
def painter() -> Iterator[Painter]:
    yield Painter(create_context())
