"""Lower layers that moved: rows of arrays for a run of them, operations of their own for a few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from gpu_renderer.display_list import bounds, quad_rows, shape_route
from gpu_renderer.display_list.graph import Draw, MovedLayer, Scene
from gpu_renderer.display_list.layer_contents import LayerContents
from gpu_renderer.display_list.layer_records import PaintKey
from gpu_renderer.display_list.operations import DrawMoved, DrawQuad, Layer
from gpu_renderer.display_list.paint import Paint
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.region import around
from gpu_renderer.kernels.loading import kernels
from gpu_renderer.kernels.places import PlaceKernels

RUN_MIN = 12
"""Number of layers from which one operation for all of them is faster."""


@dataclass(frozen=True, slots=True)
class MovedLowering:
    """Lowering of neighbouring layers that moved, with one view."""

    scene: Scene
    contents: LayerContents

    def operations(self, layers: Sequence[MovedLayer]) -> Sequence[DrawMoved | DrawQuad]:
        """Return the operations of the layers that touch the frame."""
        moving = len(layers) - sum([layer.is_new for layer in layers])
        native = kernels() if moving >= RUN_MIN and not self.scene.is_aces_cg else None
        found = None if native is None else self._run(native.places, layers)
        return self._single(layers) if found is None else found

    def _run(self, native: PlaceKernels, layers: Sequence[MovedLayer]) -> Sequence[DrawMoved] | None:
        """Return one operation for all layers, none if all are outside the frame, or None if they need operations of their own."""
        transforms = [layer.transform for layer in layers]
        numbers = quad_rows.numbers_of(transforms)
        maps = quad_rows.placed(native, numbers, transforms, layers[0].view)
        scales = self.scene.view_scale * np.maximum(1.0, np.abs(numbers[:, 3:5]).max(axis=1))
        wanted = zip(layers, scales.tolist(), quad_rows.is_turned(maps).tolist(), strict=True)
        paints = [self._paint(layer, scale, is_turned) for layer, scale, is_turned in wanted]
        painted = [at for at, paint in enumerate(paints) if paint is not None]
        shown = [paint for paint in paints if paint is not None]
        if not shown:
            return ()
        found = quad_rows.quads(native, maps if len(shown) == len(paints) else maps[painted], shown, self.scene)
        if found is None:
            return None
        rows, regions, visible = found
        if not visible:
            return ()
        chosen = [painted[at] for at in visible]
        drawn, paints_drawn = tuple([layers[at] for at in chosen]), tuple([shown[at] for at in visible])
        opacities = np.array([[layer.opacity for layer in drawn]])
        places = np.concatenate((numbers[chosen].T, opacities))
        return (DrawMoved(drawn, paints_drawn, places, rows, regions, around(regions), partial(self._single, drawn)),)

    def _single(self, layers: Sequence[MovedLayer]) -> Sequence[DrawQuad]:
        return [operation for layer in layers if (operation := self._alone(layer)) is not None]

    def _alone(self, moved: MovedLayer) -> DrawQuad | None:
        step = self._step(moved)
        paint = self._paint(moved, step.raster_scale, shape_route.is_turned(step))
        layer = bounds.bounded(Layer(step, self.scene, self.contents.box(step.layer), paint, None, None))
        return None if bounds.is_culled(layer) else DrawQuad(layer, layer.bounds)

    def _paint(self, moved: MovedLayer, raster_scale: float, is_turned: bool) -> Paint | None:
        wanted = PaintKey(raster_scale, is_turned, moved.is_exact, self.scene.is_aces_cg)
        return self.contents.moved_paint(moved, wanted, partial(self._step, moved), self.scene)

    def _step(self, moved: MovedLayer) -> Draw:
        """Return the step of one layer."""
        transform = moved.transform
        scale = self.scene.view_scale * max(1.0, abs(transform.scale_x), abs(transform.scale_y))
        placed = matrix.placed(transform, moved.view)
        return Draw(moved.layer, placed, moved.opacity, scale, is_exact=moved.is_exact)
