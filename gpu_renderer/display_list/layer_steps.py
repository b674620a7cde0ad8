"""Steps of single layers: flat ones, planes with perspective and depth, and their affine replacements (three-d.md 4)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from gpu_renderer.content.raster import WHOLE, UnitRect
from gpu_renderer.display_list import routing
from gpu_renderer.display_list.graph import Draw, MatteUse, PlacedSample, Plane
from gpu_renderer.display_list.routing import blend_of, routed
from gpu_renderer.display_list.space import camera, extrusion, lights
from gpu_renderer.display_list.space.camera import DEPTH_MIN, Eye
from gpu_renderer.display_list.space.extrusion import Face
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.matrix import Matrix3, Placement
from motion.snapshot import LayerSnapshot, Sample, Snapshot, Source, TextSource, Transform2D, Transform3D

Size = tuple[float, float]
PROJECTED_SCALE_DIGITS = 9
"""Digits to which a projection's scale is rounded, so that a rounding error does not select a finer raster.

For flat layers see layers.md 5.3.
"""


@dataclass(frozen=True)
class LayerSteps:
    """Factory of the steps that draw one layer of a paint list. `compile.py` adds groups, ghosts and mattes."""

    snapshot: Snapshot
    """Composition of the layers."""
    eye: Eye
    """Camera of the composition."""
    view: Matrix3
    """Matrix from composition px to frame px."""
    view_scale: float
    """Same as `Scene.view_scale`."""
    box: Callable[[Source], Size]
    """Function from content to its width and height in layer px, (0, 0) if it has none."""
    opacity: float
    """Opacity of the groups around the list that are not isolated."""

    def flat(self, layer: LayerSnapshot, transform: Transform2D, matte: MatteUse | None = None) -> Draw:
        """Return the step of a layer in two dimensions, with its sub-frames of motion blur."""
        scale = self.view_scale * max(1.0, abs(transform.scale_x), abs(transform.scale_y))
        placed, samples = matrix.placed(transform, self.view), tuple(map(self._sample, layer.samples))
        # Samples carry the opacity. The reference fades them a second time if effects run, a defect (compositing.md 11).
        opacity = 1.0 if samples else layer.opacity * self.opacity
        return Draw(layer, placed, opacity, scale, blend_of(layer), samples, matte=matte)

    def _sample(self, sample: Sample) -> PlacedSample:
        """Return a sub-frame. In space it is drawn without perspective.

        Layers behind the eye are hidden (compositing.md 10).
        """
        transform, opacity = sample.transform, sample.opacity * self.opacity
        if isinstance(transform, Transform2D):
            return PlacedSample(matrix.placed(transform, self.view), opacity)
        if self.eye.depth(transform) < DEPTH_MIN:
            return PlacedSample(matrix.placed(transform.flat, self.view), 0.0)
        return PlacedSample(self._without_perspective(transform), opacity)

    def _without_perspective(self, transform: Transform3D) -> Placement:
        """Return the affine map that replaces a plane's projection."""
        return Placement(matrix.product(self.view, self.eye.affine(transform)))

    def planes(
        self,
        layer: LayerSnapshot,
        transform: Transform3D,
        matte: MatteUse | None,
        *,
        is_matte: bool,
        is_front_alone: bool = False,
    ) -> Iterator[tuple[float, Draw]]:
        """Yield the planes of a 3D layer with their depths: extruded faces first, then the layer or its strips.

        A matte hides the front alone, and takes the faces behind it off the depth buffer too (three-d.md 8). The planes
        of one text share the blur of its depth (text.md 9). `is_matte`: the layer is a track matte of others.
        """
        depth = self.eye.depth(transform)
        if depth < DEPTH_MIN:
            return
        at = depth if transform.sorted_at is None else self.eye.depth_of(transform.sorted_at)
        blurred = camera.defocused(layer, self.snapshot.camera, at)
        front = Face(extrusion.front(routed(blurred, matte), transform), transform, is_wall=False)
        if is_matte:
            yield depth, self._without_depth(front, matte)
            return
        draw = self._plane if matte is None and routing.keeps_depth(layer) else self._without_depth
        if is_front_alone:
            yield depth, draw(front)
            return
        draw_front = draw if matte is None else partial(self._without_depth, matte=matte)
        is_lit = transform.material.accepts_lights and bool(self.snapshot.lights)
        behind = extrusion.faces(blurred, transform, is_lit=is_lit)
        for face in behind:
            face_depth = self.eye.depth(face.transform)
            if face_depth >= DEPTH_MIN:
                yield face_depth, draw(face)
        strips = [] if behind or layer.mesh else self._strips(layer, transform)
        for strip_depth, part in strips:
            strip = camera.defocused(routed(layer, matte), self.snapshot.camera, strip_depth)
            yield strip_depth, draw_front(Face(strip, transform, is_wall=False), part=part)
        if not strips:
            yield depth, draw_front(front)

    def _strips(self, layer: LayerSnapshot, transform: Transform3D) -> list[tuple[float, UnitRect]]:
        """Return the strips of a layer that depth of field blurs by different amounts, with their depths, or none."""
        width, height = self.box(layer.source)
        if min(width, height) <= 0 or (isinstance(layer.source, TextSource) and layer.source.plane):
            return []
        return camera.strips(self.snapshot.camera, transform.matrix, self.eye, width, height)

    def _raster_scale(self, transform: Transform3D) -> float:
        """Return the raster px per layer px of a plane, at its origin."""
        affine = self.eye.affine(transform)
        larger = max(1.0, math.hypot(affine[0], affine[3]), math.hypot(affine[1], affine[4]))
        return self.view_scale * round(larger, PROJECTED_SCALE_DIGITS)

    def _plane(self, face: Face, part: UnitRect = WHOLE) -> Draw:
        """Return a plane drawn with perspective and depth."""
        layer, transform = face.layer, face.transform
        toward, is_one_sided = self.eye.toward, face.is_wall or face.is_back
        plane = Plane(camera.anchored(transform), toward, transform.material, face.gain, is_one_sided)
        placed = Placement(matrix.product(self.view, self.eye.homography(plane.world)))
        opacity, scale = layer.opacity * self.opacity, self._raster_scale(transform)
        return Draw(layer, placed, opacity, scale, blend_of(layer), plane=plane, part=part, is_hard=face.is_wall)

    def _without_depth(self, face: Face, matte: MatteUse | None = None, part: UnitRect = WHOLE) -> Draw:
        """Return the affine replacement of a plane. A strip has the width of its part, about the layer's origin."""
        layer, transform = face.layer, face.transform
        flat, placed = self.flat(layer, transform.flat, matte), self._without_perspective(transform)
        if part != WHOLE and not flat.samples:
            placed = Placement(matrix.boxed(placed.matrix, *part))
        red, green, blue = (face.gain * light for light in lights.gain_at_origin(transform, self.snapshot.lights))
        scale, tint = self._raster_scale(transform), (red, green, blue)
        return replace(flat, raster_scale=scale, placement=placed, tint=tint, part=part, is_hard=face.is_wall)
