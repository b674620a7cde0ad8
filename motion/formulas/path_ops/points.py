"""Operators that move or add the points of one run (layers.md 8.2)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from motion.formulas.outline import Point, Polyline, edge_normal
from motion.formulas.path_ops.stored import PathOperator

STEPS_MAX = 200
"""Points that an operator may put on one edge or corner."""


def zigzag(operator: PathOperator, line: Polyline) -> list[Point]:
    """Put teeth on every edge: points at even fractions, moved to alternating sides."""
    steps = _steps(operator)
    points: list[Point] = []
    for a, b in edges(line):
        nx, ny = edge_normal(a, b)
        points.append(a)
        for s in range(1, steps):
            push = operator.amount if s % 2 else -operator.amount
            x, y = a[0] + (b[0] - a[0]) * s / steps, a[1] + (b[1] - a[1]) * s / steps
            points.append((x + nx * push, y + ny * push))
    return points if line.closed else [*points, *line.points[-1:]]


def round_corners(operator: PathOperator, line: Polyline) -> list[Point]:
    """Replace every vertex by a quadratic curve, except the ends of an open run."""
    points, count = line.points, len(line.points)
    if count < 3 or operator.amount <= 0:
        return list(points)
    rounded: list[Point] = []
    for i, vertex in enumerate(points):
        if not line.closed and i in (0, count - 1):
            rounded.append(vertex)
        else:
            rounded.extend(_corner(points[i - 1], vertex, points[(i + 1) % count], operator.amount, _steps(operator)))
    return rounded


def pucker(operator: PathOperator, line: Polyline) -> list[Point]:
    """Move every point along its ray from the mean of the points."""
    cx, cy = centroid(line)
    factor = 1.0 + operator.amount / 100.0
    return [(cx + (x - cx) * factor, cy + (y - cy) * factor) for x, y in line.points]


def twist(operator: PathOperator, line: Polyline) -> list[Point]:
    """Turn every point about the mean of the points, the farthest one by the whole angle."""
    cx, cy = centroid(line)
    radius = max((math.hypot(x - cx, y - cy) for x, y in line.points), default=0.0)
    if radius == 0:
        return list(line.points)
    turned: list[Point] = []
    for x, y in line.points:
        angle = math.radians(operator.amount * math.hypot(x - cx, y - cy) / radius)
        dx, dy = rotate(x - cx, y - cy, angle)
        turned.append((cx + dx, cy + dy))
    return turned


def offset(operator: PathOperator, line: Polyline) -> list[Point]:
    """Move every point along the normalised sum of its edges' perpendiculars."""
    points, count = line.points, len(line.points)
    normals = [edge_normal(a, b) for a, b in edges(line)]
    moved: list[Point] = []
    for i, (x, y) in enumerate(points):
        before = normals[i - 1] if normals and (line.closed or i > 0) else (0.0, 0.0)
        after = normals[i % len(normals)] if normals and (line.closed or i < count - 1) else (0.0, 0.0)
        nx, ny = before[0] + after[0], before[1] + after[1]
        length = math.hypot(nx, ny) or 1.0
        moved.append((x + operator.amount * nx / length, y + operator.amount * ny / length))
    return moved


def edges(line: Polyline) -> Iterator[tuple[Point, Point]]:
    """Return the edges in order, including the closing edge of a closed run."""
    yield from pairwise(line.points)
    if line.closed and line.points:
        yield line.points[-1], line.points[0]


def centroid(line: Polyline) -> Point:
    """Return the mean of the points."""
    count = max(1, len(line.points))
    return sum(x for x, _ in line.points) / count, sum(y for _, y in line.points) / count


def rotate(x: float, y: float, angle: float) -> Point:
    """Turn (x, y) by an angle in radians, clockwise on screen."""
    c, s = math.cos(angle), math.sin(angle)
    return x * c - y * s, x * s + y * c


def _steps(operator: PathOperator) -> int:
    return int(min(STEPS_MAX, max(1.0, math.floor(operator.detail))))


def _corner(before: Point, vertex: Point, after: Point, radius: float, steps: int) -> list[Point]:
    to_before, to_after = math.dist(vertex, before), math.dist(vertex, after)
    radius = min(radius, to_before / 2.0, to_after / 2.0)
    p1, p2 = _toward(vertex, before, radius, to_before), _toward(vertex, after, radius, to_after)
    return [p1, *(_quadratic(p1, vertex, p2, s / steps) for s in range(1, steps)), p2]


def _toward(vertex: Point, other: Point, radius: float, distance: float) -> Point:
    u = radius / distance if distance > 0 else 0.0
    return vertex[0] + (other[0] - vertex[0]) * u, vertex[1] + (other[1] - vertex[1]) * u


def _quadratic(p: Point, q: Point, r: Point, u: float) -> Point:
    v = 1.0 - u
    a, b, c = v * v, 2.0 * v * u, u * u
    return a * p[0] + b * q[0] + c * r[0], a * p[1] + b * q[1] + c * r[1]
