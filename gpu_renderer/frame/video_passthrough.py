"""A video that fills the frame, under the layers that are drawn over it: only the pixels around those are needed."""

from __future__ import annotations

from collections.abc import Callable

import moderngl
import numpy as np
import numpy.typing as npt

from gpu_renderer.backends.gl.layer_contents import Inks
from gpu_renderer.display_list.graph import Draw, RenderGraph
from gpu_renderer.display_list.paint import Picture
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.damage import area
from gpu_renderer.geometry.region import Parts, Region, around
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target

Shown = Callable[[Region], npt.NDArray[np.uint8]]
"""Footage as it is shown in a part of the frame: uint8 RGBA of shape (rows, columns, 4), encoded sRGB."""
CONVERSION_REACH_PX = 8
"""More than how far beyond a changed pixel samples change, and than what those are computed from."""


def surroundings(frame: Region, above: Parts) -> Parts:
    """All that the samples of the layers above footage depend on, as rectangles that do not overlap."""
    return area(frame, (region.grown(CONVERSION_REACH_PX) for region in above)).parts()


class UnderFootage:
    """Holds the texture that stands in for the lowest layer, of which only some parts are up to date."""

    def __init__(self, painter: Painter, inks: Inks) -> None:
        self._painter, self._inks = painter, inks
        self._target: Target | None = None

    @property
    def kept_count(self) -> int:
        """How many targets it holds."""
        return 0 if self._target is None else 1

    def stand_in(self, graph: RenderGraph) -> None:
        """Takes the place of the lowest layer for this frame, so that nobody asks for all of its pixels."""
        self._give(graph, self._painter.no_picture)

    def step_back(self, graph: RenderGraph) -> None:
        """Lets the lowest layer show itself."""
        self._inks.take_away(_lowest(graph))

    def show(self, graph: RenderGraph, pixels_of: Shown, parts: Parts) -> None:
        """Brings the parts of the lowest layer up to date, which may be drawn then."""
        if self._target is None:
            self._target = self._painter.pool.take(graph.scene.frame, "f1", clear=False)
        needed = around(parts)
        viewport = (needed.x, needed.y, needed.width, needed.height)
        self._target.texture.write(np.ascontiguousarray(pixels_of(needed)), viewport=viewport, alignment=1)
        self._give(graph, self._target.texture)

    def forget(self) -> None:
        """Gives the target back."""
        self._painter.pool.give_back(self._target)
        self._target = None

    def _give(self, graph: RenderGraph, texture: moderngl.Texture) -> None:
        scene = graph.scene
        x, y, width, height = scene.frame
        quad = matrix.product(matrix.translation(x, y), matrix.scaling(width, height))
        self._inks.give(_lowest(graph), scene, Picture(texture, width, height, is_opaque=True), quad)


def _lowest(graph: RenderGraph) -> Draw:
    step = graph.steps[0]
    assert isinstance(step, Draw), "footage is a layer"
    return step
