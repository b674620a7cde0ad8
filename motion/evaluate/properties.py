"""The value of a property that an expression drives, and what expressions may look at."""

from __future__ import annotations

from motion.evaluate.keyframes import sample_scalar
from motion.model.layer import Layer
from motion.schema.stored import LARGEST


class Properties:
    """Answers the value of any layer's property at a time of that layer."""

    def value(self, layer: Layer, path: str, own_time: float) -> float | None:
        """The expression's result, else the keyframed value; None where neither gives one."""
        moving = layer.moving[path]
        base = sample_scalar(moving.track, own_time) if moving.track is not None else None
        return None if base is None else max(-LARGEST, min(LARGEST, base))
