"""A video that fills the frame, under the layers that are drawn over it: only the pixels around those are needed."""

from __future__ import annotations

import numpy as np

from gpu_renderer.area import area
from gpu_renderer.compositing.inks import Inks
from gpu_renderer.compositing.quads import Picture
from gpu_renderer.graph import Draw, RenderGraph
from gpu_renderer.media.video_frame import DecodedFrame
from gpu_renderer.painter import Painter
from gpu_renderer.region import Parts, Region, around
from gpu_renderer.targets import Target

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

    def show(self, graph: RenderGraph, footage: DecodedFrame, parts: Parts) -> None:
        """Makes the lowest layer of the graph show the footage within the parts, for this frame."""
        step, needed = graph.steps[0], around(parts)
        assert isinstance(step, Draw)
        if self._target is None:
            self._target = self._painter.pool.take(graph.scene.frame, "f1", clear=False)
        texture, (width, height) = self._target.texture, footage.size
        texture.write(
            np.ascontiguousarray(footage.pixels_of(needed)),
            viewport=(needed.x, needed.y, needed.width, needed.height),
            alignment=1,
        )
        self._inks.give(step, graph.scene, Picture(texture, width, height, is_opaque=True))

    def forget(self) -> None:
        """Gives the target back."""
        self._painter.pool.give_back(self._target)
        self._target = None
