"""A window that plays and scrubs a composition.

Space plays and pauses, left and right step a frame (with Shift a second), Home and End go to the ends, dragging the mouse
scrubs, R reads the file again, Escape closes.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import glfw
import moderngl

import shaders
from gpu_renderer.commands import options
from gpu_renderer.commands.local_job import LocalJob
from gpu_renderer.errors import RenderError
from gpu_renderer.session import OpenDocument, RenderSession
from motion.errors import DocumentError

WINDOW_MAX_PX = 1280


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the document and its inputs."""
    options.add_document_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Show the window until it is closed. Return 1 with a message if there is no display or the document is invalid."""
    job = LocalJob(
        arguments.file, inputs=tuple(dict(arguments.set).items()), output=options.output_of(arguments),
        media=arguments.media, machine=arguments.machine(),
    )  # fmt: skip

    def play() -> None:
        with RenderSession(job.session_options) as session, job.open(session).opened as opened:
            _Window(session, opened, job).run()

    return options.status_of("preview", arguments.file, play)


@dataclass(slots=True)
class Playhead:
    """A position in a composition of `frame_count` frames at `fps` that loops. The caller advances it."""

    frame_count: int
    fps: float
    seconds: float = 0.0
    is_playing: bool = True

    @property
    def frame_index(self) -> int:
        """Return the frame to show."""
        return min(self.frame_count - 1, int(self.seconds * self.fps + 1e-6))

    def advance(self, passed_seconds: float) -> None:
        """Advance by the passed time if the playhead is playing."""
        if self.is_playing:
            self.seconds = (self.seconds + passed_seconds) % (self.frame_count / self.fps)

    def toggle(self) -> None:
        """Play or pause."""
        self.is_playing = not self.is_playing

    def step(self, frames: int) -> None:
        """Pause and move by a number of frames, limited to the ends."""
        self.go_to(self.frame_index + frames)

    def go_to(self, frame_index: int) -> None:
        """Pause at the nearest existing frame."""
        self.is_playing = False
        self.seconds = min(max(frame_index, 0), self.frame_count - 1) / self.fps

    def scrub(self, share: float) -> None:
        """Pause at a share of the duration, 0..1."""
        self.go_to(int(share * self.frame_count))


class NoDisplay(RenderError):
    """There is no display to open a window on."""


class _Window:
    """Window with its own GL context and the playhead. Frames are drawn in the session's context and copied to the window."""

    def __init__(self, session: RenderSession, opened: OpenDocument, job: LocalJob) -> None:
        self._session, self._opened, self._job = session, opened, job
        self._playhead = Playhead(opened.frame_count, opened.fps)
        self._handle = _open_window(opened)
        moderngl.init_context()  # of the window, which is current
        self._context = moderngl.get_context()
        self._program = self._context.program(
            vertex_shader=shaders.source("preview.vert"), fragment_shader=shaders.source("preview.frag")
        )
        self._quad = self._context.vertex_array(self._program, [])
        self._texture = self._context.texture((opened.width, opened.height), 4)
        self._shown_index = -1
        glfw.set_key_callback(self._handle, self._on_key)
        glfw.set_cursor_pos_callback(self._handle, self._on_move)
        glfw.set_mouse_button_callback(
            self._handle, lambda *_: self._on_move(self._handle, *glfw.get_cursor_pos(self._handle))
        )

    def run(self) -> None:
        """Show frames until the window is closed."""
        last = time.perf_counter()
        while not glfw.window_should_close(self._handle):
            now = time.perf_counter()
            self._playhead.advance(now - last)
            last = now
            self._show(self._playhead.frame_index)
            glfw.wait_events_timeout(0.5 / self._playhead.fps if self._playhead.is_playing else 0.1)
        glfw.terminate()

    def _show(self, frame_index: int) -> None:
        if frame_index != self._shown_index:
            pixels = self._session.still(self._opened, frame_index)
            glfw.make_context_current(self._handle)
            self._texture.write(pixels)
            self._shown_index = frame_index
            glfw.set_window_title(self._handle, f"{self._job.file.name}  frame {frame_index}")
        self._context.screen.clear()
        self._context.viewport = fitted(self._texture.size, glfw.get_framebuffer_size(self._handle))
        self._texture.use()
        self._quad.render(moderngl.TRIANGLE_STRIP, vertices=4)
        glfw.swap_buffers(self._handle)

    def _on_key(self, _window: Any, key: int, _code: int, action: int, modifiers: int) -> None:
        if action == glfw.RELEASE:
            return
        stride = round(self._opened.fps) if modifiers & glfw.MOD_SHIFT else 1
        actions: dict[int, Callable[[], None]] = {
            glfw.KEY_SPACE: self._playhead.toggle,
            glfw.KEY_RIGHT: lambda: self._playhead.step(stride),
            glfw.KEY_LEFT: lambda: self._playhead.step(-stride),
            glfw.KEY_HOME: lambda: self._playhead.go_to(0),
            glfw.KEY_END: lambda: self._playhead.go_to(self._opened.frame_count - 1),
            glfw.KEY_R: self._read_again,
            glfw.KEY_ESCAPE: lambda: glfw.set_window_should_close(self._handle, True),
        }
        if (act := actions.get(key)) is not None:
            act()

    def _on_move(self, _window: Any, x: float, _y: float) -> None:
        if glfw.get_mouse_button(self._handle, glfw.MOUSE_BUTTON_LEFT) == glfw.PRESS:
            self._playhead.scrub(x / max(1, glfw.get_window_size(self._handle)[0]))

    def _read_again(self) -> None:
        """Show the changed file. With errors in it, print them and keep the last version that was good."""
        try:
            opened = self._job.open(self._session).opened
        except (DocumentError, RenderError, OSError) as error:
            print(f"preview: {self._job.file}: {error}", file=sys.stderr, flush=True)
            glfw.set_window_title(self._handle, f"{self._job.file.name}  has an error, see the terminal")
            return
        self._opened.close()
        self._opened = opened
        glfw.make_context_current(self._handle)
        self._texture.release()
        self._texture = self._context.texture((opened.width, opened.height), 4)
        self._playhead.frame_count, self._playhead.fps, self._shown_index = opened.frame_count, opened.fps, -1


def fitted(size: tuple[int, int], room: tuple[int, int]) -> tuple[int, int, int, int]:
    """Return x, y, width and height of a picture that is centred in a window and keeps its aspect ratio, in pixels."""
    scale = min(room[0] / size[0], room[1] / size[1])
    width, height = round(size[0] * scale), round(size[1] * scale)
    return (room[0] - width) // 2, (room[1] - height) // 2, width, height


def _open_window(opened: OpenDocument) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not glfw.init():
            raise NoDisplay("there is no display to open a window on; ./farm render writes files instead")
    glfw.window_hint(glfw.CONTEXT_VERSION_MAJOR, 3)
    glfw.window_hint(glfw.CONTEXT_VERSION_MINOR, 3)
    glfw.window_hint(glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE)
    # The session draws with EGL, and a thread cannot change between contexts of EGL and GLX.
    glfw.window_hint(glfw.CONTEXT_CREATION_API, glfw.EGL_CONTEXT_API)
    scale = min(1.0, WINDOW_MAX_PX / max(opened.width, opened.height))
    handle = glfw.create_window(round(opened.width * scale), round(opened.height * scale), "preview", None, None)
    if not handle:
        raise NoDisplay("the display gives no OpenGL 3.3 window")
    glfw.make_context_current(handle)
    return handle
