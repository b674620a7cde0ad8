"""The one OpenGL context of a test process, and sessions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gpu_renderer.commands.options import FONTS
from gpu_renderer.content.text.folders import FontFolders
from gpu_renderer.opengl.context import create_context
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.session import RenderSession, SessionOptions


@pytest.fixture(scope="session")
def context_painter() -> Painter:
    return Painter(create_context())


@pytest.fixture
def painter(context_painter: Painter) -> Iterator[Painter]:
    """The session's painter; a test must leave no OpenGL error behind.

    Tests of sessions make a context of their own in this process, so this one is made current again.
    """
    with context_painter.context as context:
        assert context.error == "GL_NO_ERROR"
        yield context_painter
        assert context.error == "GL_NO_ERROR"


@pytest.fixture(scope="module")
def session() -> Iterator[RenderSession]:
    """A session with the fonts of this machine."""
    with RenderSession(SessionOptions(fonts=FontFolders(FONTS))) as made:
        yield made
