"""Coordinates of layers as expressions convert them: layer px, composition px and world space (animation.md 4)."""

from __future__ import annotations

from motion.evaluate import space
from motion.evaluate.context import EvaluationContext
from motion.formulas import affine, matrix4
from motion.formulas.matrix4 import Point3
from motion.model.layer import Layer


def to_world(context: EvaluationContext, layer: Layer, point: Point3) -> Point3:
    """Return a point of a layer's own space, px, in the world. Layers in two dimensions lie at z = 0."""
    if layer.is_3d:
        return matrix4.applied(space.world(context, layer), point)
    x, y = affine.applied(context.world(layer), point[0], point[1])
    return x, y, 0.0


def to_composition(context: EvaluationContext, layer: Layer, point: Point3) -> tuple[float, float]:
    """Return the composition px in which a point of a layer's own space is seen; (0, 0) behind the camera."""
    if not layer.is_3d:
        return affine.applied(context.world(layer), point[0], point[1])
    view = space.camera(context) or space.default_camera(context)
    return space.projected(view, context, to_world(context, layer, point)) or (0.0, 0.0)


def from_composition(context: EvaluationContext, layer: Layer, point: tuple[float, float]) -> tuple[float, float]:
    """Return the point of a layer's plane, layer px, that is seen at a point of the composition.

    A plane seen edge-on gives (0, 0).
    """
    if not layer.is_3d:
        return affine.applied(affine.inverse(context.world(layer)), *point)
    view = space.camera(context) or space.default_camera(context)
    m = matrix4.product(view.view, space.world(context, layer))
    u = (point[0] - context.plan.settings.width / 2) / view.focal_length
    v = (point[1] - context.plan.settings.height / 2) / view.focal_length
    a, b, c = m[0] - u * m[8], m[1] - u * m[9], u * m[11] - m[3]
    d, e, f = m[4] - v * m[8], m[5] - v * m[9], v * m[11] - m[7]
    determinant = a * e - b * d
    if abs(determinant) < 1e-12:
        return 0.0, 0.0
    return (c * e - b * f) / determinant, (a * f - c * d) / determinant
