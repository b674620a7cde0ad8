"""Interface of expressions to the surrounding document."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from motion.formulas.keyframes import ScalarTrack


class CompositionFacts(NamedTuple):
    """The exported composition; `layer_count` counts every node of the document."""

    width: float = 1920.0
    height: float = 1080.0
    duration_seconds: float = 10.0
    fps: float = 60.0
    layer_count: int = 1


class LayerFacts(NamedTuple):
    """A layer's name and its static size, None if none is stored."""

    name: str = "Layer"
    width: float | None = None
    height: float | None = None


class Marker(NamedTuple):
    """A marker in composition seconds."""

    time: float
    duration: float = 0.0
    name: str = "Marker"
    comment: str = ""


class SourceRect(NamedTuple):
    """A rectangle in px from the centre of the layer box."""

    left: float
    top: float
    width: float
    height: float


class ExpressionHost(Protocol):
    """The document as expressions see it. Every method is pure; times are layer times, unconverted between layers."""

    def track(self, node_id: str, path: str) -> ScalarTrack | None:
        """Return the keyframes of a property."""

    def expression(self, node_id: str, path: str) -> str | None:
        """Return the source text of a property's enabled expression."""

    def static_number(self, node_id: str, path: str) -> float | None:
        """Return the number of exactly that name on the node's Transform component."""

    def layer_named(self, name: str) -> str | None:
        """Return the id of the first node of the document with exactly that name."""

    def layer_facts(self, node_id: str) -> LayerFacts:
        """Name and static size of a node."""

    def control_owner(self, name: str) -> str | None:
        """Return the first node, depth first, with a number `ctrl_<name>` on its Transform component."""

    def composition(self) -> CompositionFacts:
        """Return the exported composition."""

    def composition_markers(self) -> tuple[Marker, ...]:
        """Return the markers of the exported composition, by time."""

    def layer_markers(self, node_id: str) -> tuple[Marker, ...]:
        """Return the markers of a layer, by time."""

    def loudness(self) -> float:
        """Return the level of the exported composition's sound in the frame, 0..1."""

    def source_rect(self, node_id: str, time_seconds: float, extents: bool) -> SourceRect | None:
        """Return the rectangle of the layer's content; None if it is unknown."""

    def to_composition(
        self, node_id: str, point: tuple[float, float, float], time_seconds: float
    ) -> tuple[float, float]:
        """A point of the layer in composition px (animation.md 4.9). Raises ExpressionError if it is circular."""

    def from_composition(self, node_id: str, point: tuple[float, float], time_seconds: float) -> tuple[float, float]:
        """A point of the composition in layer px."""

    def to_world(
        self, node_id: str, point: tuple[float, float, float], time_seconds: float
    ) -> tuple[float, float, float]:
        """A point of the layer in world space."""

    def from_world(self, node_id: str, point: tuple[float, float, float], time_seconds: float) -> tuple[float, ...]:
        """A point of world space in layer px: two numbers for a 2D layer, three for a 3D one."""
