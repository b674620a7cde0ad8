"""Points of cubic Bezier curves at their parameter `u`, 0 to 1. `easing.py` has the curves of keyframe timing."""

from __future__ import annotations

from motion.snapshot import PathPoint


def cubic(p0: float, p1: float, p2: float, p3: float, u: float) -> float:
    """Return the curve's value along one axis. `p1` and `p2` are the control points, not offsets."""
    c0, c1, c2, c3 = _weights(u)
    return c0 * p0 + c1 * p1 + c2 * p2 + c3 * p3


def cubic_point(a: PathPoint, b: PathPoint, u: float) -> tuple[float, float]:
    """Return the point of the segment from a to b."""
    c0, c1, c2, c3 = _weights(u)
    return (
        c0 * a.x + c1 * a.out_x + c2 * b.in_x + c3 * b.x,
        c0 * a.y + c1 * a.out_y + c2 * b.in_y + c3 * b.y,
    )


def _weights(u: float) -> tuple[float, float, float, float]:
    """Return the weights of the start, its handle, the end's handle and the end."""
    v = 1.0 - u
    return v * v * v, 3.0 * v * v * u, 3.0 * v * u * u, u * u * u
