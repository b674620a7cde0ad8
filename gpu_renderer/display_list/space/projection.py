"""Camera: from world pixels to composition pixels, painter's order by depth (format/three-d.md 3, 4)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

from gpu_renderer.geometry.matrix import Matrix3
from motion.snapshot import AdjustmentSource, LayerSnapshot, Matrix4, Snapshot, Transform3D

FIELD_OF_VIEW_DEGREES = 39.6
DEPTH_MIN = 1.0
"""Least depth of a layer's origin. Nearer layers are not drawn."""

Point3 = tuple[float, float, float]
Step = TypeVar("Step")


@dataclass(frozen=True, slots=True)
class Eye:
    """View of a composition: world-to-view matrix, focal length px, principal point, eye position in world px."""

    view: Matrix4
    focal_length: float
    center_x: float
    center_y: float
    position: Point3


def eye(snapshot: Snapshot) -> Eye:
    """Return the active camera's eye, or the default one in front of the composition's centre."""
    x, y = snapshot.width / 2, snapshot.height / 2
    camera = snapshot.camera
    if camera is not None:
        return Eye(camera.view, camera.focal_length, x, y, camera.eye)
    focal_length = x / math.tan(math.radians(FIELD_OF_VIEW_DEGREES / 2))
    view = (1, 0, 0, -x, 0, 1, 0, -y, 0, 0, 1, focal_length, 0, 0, 0, 1)
    return Eye(view, focal_length, x, y, (x, y, -focal_length))


def transformed(m: Matrix4, p: Point3) -> Point3:
    """Return the image of a point under an affine 4x4 matrix."""
    x, y, z = p
    return (
        m[0] * x + m[1] * y + m[2] * z + m[3],
        m[4] * x + m[5] * y + m[6] * z + m[7],
        m[8] * x + m[9] * y + m[10] * z + m[11],
    )


def times(p: Matrix4, q: Matrix4) -> Matrix4:
    """Return the product of two 4x4 matrices."""
    return tuple(sum(p[4 * row + k] * q[4 * k + column] for k in range(4)) for row in range(4) for column in range(4))  # type: ignore[return-value]


def depth(transform: Transform3D, eye: Eye) -> float:
    """Return the depth of the layer's origin in front of the eye, px."""
    return transformed(eye.view, _origin(transform.matrix))[2]


def sorted_depth(transform: Transform3D, eye: Eye) -> float:
    """Return the depth that gives the paint order: the layer's own, or one shared with other layers."""
    return depth(transform, eye) if transform.sorted_at is None else transformed(eye.view, transform.sorted_at)[2]


def anchored(transform: Transform3D) -> Matrix4:
    """Return the matrix from layer px (origin at the box centre) to world px.

    It includes the anchor's x and y (three-d.md 2).
    """
    m, x, y = transform.matrix, transform.anchor_x, transform.anchor_y
    moved = [m[4 * row + 3] - m[4 * row] * x - m[4 * row + 1] * y for row in range(3)]
    return (*m[0:3], moved[0], *m[4:7], moved[1], *m[8:11], moved[2], *m[12:16])


def homography(world: Matrix4, eye: Eye) -> Matrix3:
    """Return the matrix from the layer's plane z = 0, layer px, to composition px. The third row is the depth."""
    v = times(eye.view, world)
    f, cx, cy = eye.focal_length, eye.center_x, eye.center_y
    across, down, away = (v[0], v[1], v[3]), (v[4], v[5], v[7]), (v[8], v[9], v[11])
    top = tuple(f * a + cx * c for a, c in zip(across, away, strict=True))
    middle = tuple(f * b + cy * c for b, c in zip(down, away, strict=True))
    return (*top, *middle, *away)  # type: ignore[return-value]


def projected(eye: Eye, point: Point3) -> tuple[float, float]:
    """Return the projection of a world point, composition px."""
    x, y, z = transformed(eye.view, point)
    return eye.center_x + eye.focal_length * x / z, eye.center_y + eye.focal_length * y / z


def affine(transform: Transform3D, eye: Eye) -> Matrix3:
    """Return the affine replacement of a projection: differences of projected origin and unit axes (three-d.md 4)."""
    m = transform.matrix
    ox, oy = projected(eye, _origin(m))
    ax, ay = projected(eye, transformed(m, (1.0, 0.0, 0.0)))
    bx, by = projected(eye, transformed(m, (0.0, 1.0, 0.0)))
    a, b, c, d = ax - ox, bx - ox, ay - oy, by - oy
    x, y = transform.anchor_x, transform.anchor_y
    return (a, b, ox - a * x - b * y, c, d, oy - c * x - d * y, 0.0, 0.0, 1.0)


def depth_sorted(
    layers: Iterable[LayerSnapshot], steps: Callable[[LayerSnapshot], Iterable[tuple[float, Step]]]
) -> Iterator[Step]:
    """Yield the steps of layers, farthest first within each run of 3D layers.

    Every other layer is a barrier that keeps its place.
    """
    listed = list(layers)
    sources = {layer.matte.source_id for layer in listed if layer.matte}

    def moves(layer: LayerSnapshot) -> bool:
        kept = layer.matte is not None or layer.id in sources or isinstance(layer.source, AdjustmentSource)
        return isinstance(layer.transform, Transform3D) and not kept

    for is_sortable, run in groupby(listed, moves):
        placed = [one for layer in run for one in steps(layer)]
        yield from (step for _, step in (sorted(placed, key=lambda one: -one[0]) if is_sortable else placed))


def _origin(m: Matrix4) -> Point3:
    return m[3], m[7], m[11]
