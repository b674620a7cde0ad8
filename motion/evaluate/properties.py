"""Values of properties that expressions drive, and the document as their host (animation.md 4)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import TypeVar

from motion.evaluate import affine, matrix4, space
from motion.evaluate.context import EvaluationContext
from motion.evaluate.expressions import (
    CompositionFacts,
    ExpressionError,
    LayerFacts,
    Marker,
    SourceRect,
    property_value,
)
from motion.evaluate.keyframes import ScalarTrack
from motion.evaluate.matrix4 import Point3
from motion.evaluate.texts import text
from motion.model.content import TextContent
from motion.model.facts import DocumentFacts
from motion.model.layer import Layer, Moving
from motion.schema.stored import LARGEST
from motion.snapshot import TextSource

T = TypeVar("T")
MeasureText = Callable[[TextSource, bool], SourceRect | None]
"""Function that measures a text's pixels, or with True its font box, in px from the centre of its layer box."""

SOURCE_CHARACTERS_MAX = 20_000_000
"""Most characters of expressions that one frame runs, including reads of other layers. Further expressions count as
absent.
"""
COORDINATE_READS_MAX = 2_000
"""Most coordinate conversions of one frame: each evaluates a chain of parents."""
NESTED_READS_MAX = 8
"""Deepest nesting of coordinate conversions, through expressions of the converted layers."""


class Properties:
    """Evaluate any property at a layer time, for one frame."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._known: dict[tuple[str, str, float], tuple[float | None, bool]] = {}
        """Values, each with True if no circular reference interrupted its evaluation."""
        self._active: set[tuple[str, str]] = set()
        """Properties that are being evaluated: the outermost, and those that its coordinate conversions ask for."""

    def value(self, layer: Layer, path: str, own_time: float) -> float | None:
        """Return the expression's result, else the keyframed value, else None."""
        address, name = (layer.id, path, own_time), (layer.id, path)
        known = self._known.get(address)
        # A value that a circular reference interrupts depends on the entry into the circle, so it is not shared.
        if known is not None and (known[1] or not self._active):
            return known[0]
        if name in self._active:
            raise self._host.refuse()
        refusals = self._host.refusals
        self._active.add(name)
        try:
            value = property_value(self._host.seen_by(layer), layer.source_id, path, own_time)
        finally:
            self._active.remove(name)
        value = None if value is None else max(-LARGEST, min(LARGEST, value))
        is_whole = refusals == self._host.refusals
        if is_whole or not self._active:
            self._known[address] = value, is_whole
        return value


_UNKNOWN = "the coordinates of this layer cannot be worked out here"


