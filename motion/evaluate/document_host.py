"""The document as expressions see it: `ExpressionHost` over the layers and facts of one composition (animation.md 4)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import TypeVar

from motion.evaluate import coordinates
from motion.evaluate.context import EvaluationContext
from motion.evaluate.texts import text
from motion.formulas.expressions import CompositionFacts, ExpressionError, LayerFacts, Marker, SourceRect
from motion.formulas.keyframes import ScalarTrack
from motion.formulas.matrix4 import Point3
from motion.model.content import TextContent
from motion.model.facts import DocumentFacts
from motion.model.layer import Layer, Moving
from motion.snapshot import TextSource
from motion.stored import LARGEST

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
_NO_COORDINATES = "the coordinates of this layer cannot be worked out here"


class DocumentHost:
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

    def seen_by(self, layer: Layer) -> DocumentHost:
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
        return self._within(lambda: coordinates.to_composition(context, layer, point))

    def from_composition(self, node_id: str, point: tuple[float, float], time_seconds: float) -> tuple[float, float]:
        """A point of the composition in layer px."""
        context, layer = self._place(node_id, time_seconds)
        return self._within(lambda: coordinates.from_composition(context, layer, point))

    def to_world(self, node_id: str, point: Point3, time_seconds: float) -> Point3:
        """A point of the layer in world space."""
        context, layer = self._place(node_id, time_seconds)
        return self._within(lambda: coordinates.to_world(context, layer, point))

    def from_world(self, node_id: str, point: Point3, time_seconds: float) -> tuple[float, ...]:
        """A point of world space in layer px; of a flat layer without its depth."""
        return self.from_composition(node_id, (point[0], point[1]), time_seconds)

    def refuse(self) -> ExpressionError:
        """Count a conversion that is circular or too deep, and return its error."""
        self.refusals += 1
        return ExpressionError(_NO_COORDINATES)

    def _moving(self, node_id: str, path: str) -> Moving | None:
        current = self._current
        if current is not None and current.source_id == node_id:
            return current.moving.get(path)
        return self._facts.moving.get(node_id, {}).get(path)

    def _place(self, node_id: str, time_seconds: float) -> tuple[EvaluationContext, Layer]:
        self._reads += 1
        layer = self._layers.get(node_id)
        if layer is None or self._reads > COORDINATE_READS_MAX or math.isnan(time_seconds):
            raise ExpressionError(_NO_COORDINATES)
        if self._depth == NESTED_READS_MAX:
            raise self.refuse()
        time = max(-LARGEST, min(LARGEST, time_seconds))
        if time not in self._contexts:
            self._contexts[time] = self._new_context(time)
        return self._contexts[time], layer

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
