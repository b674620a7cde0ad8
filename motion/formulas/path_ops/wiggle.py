"""Operators that shake an outline over time: roughen and wiggle transform (layers.md 8.5)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from motion.arrays import Doubles
from motion.formulas import noise
from motion.formulas.outline import Polyline
from motion.formulas.path_ops.points import edges
from motion.formulas.path_ops.stored import PathOperator

Lines = tuple[Polyline, ...]
Shake = Callable[[int], Doubles]
"""Function from a channel to its noise at every index, -1..1, mixed with noise that is common to all indices."""


def roughen(operator: PathOperator, lines: Lines, time_seconds: float) -> Lines:
    """Subdivide every edge and move every point in a random direction. An amount of 0 changes nothing."""
    if operator.amount == 0:
        return lines
    return tuple(_roughened(operator, line, time_seconds) for line in lines)


def wiggle_transform(operator: PathOperator, lines: Lines, time_seconds: float) -> Lines:
    """Move, turn and scale every run as a whole."""
    operator = _bounded(operator)
    shake = _shake(operator, len(lines), time_seconds)
    shaken = np.stack([shake(channel) for channel in range(4)], axis=1).tolist()
    return tuple(_wiggled(operator, line, *moves) for line, moves in zip(lines, shaken, strict=True))


def _bounded(operator: PathOperator) -> PathOperator:
    """Return the operator with its numbers in their ranges (animation.md 6.6)."""
    return replace(
        operator,
        amount=max(0.0, operator.amount),
        wiggle_rotation=max(0.0, operator.wiggle_rotation),
        wiggle_scale=max(0.0, operator.wiggle_scale),
        wiggles_per_second=max(0.0, operator.wiggles_per_second),
        correlation=min(100.0, max(0.0, operator.correlation)),
    )


def _shake(operator: PathOperator, count: int, time_seconds: float) -> Shake:
    phase = time_seconds * operator.wiggles_per_second
    if not math.isfinite(phase):
        phase = 0.0
    k = math.floor(phase)
    m = noise.smoothstep(phase - k)
    indices = np.arange(-1.0, count)  # -1 is what all indices share

    def shake(channel: int) -> Doubles:
        low = noise.lattices(indices, k, operator.seed, channel)
        found = low + (noise.lattices(indices, k + 1, operator.seed, channel) - low) * m
        return np.asarray(found[1:] + (found[0] - found[1:]) * operator.correlation / 100.0)

    return shake


def _roughened(operator: PathOperator, line: Polyline, time_seconds: float) -> Polyline:
    if len(line.points) < 2:
        return line
    dense = _subdivided(line, int(min(10.0, max(1.0, math.floor(operator.detail + 0.5)))))
    shake = _shake(operator, len(dense), time_seconds)
    along = np.roll(dense, -1, axis=0) - np.roll(dense, 1, axis=0)  # neighbours are cyclic even on open runs
    length = np.hypot(along[:, 0], along[:, 1])
    normal = np.stack([-along[:, 1], along[:, 0]], axis=1) / np.where(length > 0.0, length, 1.0)[:, None]
    angle = math.pi * shake(1)
    c, s = np.cos(angle), np.sin(angle)
    turned = np.stack([c * normal[:, 0] - s * normal[:, 1], s * normal[:, 0] + c * normal[:, 1]], axis=1)
    moved = dense + turned * (operator.amount * shake(0))[:, None]
    return line._replace(points=tuple((x, y) for x, y in moved.tolist()))


def _subdivided(line: Polyline, steps: int) -> Doubles:
    """Return the points of every edge at even fractions: shape (points, 2). An open run keeps its last point."""
    pairs = np.array([*edges(line)], dtype=np.float64).reshape(-1, 2, 2)
    shares = (np.arange(steps) / steps)[None, :, None]
    dense = (pairs[:, :1] + (pairs[:, 1:] - pairs[:, :1]) * shares).reshape(-1, 2)
    return dense if line.closed else np.concatenate([dense, np.array(line.points[-1:]).reshape(-1, 2)])


def _wiggled(operator: PathOperator, line: Polyline, right: float, down: float, turn: float, grow: float) -> Polyline:
    dx, dy = operator.amount * right, operator.amount * down
    angle = math.radians(operator.wiggle_rotation * turn)
    scale = max(0.0, 1.0 + operator.wiggle_scale / 100.0 * grow)
    c, s = scale * math.cos(angle), scale * math.sin(angle)
    ax, ay = operator.anchor_x, operator.anchor_y
    points = ((ax + c * (x - ax) - s * (y - ay) + dx, ay + s * (x - ax) + c * (y - ay) + dy) for x, y in line.points)
    return line._replace(points=tuple(points), stroke_factor=line.stroke_factor * scale)
