"""Parts of a layer's snapshot that never change, cached in `Layer.constants`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from motion.evaluate.context import Values
from motion.model.content import InstanceContent, LightContent, ShapeContent
from motion.model.layer import Layer, Part

T = TypeVar("T")


def depends_on_itself(layer: Layer) -> bool:
    """Return True if the layer depends only on its own properties and on its parents' placement."""
    boolean = isinstance(layer.content, ShapeContent) and layer.content.boolean_operation is not None
    return not (boolean or isinstance(layer.content, InstanceContent | LightContent) or layer.auto_orient == "camera")


def constant_part(layer: Layer, part: Part, values: Values, make: Callable[[], T]) -> T:
    """Return the part of the layer that `make` makes. Cache it if `make` reads no value that can change."""
    kept = layer.constants.parts.get(part)
    if kept is not None:
        return cast(T, kept)
    varied_before, values.varies = values.varies, False
    made = make()
    if not values.varies and depends_on_itself(layer):
        layer.constants.parts[part] = made
    values.varies = values.varies or varied_before
    return made