class Host:
    """Access of expressions to the document; implements `ExpressionHost`. Nodes are addressed by their own ids."""

    def __init__(
        self,
        facts: DocumentFacts,
        layers: Mapping[str, Layer],
        context: Callable[[float], EvaluationContext],
        measure: MeasureText | None,
        loudness: Callable[[], float],
    ) -> None:
        self._facts, self._layers, self._new_context, self._measure = facts, layers, context, measure
        self._loudness = cache(loudness)
        self._contexts: dict[float, EvaluationContext] = {}
        """Coordinates are computed in contexts of their own."""
        self._current: Layer | None = None
        self._characters = self._reads = self._depth = 0
        self.refusals = 0
        """Number of conversions that were circular or too deep."""

    def seen_by(self, layer: Layer) -> Host:
        """Return this host for a layer. The layer's own overrides count, not those of other layers of the same node."""
        self._current = layer
        return self

    def track(self, node_id: str, path: str) -> ScalarTrack | None:
        """Return the keyframes of a property."""
        moving = self._moving(node_id, path)
        return None if moving is None else moving.track

    def expression(self, node_id: str, path: str) -> str | None:
        """Return the enabled expression of a property, while the frame's budget lasts."""
        moving = self._moving(node_id, path)
        source = None if moving is None else moving.expression
        self._characters += 0 if source is None else len(source)
        return source if self._characters <= SOURCE_CHARACTERS_MAX else None

    def static_number(self, node_id: str, path: str) -> float | None:
        """Return the number of that name on the node's Transform."""
        return self._facts.numbers.get(node_id, {}).get(path)

    def seed_id(self, node_id: str) -> str:
        """Return the id itself: clones are addressed by the id of their original."""
        return node_id

    def layer_named(self, name: str) -> str | None:
        """Return the id of the first node of that name."""
        return self._facts.by_name.get(name)

    def layer_facts(self, node_id: str) -> LayerFacts:
        """Name and static size."""
        return self._facts.layers.get(node_id, LayerFacts())

    def control_owner(self, name: str) -> str | None:
        """Return the first node with that control."""
        return self._facts.control_owners.get(name)

    def composition(self) -> CompositionFacts:
        """Return the rendered composition."""
        return self._facts.composition

    def composition_markers(self) -> tuple[Marker, ...]:
        """Return the rendered composition's markers."""
        return self._facts.composition_markers

    def layer_markers(self, node_id: str) -> tuple[Marker, ...]:
        """A layer's markers."""
        return self._facts.markers.get(node_id, ())

    def loudness(self) -> float:
        """Return the level of the audio layers that sound in this frame."""
        return self._loudness()

    def source_rect(self, node_id: str, time_seconds: float, extents: bool) -> SourceRect | None:
        """Return the painted bounds of a text, or with `extents` its font box. Without a measurement return the stored
        box.
        """
        layer = self._layers.get(node_id)
        if layer is not None and isinstance(layer.content, TextContent) and self._measure is not None:
            drawn = self._text(layer, layer.content, time_seconds)
            return None if drawn is None else self._measure(drawn, extents)
        facts = self.layer_facts(node_id)
        if facts.width is None or facts.height is None:
            return None
        return SourceRect(-facts.width / 2, -facts.height / 2, facts.width, facts.height)

    def _text(self, layer: Layer, content: TextContent, time_seconds: float) -> TextSource | None:
        """Return the text as it is at a layer time, its animators at rest."""
        context, _ = self._place(layer.source_id, time_seconds)
        drawn = self._within(lambda: text(content, context.values_at(layer, time_seconds)))
        return replace(drawn, has_animators=False, poses=()) if isinstance(drawn, TextSource) else None

    def to_composition(self, node_id: str, point: Point3, time_seconds: float) -> tuple[float, float]:
        """A point of the layer in composition px."""
        context, layer = self._place(node_id, time_seconds)
        return self._within(lambda: _to_composition(context, layer, point))

    def from_composition(self, node_id: str, point: tuple[float, float], time_seconds: float) -> tuple[float, float]:
        """A point of the composition in layer px."""
        context, layer = self._place(node_id, time_seconds)
        return self._within(lambda: _from_composition(context, layer, point))

    def to_world(self, node_id: str, point: Point3, time_seconds: float) -> Point3:
        """A point of the layer in world space."""
        context, layer = self._place(node_id, time_seconds)
        return self._within(lambda: _to_world(context, layer, point))

    def from_world(self, node_id: str, point: Point3, time_seconds: float) -> tuple[float, ...]:
        """A point of world space in layer px; of a flat layer without its depth."""
        return self.from_composition(node_id, (point[0], point[1]), time_seconds)

    def _moving(self, node_id: str, path: str) -> Moving | None:
        current = self._current
        if current is not None and current.source_id == node_id:
            return current.moving.get(path)
        return self._facts.moving.get(node_id, {}).get(path)

    def _place(self, node_id: str, time_seconds: float) -> tuple[EvaluationContext, Layer]:
        self._reads += 1
        layer = self._layers.get(node_id)
        if layer is None or self._reads > COORDINATE_READS_MAX or math.isnan(time_seconds):
            raise ExpressionError(_UNKNOWN)
        if self._depth == NESTED_READS_MAX:
            raise self.refuse()
        time = max(-LARGEST, min(LARGEST, time_seconds))
        if time not in self._contexts:
            self._contexts[time] = self._new_context(time)
        return self._contexts[time], layer

    def refuse(self) -> ExpressionError:
        """Count a conversion that is circular or too deep, and return its error."""
        self.refusals += 1
        return ExpressionError(_UNKNOWN)

    def _within(self, convert: Callable[[], T]) -> T:
        """Convert on behalf of the layer whose expression is running."""
        current, refusals = self._current, self.refusals
        self._depth += 1
        try:
            return convert()
        finally:
            self._current = current
            self._depth -= 1
            if self.refusals != refusals:
                self._contexts.clear()  # their placements depend on the circular reference


def _to_world(context: EvaluationContext, layer: Layer, point: Point3) -> Point3:
    if layer.is_3d:
        return matrix4.applied(space.world(context, layer), point)
    x, y = affine.applied(context.world(layer), point[0], point[1])
    return x, y, 0.0


def _to_composition(context: EvaluationContext, layer: Layer, point: Point3) -> tuple[float, float]:
    if not layer.is_3d:
        return affine.applied(context.world(layer), point[0], point[1])
    view = space.camera(context) or space.default_camera(context)
    return space.projected(view, context, _to_world(context, layer, point)) or (0.0, 0.0)


def _from_composition(context: EvaluationContext, layer: Layer, point: tuple[float, float]) -> tuple[float, float]:
    """Return the intersection of the ray through a point of the picture with the layer's plane.

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
