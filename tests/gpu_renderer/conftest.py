"""The only OpenGL context of a test process, and sessions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gpu_renderer.commands.options import FONTS
from gpu_renderer.content.text.folders import FontFolders
from gpu_renderer.encode.profile import EncoderProfile
from gpu_renderer.opengl.context import create_context
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.session import RenderSession, SessionOptions


@pytest.fixture(scope="session")
def context_painter() -> Painter:
    return Painter(create_context())


@pytest.fixture
def painter(context_painter: Painter) -> Iterator[Painter]:
    """Yield the shared painter, and assert that the test leaves no OpenGL error.

    Tests of sessions create their own context in this process, so this one is made current again.
    """
    with context_painter.context as context:
        assert context.error == "GL_NO_ERROR"
        yield context_painter
        assert context.error == "GL_NO_ERROR"


@pytest.fixture(scope="module")
def session() -> Iterator[RenderSession]:
    """Return a session with this machine's fonts and a quick encoder."""
    encoder = EncoderProfile(codec="libx264", preset="ultrafast", threads=1)
    with RenderSession(SessionOptions(fonts=FontFolders(FONTS), encoder=encoder)) as made:
        yield made
