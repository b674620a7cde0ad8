"""Operators that shake an outline over time: roughen and wiggle transform (layers.md 8.5)."""

from __future__ import annotations

import math
from collections.abc import Callable

from motion.evaluate import noise
from motion.evaluate.outline import Point, Polyline, edge_normal
from motion.evaluate.path_ops.points import edges, rotate
from motion.evaluate.path_ops.stored import PathOperator

Lines = tuple[Polyline, ...]
Shake = Callable[[int, int], float]
"""The noise -1..1 of an index and a channel, mixed toward the one that all indices share."""


def roughen(operator: PathOperator, lines: Lines, time_seconds: float) -> Lines:
    """Every edge subdivided and every point pushed in a random direction."""
    shake = _shake(operator, time_seconds)
    return tuple(line._replace(points=_roughened(operator, line, shake)) for line in lines)


def wiggle_transform(operator: PathOperator, lines: Lines, time_seconds: float) -> Lines:
    """Every run moved, turned and scaled as a whole."""
    shake = _shake(operator, time_seconds)
    return tuple(_wiggled(operator, line, i, shake) for i, line in enumerate(lines))


def _shake(operator: PathOperator, time_seconds: float) -> Shake:
    phase = time_seconds * operator.wiggles_per_second
    if not math.isfinite(phase):
        phase = 0.0
    k = math.floor(phase)
    m = noise.smoothstep(phase - k)
    share = operator.correlation / 100.0

    def at(i: int, channel: int) -> float:
        low = noise.lattice(i, k, operator.seed, channel)
        return low + (noise.lattice(i, k + 1, operator.seed, channel) - low) * m

    common = tuple(at(-1, channel) for channel in range(4))

    def shake(i: int, channel: int) -> float:
        own = at(i, channel)
        return own + (common[channel] - own) * share

    return shake


def _roughened(operator: PathOperator, line: Polyline, shake: Shake) -> tuple[Point, ...]:
    dense = _subdivided(line, int(min(10.0, max(1.0, math.floor(operator.detail + 0.5)))))
    count = len(dense)
    moved: list[Point] = []
    for i, (x, y) in enumerate(dense):
        nx, ny = edge_normal(dense[i - 1], dense[(i + 1) % count])
        dx, dy = rotate(nx, ny, math.pi * shake(i, 1))
        push = operator.amount * shake(i, 0)
        moved.append((x + dx * push, y + dy * push))
    return tuple(moved)


def _subdivided(line: Polyline, steps: int) -> list[Point]:
    dense = [
        (a[0] + (b[0] - a[0]) * s / steps, a[1] + (b[1] - a[1]) * s / steps)
        for a, b in edges(line)
        for s in range(steps)
    ]
    return dense if line.closed else [*dense, *line.points[-1:]]


def _wiggled(operator: PathOperator, line: Polyline, i: int, shake: Shake) -> Polyline:
    dx, dy = operator.amount * shake(i, 0), operator.amount * shake(i, 1)
    angle = math.radians(operator.wiggle_rotation * shake(i, 2))
    scale = max(0.0, 1.0 + operator.wiggle_scale / 100.0 * shake(i, 3))
    c, s = scale * math.cos(angle), scale * math.sin(angle)
    ax, ay = operator.anchor_x, operator.anchor_y
    points = ((ax + c * (x - ax) - s * (y - ay) + dx, ay + s * (x - ax) + c * (y - ay) + dy) for x, y in line.points)
    return line._replace(points=tuple(points), stroke_factor=line.stroke_factor * scale)
