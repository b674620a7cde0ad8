"""Draw hand-made snapshots to arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from gpu_renderer.backends.compositor import RenderedFrame
from gpu_renderer.content.contents import Contents
from gpu_renderer.content.library import MediaLibrary
from gpu_renderer.content.text.families import Fonts
from gpu_renderer.content.text.folders import FontFile
from gpu_renderer.content.vector.surface import Pixels
from gpu_renderer.frame.renderer import FrameRenderer, Optimisations
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target
from motion.snapshot import LayerSnapshot, LinearGradient, ShapeSource, Snapshot, SolidPaint, Transform2D

Picture = npt.NDArray[np.uint8]
UNREAD_FACE = FontFile(Path("unread.ttf"), 0, "Unread", 400, False, (), "0")
"""A face that is never opened: these pictures have no text."""


class Pictures(MediaLibrary):
    """Media by name. No file exists."""

    def __init__(self, **pictures: Pixels) -> None:
        super().__init__(lambda src: None, Fonts([UNREAD_FACE]))
        self._pictures = pictures

    def picture(self, src: str, svg_fill: str | None = None) -> Pixels | None:
        return self._pictures.get(src)


def renderer(
    painter: Painter, options: Optimisations | None = None, contents: Contents | None = None, **pictures: Pixels
) -> FrameRenderer:
    return FrameRenderer(painter, contents or Contents(Fonts([UNREAD_FACE]), Pictures(**pictures)), options)


def pixels(picture: Target | RenderedFrame) -> Picture:
    """Return the target or finished frame as uint8 (rows, columns, 4)."""
    if not isinstance(picture, Target):
        return picture.frame.read()
    width, height = picture.size
    return np.frombuffer(picture.texture.read(), np.uint8).reshape(height, width, 4)


def drawn(
    painter: Painter,
    snapshot: Snapshot,
    size: tuple[int, int] | None = None,
    contents: Contents | None = None,
    options: Optimisations | None = None,
    **pictures: Pixels,
) -> Picture:
    """Draw the snapshot at its own or another size, without text unless contents are given. Assert that all targets
    are released."""
    width, height = size or (round(snapshot.width), round(snapshot.height))
    before = painter.pool.acquired_count
    frames = renderer(painter, options, contents, **pictures)
    picture = pixels(frames.draw(snapshot, width, height)).copy()
    frames.release()
    assert painter.pool.acquired_count == before
    return picture


def snapshot(*layers: LayerSnapshot, width: int = 64, height: int = 48, background: str | None = "#101014") -> Snapshot:
    return Snapshot(width, height, layers, background)


def rect(
    fill: str, x: float, y: float, width: float, height: float, *, id: str = "rect", **more: object
) -> LayerSnapshot:
    """Return a rectangle of one colour, centred at (x, y)."""
    source = ShapeSource("rect", width, height, (SolidPaint(fill),))
    return LayerSnapshot(id, id, source, more.pop("transform", None) or Transform2D(x, y), **more)  # type: ignore[arg-type]


def paper(paint: str | LinearGradient, width: float = 64, height: float = 48, **more: object) -> LayerSnapshot:
    """Return a full-frame layer of the raster route, which has no soft edge like analytic shapes."""
    fill = paint if isinstance(paint, LinearGradient) else gradient(paint, paint)
    source = ShapeSource("rect", width, height, (fill,))
    return LayerSnapshot("paper", "paper", source, Transform2D(width / 2, height / 2), **more)  # type: ignore[arg-type]


def gradient(*colors: str, angle: float = 0.0) -> LinearGradient:
    from motion.snapshot import GradientStop

    last = max(1, len(colors) - 1)
    return LinearGradient(angle, tuple(GradientStop(index / last, color) for index, color in enumerate(colors)))


def is_close(one: Picture, other: Picture) -> bool:
    """Return True if two pictures agree within the tolerance of the golden frames."""
    difference = np.abs(one.astype(int) - other).max(axis=2)
    return bool((difference > 2).mean() <= 0.005)


def at(picture: Picture, x: int, y: int) -> tuple[int, int, int]:
    r, g, b = picture[y, x, :3].tolist()
    return r, g, b
