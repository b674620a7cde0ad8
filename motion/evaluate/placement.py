"""Placement of a layer: its decomposed world transform, or its place in space (layers.md 3, three-d.md 2)."""

from __future__ import annotations

import math
from dataclasses import replace

from motion.evaluate import space
from motion.evaluate.boxes import is_pinned
from motion.evaluate.clone_places import clone_at
from motion.evaluate.context import EvaluationContext, Values
from motion.evaluate.shapes import boolean_outline
from motion.formulas import affine, matrix4
from motion.formulas.affine import Parts
from motion.formulas.cloner import Clone
from motion.formulas.matrix4 import Point3
from motion.model.content import InstanceContent, LightContent
from motion.model.layer import Layer
from motion.snapshot import Extrusion, Matrix4, Transform2D, Transform3D

HEADING_SECONDS = 1 / 120
PLAIN_KINDS = frozenset({"group", "null", "camera", "light", "audio", "particle", "comp"})
"""Kinds of layers that never turn along their path."""
_LEANING = frozenset(("skew", "skewAxis", "anchorX", "anchorY"))


def transform(context: EvaluationContext, layer: Layer) -> Transform2D | Transform3D:
    """Return the layer's placement at this moment."""
    values = context.values(layer)
    if is_pinned(layer):
        return replace(centred(context), corner_pin=layer.corner_pin)
    if isinstance(layer.content, LightContent):
        return _of_light(context, layer, layer.content)
    flat = _flat(context, layer, values)
    return _deep(context, layer, values, flat) if layer.is_3d else flat


def centred(context: EvaluationContext) -> Transform2D:
    """Return the middle of the composition: where units and pinned solids lie."""
    return Transform2D(context.plan.settings.width / 2, context.plan.settings.height / 2)


def _flat(context: EvaluationContext, layer: Layer, values: Values) -> Transform2D:
    combined = boolean_outline(context, layer)
    if combined is not None:
        parts = Parts(combined.x, combined.y, 0.0, 1.0, 1.0)
    else:
        parts = _cloned(affine.decomposed(context.world(layer)), clone_at(context, layer))
        heading = _heading(context, layer, values, parts.rotation)
        if heading != parts.rotation:
            parts = parts._replace(rotation=heading)
    if isinstance(layer.content, InstanceContent):
        return centred(context) if layer.content.fills_host else Transform2D(*parts)
    if _LEANING.isdisjoint(layer.moving) and _LEANING.isdisjoint(layer.numbers):
        return Transform2D(*parts, corner_pin=layer.corner_pin)
    return Transform2D(
        *parts,
        skew=values.number("skew", 0.0) if combined is None else 0.0,
        skew_axis=values.number("skewAxis", 0.0) if combined is None else 0.0,
        anchor_x=values.number("anchorX", 0.0),
        anchor_y=values.number("anchorY", 0.0),
        corner_pin=layer.corner_pin,
    )


def _cloned(parts: Parts, clone: Clone | None) -> Parts:
    """Add a clone's offset to the resolved transform, in composition axes."""
    if clone is None:
        return parts
    return Parts(
        parts.x + clone.x,
        parts.y + clone.y,
        parts.rotation + clone.rotation,
        parts.scale_x * clone.scale,
        parts.scale_y * clone.scale,
    )


def _heading(context: EvaluationContext, layer: Layer, values: Values, rotation: float) -> float:
    """Return the direction of motion of a layer that turns along its path, which replaces all rotation; else the
    rotation.
    """
    if layer.auto_orient != "path" or layer.is_3d or layer.kind in PLAIN_KINDS:
        return rotation
    later = context.values_at(layer, values.time + HEADING_SECONDS)
    dx = later.number("x", 0.0) - values.number("x", 0.0)
    dy = later.number("y", 0.0) - values.number("y", 0.0)
    return rotation if dx == 0.0 and dy == 0.0 else math.degrees(math.atan2(dy, dx))


def _deep(context: EvaluationContext, layer: Layer, values: Values, flat: Transform2D) -> Transform2D | Transform3D:
    """Return the layer's place in space, where clones lie exactly on top of each other (layers.md 12.1)."""
    matrix = space.world(context, layer, space.facing_turn(context, layer))
    if not matrix4.is_finite(matrix):
        return Transform2D(*affine.NOWHERE)
    return Transform3D(
        matrix=matrix,
        anchor_x=flat.anchor_x,
        anchor_y=flat.anchor_y,
        flat=flat,
        material=layer.material,
        extrusion=_extrusion(layer, values),
        lit_at=_lit_at(context, layer, values, matrix),
    )


def _lit_at(context: EvaluationContext, layer: Layer, values: Values, matrix: Matrix4) -> Point3 | None:
    """Return the layer's own x, y and z, composed with its parents as a flat layer, None at the matrix's origin."""
    x, y = context.world(layer)[4:]
    place = (x, y, values.number("z", 0.0))
    is_usual = place == (matrix[3], matrix[7], matrix[11]) or not all(map(math.isfinite, place))
    return None if is_usual or not layer.material.accepts_lights else place


def _extrusion(layer: Layer, values: Values) -> Extrusion | None:
    depth = min(1000.0, values.number("extrusionDepth", 0.0))
    if depth <= 0:
        return None
    bevel = min(200.0, max(0.0, values.number("bevelDepth", 0.0)))
    faces = layer.face_materials
    return Extrusion(
        depth,
        bevel,
        _face_fill(faces.get("side")),
        _face_fill(faces.get("bevel")),
        _face_fill(faces.get("back")),
        _face_gain(faces.get("side"), 0.72),
        _face_gain(faces.get("bevel"), 0.72),
        _face_gain(faces.get("back"), 0.55),
    )


def _face(stored: object) -> dict[str, object]:
    return (
        dict(stored)
        if isinstance(stored, tuple) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in stored)
        else {}
    )


def _face_fill(stored: object) -> str | None:
    fill = _face(stored).get("fill")
    return fill if isinstance(fill, str) and fill else None


def _face_gain(stored: object, default: float) -> float:
    """Return the factor on the colour of a body's face. An explicit fill is used unchanged (three-d.md 8)."""
    if _face_fill(stored) is not None:
        return 1.0
    gain = _face(stored).get("gain")
    return float(gain) if isinstance(gain, int | float) and not isinstance(gain, bool) else default


def _of_light(context: EvaluationContext, layer: Layer, content: LightContent) -> Transform2D:
    """Return the centre of a light's glow: its place in the picture, or the composition's centre for an ambient light."""
    if content.light == "ambient":
        return centred(context)
    view = space.camera(context) or space.default_camera(context)
    seen = space.projected(view, context, space.light_position(context, layer))
    return Transform2D(*affine.NOWHERE) if seen is None else Transform2D(*seen)
