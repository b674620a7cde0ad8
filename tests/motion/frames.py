"""Evaluate a document at a time."""

from __future__ import annotations

from typing import Any, TypeVar

from motion.build import build
from motion.evaluate import snapshot
from motion.migrations import migrate
from motion.model.composition import Composition
from motion.model.parity import REFERENCE, Parity
from motion.snapshot import LayerSnapshot, ShapeSource, Snapshot, Source, Transform2D, Transform3D

S = TypeVar("S", bound=Source)


def built(document: Any, parity: Parity = REFERENCE) -> Composition:
    """Return the document in the form for rendering."""
    return build(migrate(document), parity=parity)


def shown(document: Any, time: float = 0.0, output_fps: float | None = None, parity: Parity = REFERENCE) -> Snapshot:
    """Return the frame at a time."""
    return snapshot(built(document, parity=parity), time, output_fps)


def layer(document: Any, layer_id: str, time: float = 0.0, **more: Any) -> LayerSnapshot | None:
    """Return the layer of the frame at a time, or None if the frame lacks it."""
    return next((layer for layer in shown(document, time, **more).layers if layer.id == layer_id), None)


def place(document: Any, layer_id: str, time: float = 0.0, **more: Any) -> Transform2D:
    """Return the transform of a flat layer at a time."""
    held = layer(document, layer_id, time, **more)
    assert held is not None, f"{layer_id} is not drawn"
    return flat(held.transform)


def flat(transform: Transform2D | Transform3D) -> Transform2D:
    """Return the transform without its depth."""
    return transform.flat if isinstance(transform, Transform3D) else transform


def source(document: Any, layer_id: str, kind: type[S], time: float = 0.0) -> S:
    """Return the source of a layer at a time."""
    held = layer(document, layer_id, time)
    assert held is not None
    assert isinstance(held.source, kind)
    return held.source


def fill(document: Any, layer_id: str, time: float = 0.0) -> Any:
    """Return the first fill of a shape."""
    return source(document, layer_id, ShapeSource, time).fills[0]
