"""Inks by the very source that they were made of: most layers move, and show the same from frame to frame."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_renderer.content.raster import Raster
from gpu_renderer.display_list.graph import Draw, Scene
from gpu_renderer.display_list.paint import Analytic, Picture
from motion.snapshot import ColorManagement, ShapeSource, Source, TextSource


@dataclass(frozen=True, slots=True)
class Made:
    """An ink, of a raster where it is a picture."""

    ink: Analytic | Picture
    raster: Raster | None
    source: Source
    raster_scale: float
    is_continuous: bool
    is_draft: bool
    color: ColorManagement


class SourceInks:
    """The inks of bare steps that this frame and the last one asked for."""

    def __init__(self) -> None:
        self._now: dict[int, Made] = {}
        self._before: dict[int, Made] = {}

    def find(self, step: Draw, scene: Scene) -> Made | None:
        """What was made of the step's source, if nothing else that counts is another one now."""
        layer = step.layer
        key = id(layer.source)
        made = self._now.get(key) or self._before.get(key)
        if made is None or made.source is not layer.source or made.raster_scale != step.raster_scale:
            return None
        if (made.is_continuous, made.is_draft) != (layer.continuous_raster, layer.draft_quality):
            return None
        if made.color is not scene.color and made.color != scene.color:
            return None
        self._now[key] = made
        return made

    def put(self, step: Draw, scene: Scene, ink: Analytic | Picture, raster: Raster | None) -> None:
        """Remembers the ink until the end of the next frame, and longer while it is asked for."""
        layer = step.layer
        if isinstance(layer.source, (ShapeSource, TextSource)):
            self._now[id(layer.source)] = Made(
                ink, raster, layer.source, step.raster_scale, layer.continuous_raster, layer.draft_quality, scene.color
            )

    def end_frame(self) -> None:
        """Forgets what this frame did not ask for."""
        self._before, self._now = self._now, {}
