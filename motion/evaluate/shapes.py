"""Shapes at a time: outline, path operators, live booleans (layers.md 4 and 8)."""

from __future__ import annotations

from motion.evaluate import audio_analysis
from motion.evaluate.boxes import box, is_pinned, radii
from motion.evaluate.context import EvaluationContext, Values
from motion.evaluate.painting import fills, strokes
from motion.formulas import affine, booleans, path_ops
from motion.formulas.booleans import CombinedOutline
from motion.formulas.data_keyframes import outline_points
from motion.formulas.outline import corner_run, rectangle
from motion.formulas.outline_growth import DataPoint
from motion.formulas.path_ops import PathOperator
from motion.model.content import ShapeContent, WaveformSettings
from motion.model.layer import Layer
from motion.snapshot import MissingSource, Run, ShapeSource

OPERANDS_MAX = 256
EDGE_PAIRS_A_LAYER = 1_600
"""Number of pairs of edges whose intersection test costs as much as a layer."""
NOISY_OPERATORS = frozenset({"roughen", "wiggleTransform"})


def shape(context: EvaluationContext, content: ShapeContent, values: Values) -> ShapeSource | MissingSource:
    """Return the shape's source. A live boolean replaces its outline."""
    width, height = frame_box(context, values)
    runs = outline(content, values)
    if content.waveform is not None:
        heard = _waveform(context, content.waveform, values, (width, height))
        if heard is None:
            return MissingSource("its sound cannot be read")
        runs = (heard,)
    combined = boolean_outline(context, values.layer)
    if combined is not None:
        width, height, runs = combined.width, combined.height, (combined.run,)
    primitive = "path" if runs else content.primitive
    is_bare_path = primitive == "path" and not runs
    operators = _operators(content, values)
    time = values.time if any(operator.type in NOISY_OPERATORS for operator in operators) else 0.0
    chain = path_ops.apply(operators, "rect" if is_bare_path else primitive, width, height, runs, time)
    if chain is not None and not chain.runs:
        return MissingSource("its path operators leave nothing")
    if chain is not None:
        primitive, runs, width, height = "path", chain.runs, chain.width, chain.height
    elif is_bare_path:
        runs = (corner_run(rectangle(width, height)),)
    return ShapeSource(
        primitive=primitive,
        width=width,
        height=height,
        fills=fills(content, values),
        strokes=strokes(content, values),
        radii=radii(values, width, height) if primitive == "rect" else (0.0, 0.0, 0.0, 0.0),
        runs=runs,
        painted_apart=chain is not None and chain.painted_apart,
        brush_strokes=content.brush_strokes,
        is_solid=content.is_solid,
    )


def _waveform(
    context: EvaluationContext, settings: WaveformSettings, values: Values, size: tuple[float, float]
) -> Run | None:
    time = 0.0 if settings.window_seconds is None else values.time
    return audio_analysis.waveform(context.frame.composition, context.frame.sounds, settings, size, time)


def outline(content: ShapeContent, values: Values) -> tuple[Run, ...]:
    """Return the runs of a path, stored or animated; none for a rectangle or an ellipse."""
    points = values.data("path.points")
    if isinstance(points, tuple) and len(points) >= 2:
        return (Run(outline_points([point for point in points if isinstance(point, DataPoint)]), content.closed),)
    return content.runs


def boolean_outline(context: EvaluationContext, layer: Layer) -> CombinedOutline | None:
    """Return the outline of a live boolean at this time, or None if it has none."""
    content = layer.content
    if not isinstance(content, ShapeContent) or content.boolean_operation is None:
        return None
    if layer.id not in context.combined:
        context.combined[layer.id] = _combined(context, layer, content, content.boolean_operation)
    return context.combined[layer.id]


def _combined(
    context: EvaluationContext, layer: Layer, content: ShapeContent, operation: booleans.Operation
) -> CombinedOutline | None:
    operands = []
    for source_id in content.boolean_sources[:OPERANDS_MAX]:
        source = context.plan.layers.get(source_id)
        if source is not None and source is not layer and isinstance(source.content, ShapeContent):
            rings = _operand(context, source, source.content)
            operands.extend([] if rings is None else [rings])
    edges = sum(len(ring) for rings in operands for ring in rings)
    context.frame.budget.spend(min(edges, booleans.EDGES_MAX) ** 2 // EDGE_PAIRS_A_LAYER)
    return booleans.combine(operation, operands)


def _operand(context: EvaluationContext, layer: Layer, content: ShapeContent) -> booleans.Rings | None:
    values = context.values(layer)
    width, height = box(values)
    runs = outline(content, values)
    world = affine.placed(*affine.decomposed(context.world(layer)))
    return booleans.operand("path" if runs else content.primitive, width, height, runs, world)


def frame_box(context: EvaluationContext, values: Values) -> tuple[float, float]:
    """Return the width and height of a layer in px; those of the composition for a solid that fills it."""
    if is_pinned(values.layer):
        return context.plan.settings.width, context.plan.settings.height
    return box(values)


def _operators(content: ShapeContent, values: Values) -> tuple[PathOperator, ...]:
    """Return the chain with its moving parameters sampled."""
    if not content.operators or not any(path.startswith("pathop.") for path in values.layer.moving):
        return content.operators
    sampled = []
    for operator in content.operators:
        prefix = f"pathop.{operator.id}."
        moved = values.moving_below(prefix)
        by_name = {path.removeprefix(prefix): value for path, value in moved.items()}
        sampled.append(path_ops.animate(operator, by_name))
    return tuple(sampled)
