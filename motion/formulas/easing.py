"""Easing functions of keyframe segments (animation.md 2.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from motion.stored import finite

Handles = tuple[float, float, float, float]
"""(x1, y1, x2, y2) of a cubic from (0, 0) to (1, 1)."""

HOLD_KINDS = frozenset({"hold", "step"})
HANDLE_KINDS = frozenset({"autoBezier", "bezier", "continuousBezier"})

_EASE: Handles = (0.25, 0.1, 0.25, 1.0)
_AUTO: Handles = (0.333, 0.0, 0.667, 1.0)
_NEWTON_STEPS = 8


@lru_cache(maxsize=1024)
def cubic_bezier(handles: Handles, x: float) -> float:
    """Return the y of the curve at `x`, by eight Newton steps and no bisection.

    Extreme handles are cut off before they converge, and the reference shows exactly that eighth iterate. Results are
    cached: tracks and layers that move together evaluate the same curve at the same place.
    """
    x1, y1, x2, y2 = handles
    x = clamp_unit(x)
    cx = 3.0 * x1
    bx = 3.0 * (x2 - x1) - cx
    ax = 1.0 - cx - bx
    s = x
    for _ in range(_NEWTON_STEPS):
        error = ((ax * s + bx) * s + cx) * s - x
        if abs(error) < 1e-5:
            break
        slope = (3.0 * ax * s + 2.0 * bx) * s + cx
        if abs(slope) < 1e-6:
            break
        s -= error / slope
    s = clamp_unit(s)
    cy = 3.0 * y1
    by = 3.0 * (y2 - y1) - cy
    return (((1.0 - cy - by) * s + by) * s + cy) * s


def scalar_ease(kind: str, handles: Handles | None, x: float) -> float:
    """Return the eased fraction of a scalar segment; an unknown kind is linear."""
    if kind in HANDLE_KINDS:
        if handles is not None:
            return cubic_bezier(handles, x)
        return x if kind == "bezier" else cubic_bezier(_AUTO, x)
    return _FIXED.get(kind, _linear)(x)


def data_ease(kind: str, handles: Handles | None, x: float) -> float:
    """Return the eased fraction of a data segment: only the kind `bezier` reads its handles (animation.md 2.4)."""
    return scalar_ease(kind, handles if kind == "bezier" else None, x)


def clamp_unit(x: float) -> float:
    """Return `x` clamped to 0..1."""
    return 0.0 if x < 0.0 else 1.0 if x > 1.0 else x


def stored_handles(value: object) -> Handles | None:
    """Return the four finite numbers of a stored `bezier` field, or None if it does not have them."""
    if not isinstance(value, list) or len(value) != 4:
        return None
    x1, y1, x2, y2 = map(finite, value)
    return None if x1 is None or y1 is None or x2 is None or y2 is None else (x1, y1, x2, y2)


def _linear(x: float) -> float:
    return x


def _ease_in(x: float) -> float:
    return x * x


def _ease_out(x: float) -> float:
    return x * (2.0 - x)


def _ease_in_out(x: float) -> float:
    return 2.0 * x * x if x < 0.5 else -1.0 + (4.0 - 2.0 * x) * x


def _ease(x: float) -> float:
    return cubic_bezier(_EASE, x)


_FIXED: Mapping[str, Callable[[float], float]] = {
    "easeIn": _ease_in,
    "easeOut": _ease_out,
    "easeInOut": _ease_in_out,
    "ease": _ease,
}
