"""Camera: projection, painter's order by depth, and the blur of depth of field (three-d.md 3, 4 and 7)."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from gpu_renderer.content.raster import UnitRect
from gpu_renderer.display_list.graph import Draw, Step
from gpu_renderer.effects import DEFOCUS_ID
from gpu_renderer.geometry.matrix import Matrix3
from motion.formulas.matrix4 import Point3, applied, default_focal_length, product
from motion.snapshot import AdjustmentSource, Camera, EffectSnapshot, LayerSnapshot, Matrix4, Snapshot, Transform3D

DEPTH_MIN = 1.0
"""Smallest depth of a layer's origin. Nearer layers are not drawn."""
ORIGIN: Point3 = (0.0, 0.0, 0.0)
BLUR_PX_MIN = 0.3
STRIPS_FROM_PX = 1.25
"""Smallest difference of the corners' blurs, px, that divides a layer into strips."""
STRIP_PX, STRIPS_MIN, STRIPS_MAX = 2.0, 2, 8
Placed = tuple[float, Step | None]
"""A step and its depth in space."""


@dataclass(frozen=True, slots=True)
class Eye:
    """View of a composition: world-to-view matrix, focal length px, principal point, eye position in world px."""

    view: Matrix4
    focal_length: float
    center_x: float
    center_y: float
    position: Point3

    @property
    def toward(self) -> tuple[float, float, float, float]:
        """Row of the view matrix that gives the depth of a world point."""
        return self.view[8], self.view[9], self.view[10], self.view[11]

    def depth(self, transform: Transform3D) -> float:
        """Return the depth of the layer's origin in front of the eye, px."""
        return self.depth_of(applied(transform.matrix, ORIGIN))

    def depth_of(self, point: Point3) -> float:
        """Return the depth of a world point in front of the eye, px."""
        return applied(self.view, point)[2]

    def homography(self, world: Matrix4) -> Matrix3:
        """Return the matrix from a layer's plane z = 0, layer px, to composition px. The third row is the depth."""
        v = product(self.view, world)
        f, cx, cy = self.focal_length, self.center_x, self.center_y
        return (
            f * v[0] + cx * v[8], f * v[1] + cx * v[9], f * v[3] + cx * v[11],
            f * v[4] + cy * v[8], f * v[5] + cy * v[9], f * v[7] + cy * v[11],
            v[8], v[9], v[11],
        )  # fmt: skip

    def affine(self, transform: Transform3D) -> Matrix3:
        """Return the affine replacement of a projection: differences of projected origin and unit axes (three-d.md 4)."""
        m = transform.matrix
        (ox, oy), (ax, ay), (bx, by) = (
            self._projected(applied(m, p)) for p in (ORIGIN, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
        )
        a, b, c, d = ax - ox, bx - ox, ay - oy, by - oy
        x, y = transform.anchor_x, transform.anchor_y
        return (a, b, ox - a * x - b * y, c, d, oy - c * x - d * y, 0.0, 0.0, 1.0)

    def _projected(self, point: Point3) -> tuple[float, float]:
        """Return the projection of a world point, composition px."""
        x, y, z = applied(self.view, point)
        return self.center_x + self.focal_length * x / z, self.center_y + self.focal_length * y / z


def eye(snapshot: Snapshot) -> Eye:
    """Return the active camera's eye, or the default one in front of the composition's centre."""
    x, y = snapshot.width / 2, snapshot.height / 2
    camera = snapshot.camera
    if camera is not None:
        return Eye(camera.view, camera.focal_length, x, y, camera.eye)
    focal_length = default_focal_length(snapshot.width)
    view = (1, 0, 0, -x, 0, 1, 0, -y, 0, 0, 1, focal_length, 0, 0, 0, 1)
    return Eye(view, focal_length, x, y, (x, y, -focal_length))


def anchored(transform: Transform3D) -> Matrix4:
    """Return the matrix from layer px (origin at the box centre) to world px, with the anchor's x and y (three-d.md 2)."""
    m, x, y = transform.matrix, transform.anchor_x, transform.anchor_y
    moved = [m[4 * row + 3] - m[4 * row] * x - m[4 * row + 1] * y for row in range(3)]
    return (*m[0:3], moved[0], *m[4:7], moved[1], *m[8:11], moved[2], *m[12:16])


def depth_sorted(
    layers: Sequence[LayerSnapshot],
    steps: Callable[[LayerSnapshot], Iterable[Placed]],
    barriers: Container[str | None],
) -> Iterator[Step | None]:
    """Yield the steps of layers, farthest first within each run of 3D layers. Other layers keep their places.

    `barriers`: ids of 3D layers that end a run, as flat layers do. If such a layer draws nothing, the function yields
    None. A matted layer keeps its place, and its body is sorted with the layers before it (three-d.md 4 and 8).
    """
    if not any(isinstance(layer.transform, Transform3D) for layer in layers):
        yield from [step for layer in layers for _, step in steps(layer)]
        return
    run: list[Placed] = []
    for layer in layers:
        placed, in_space = list(steps(layer)), isinstance(layer.transform, Transform3D)
        is_kept = layer.matte is not None or isinstance(layer.source, AdjustmentSource) or layer.id in barriers
        if in_space and not is_kept:
            run += placed
            continue
        has_body = in_space and layer.matte is not None and not layer.ghosts
        run += [one for one in placed if has_body and _is_unmatted(one[1])]
        yield from _farthest_first(run)
        run = []
        kept: list[Step | None] = [step for _, step in placed if not (has_body and _is_unmatted(step))]
        yield from kept or [None]
    yield from _farthest_first(run)


def _is_unmatted(step: Step | None) -> bool:
    return isinstance(step, Draw) and step.matte is None


def _farthest_first(run: Sequence[Placed]) -> Iterator[Step | None]:
    yield from (step for _, step in sorted(run, key=lambda one: -one[0]))


def blur_px(camera: Camera | None, depth: float) -> float:
    """Return the blur of a layer at a depth, px rounded to a tenth, 0 in focus."""
    blur = _blur_px(camera, depth)
    return 0.0 if blur < BLUR_PX_MIN else math.floor(blur * 10 + 0.5) / 10


def defocused(layer: LayerSnapshot, camera: Camera | None, depth: float) -> LayerSnapshot:
    """Return the layer with the blur of its depth as its last effect, or unchanged if it is in focus."""
    blur = blur_px(camera, depth)
    if not blur:
        return layer
    return replace(layer, effects=(*layer.effects, EffectSnapshot(DEFOCUS_ID, "blur", (("amount", blur),))))


def strips(camera: Camera | None, m: Matrix4, eye: Eye, width: float, height: float) -> list[tuple[float, UnitRect]]:
    """Return depths and parts of a layer's strips, or none if its blur hardly varies.

    As in the reference, the anchor is ignored.
    """
    if camera is None or not camera.depth_of_field:
        return []
    corners = [eye.depth_of(applied(m, (x * width / 2, y * height / 2, 0.0))) for y in (-1, 1) for x in (-1, 1)]
    blurs = [_blur_px(camera, depth) for depth in corners]
    spread = max(blurs) - min(blurs)
    if min(corners) <= 0 or spread < STRIPS_FROM_PX:
        return []
    count = min(STRIPS_MAX, max(STRIPS_MIN, math.ceil(spread / STRIP_PX)))
    top_left, top_right, bottom_left, bottom_right = corners
    left, right = (top_left + bottom_left) / 2, (top_right + bottom_right) / 2
    top, bottom = (top_left + top_right) / 2, (bottom_left + bottom_right) / 2
    is_across = abs(right - left) >= abs(bottom - top)
    first, last = (left, right) if is_across else (top, bottom)
    share, starts = 1.0 / count, [index / count for index in range(count)]
    parts = [(start, 0.0, share, 1.0) if is_across else (0.0, start, 1.0, share) for start in starts]
    return [(first + (last - first) * (start + share / 2), part) for start, part in zip(starts, parts, strict=True)]


def _blur_px(camera: Camera | None, depth: float) -> float:
    """Return the circle of confusion, px: by the lens equation if there is an f-stop, else in proportion to the defocus."""
    if camera is None or not camera.depth_of_field or camera.strength <= 0:
        return 0.0
    off, focus, lens = abs(depth - camera.focus_distance), camera.focus_distance, camera.lens_px
    if camera.f_stop <= 0:
        return min(camera.strength, off / max(1.0, focus) * camera.aperture)
    if focus <= lens or depth <= 0:
        return camera.strength
    return min(camera.strength, lens / camera.f_stop * lens * off / (depth * (focus - lens)))
