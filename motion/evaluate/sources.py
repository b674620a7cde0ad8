"""Source of a layer at a time, by the kind of its content, and the mesh of its rig.

Placed compositions are in `frame.py`: they are evaluated like the composition itself.
"""

from __future__ import annotations

from typing import Literal, cast

from motion.evaluate.boxes import box
from motion.evaluate.context import EvaluationContext, Values
from motion.evaluate.media import content_values, media
from motion.evaluate.shapes import frame_box, shape
from motion.evaluate.texts import text
from motion.formulas.particles import animate, particles
from motion.formulas.rigs import Rig, mesh
from motion.formulas.text_animators import WEIGHTS_MAX, weight_count
from motion.model.content import LightContent, MediaContent, ParticleContent, ShapeContent, TextContent
from motion.model.layer import Layer
from motion.snapshot import AdjustmentSource, LightWash, Mesh, MissingSource, ParticleSource, Source

ParticleShape = Literal["circle", "square", "line", "star"]

RIG_PATHS = ("puppet.", "bone.", "ikTarget.", "ikPole.", "ikMode.")
WEIGHTS_A_LAYER = 10
"""Number of weights of text animators that costs as much as a layer."""


def source(context: EvaluationContext, layer: Layer, values: Values) -> Source:
    """Return the layer's source; nothing for content that draws nothing by itself."""
    if layer.is_adjustment:
        return AdjustmentSource(*frame_box(context, values))
    match layer.content:
        case ShapeContent() as content:
            return shape(context, content, values)
        case TextContent() as content:
            context.frame.budget.spend(_posing_cost(content))
            return text(content, values)
        case MediaContent() as content:
            return media(context, content, values)
        case LightContent() as content:
            return _wash(content, values)
        case ParticleContent() as content:
            return _particles(content, values, context.time)
        case _:
            return MissingSource("it draws nothing by itself")


def rig_mesh(context: EvaluationContext, rig: Rig, values: Values) -> Mesh | None:
    """Return the layer's rig at the time of its content (animation.md 8)."""
    layer, shown = values.layer, content_values(context, values)
    moved = shown.moving_below(*RIG_PATHS)
    pin_positions = {path: shown.data(path) for path in layer.data if path.startswith("puppet.")}
    values.add_reads_of(shown)
    return mesh(rig, *box(values), moved, pin_positions)


def _posing_cost(content: TextContent) -> int:
    """Return the cost, in layers, of animating every code point."""
    enabled = any(animator.is_enabled for animator in content.animators)
    weights = len(content.content or "") * weight_count(content.animators)
    return min(weights, WEIGHTS_MAX) // WEIGHTS_A_LAYER if enabled else 0


def _particles(content: ParticleContent, values: Values, time_seconds: float) -> ParticleSource:
    """Return the field at the composition's time: clips, stretching and remaps do not reach it (layers.md 12.2)."""
    values.count_time_as_read()
    moved = values.moving_below("particle.")
    field = animate(content.field, {path.removeprefix("particle."): value for path, value in moved.items()})
    width, height = box(values)
    shape_name = cast(ParticleShape, field.shape if field.shape in {"square", "line", "star"} else "circle")
    shown = particles(field, width, height, max(0.0, time_seconds))
    return ParticleSource(width, height, shape_name, field.blend == "add", shown)


def _wash(content: LightContent, values: Values) -> LightWash:
    return LightWash(
        light=content.light,
        color=content.color,
        radius=max(1.0, values.number("radius", 500.0)),
        angle=values.number("lightAngle", 0.0),
        cone=values.number("lightCone", 45.0),
        cone_feather=min(1.0, max(0.0, values.number("lightConeFeather", 50.0) / 100.0)),
    )
