"""Values that a number of a layer has over time."""

from __future__ import annotations

from motion.model.layer import Layer


def largest(layer: Layer, path: str, default: float) -> float:
    """Return the largest value of a number over time: the stored one, or the largest of its keyframes."""
    return max(stored_values(layer, path, default))


def stored_values(layer: Layer, path: str, default: float) -> list[float]:
    """Return the values of a number: the stored one, or those of its keyframes."""
    moving = layer.moving.get(path)
    keys = () if moving is None or moving.track is None else moving.track.keys
    return [key.value for key in keys] or [layer.numbers.get(path, default)]
