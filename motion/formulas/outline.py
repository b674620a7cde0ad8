"""Outlines: primitives and stored geometry as runs, and runs as polylines (layers.md 4, 7.2, 8.1)."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from motion.formulas.bezier import cubic_point
from motion.formulas.data_keyframes import outline_points, read_points
from motion.snapshot import PathPoint, Run

Point = tuple[float, float]


DRIVER_SAMPLES = 24
"""Samples of each curve of a line that copies of a cloner stand on."""


class Polyline(NamedTuple):
    """A run of corners only. `opacity` and `stroke_factor` are the changes that path operators make to its paint."""

    points: tuple[Point, ...]
    closed: bool
    opacity: float = 1.0
    stroke_factor: float = 1.0


def stored_runs(geometry: Mapping[str, object]) -> tuple[Run, ...]:
    """Return the runs of a stored `Geometry` component: its sub-paths if it has two or more, else its points."""
    is_open = geometry.get("open") is True
    subpaths = geometry.get("subpaths")
    paths = [path for path in subpaths if isinstance(path, dict)] if isinstance(subpaths, list) else []
    if len(paths) >= 2:
        return tuple(
            run for path in paths if (run := _stored_run(path.get("points"), path.get("open") is not True)) is not None
        )
    run = _stored_run(paths[0].get("points") if paths else geometry.get("points"), not is_open)
    return () if run is None else (run,)


def rectangle(width: float, height: float, points_on_edge: int = 0) -> Polyline:
    """Return the hard corners from the top left, clockwise, with extra points evenly along every edge."""
    x, y = width / 2.0, height / 2.0
    corners: list[Point] = [(-x, -y), (x, -y), (x, y), (-x, y)]
    steps = points_on_edge + 1
    points = [
        (a[0] + (b[0] - a[0]) * s / steps, a[1] + (b[1] - a[1]) * s / steps)
        for a, b in pairwise([*corners, corners[0]])
        for s in range(steps)
    ]
    return Polyline(tuple(points), closed=True)


def ellipse(width: float, height: float, count: int = 48) -> Polyline:
    """Return a regular polygon on the ellipse, from the rightmost point, clockwise on screen."""
    angles = (math.tau * i / count for i in range(count))
    return Polyline(tuple((width / 2.0 * math.cos(a), height / 2.0 * math.sin(a)) for a in angles), closed=True)


def driver_line(runs: Sequence[Run], primitive: str, width: float, height: float) -> Polyline:
    """Return the line of a layer that copies of a cloner stand on: its first path, else its ellipse or box, in px around its middle."""
    if runs:
        return Polyline(flatten(runs[0], DRIVER_SAMPLES), runs[0].closed)
    return ellipse(width, height) if primitive == "ellipse" else rectangle(width, height)


def anchors(run: Run) -> Polyline:
    """Return the run's vertices without handles, which path operators discard."""
    return Polyline(tuple((p.x, p.y) for p in run.points), run.closed, run.opacity, run.stroke_factor)


def corner_run(line: Polyline) -> Run:
    """Return the polyline as a run whose handles lie on their vertices."""
    return Run(
        tuple(PathPoint(x, y, x, y, x, y) for x, y in line.points), line.closed, line.opacity, line.stroke_factor
    )


def flatten(run: Run, samples_per_curve: int = 8, *, close: bool | None = None) -> tuple[Point, ...]:
    """Return the run as points: the ends of straight segments, and the given number of samples of curved ones. `close`
    adds the segment from the last vertex to the first, without repeating the first point. A closed run has it by
    default.
    """
    points = run.points
    if not points:
        return ()
    closing = run.closed if close is None else close
    pairs = [*pairwise(points), (points[-1], points[0])] if closing and len(points) > 1 else [*pairwise(points)]
    flat: list[Point] = [(points[0].x, points[0].y)]
    for a, b in pairs:
        flat.extend(_segment(a, b, samples_per_curve))
    return tuple(flat[:-1] if closing and len(points) > 1 else flat)


def is_straight(a: PathPoint, b: PathPoint) -> bool:
    """Return True if the segment from a to b has both handles on its vertices."""
    return a.out_x == a.x and a.out_y == a.y and b.in_x == b.x and b.in_y == b.y


def arc_lengths(points: Sequence[Point]) -> tuple[float, ...]:
    """Return the distance along the polyline at every point, from 0."""
    return (0.0, *accumulate(math.dist(a, b) for a, b in pairwise(points))) if points else ()


def point_at(points: Sequence[Point], lengths: Sequence[float], at: float) -> Point:
    """Return the point at a distance along the polyline, clamped to its ends."""
    index = min(max(bisect_right(lengths, at) - 1, 0), len(points) - 2)
    span = lengths[index + 1] - lengths[index]
    u = min(1.0, max(0.0, (at - lengths[index]) / span)) if span > 0 else 0.0
    (ax, ay), (bx, by) = points[index], points[index + 1]
    return ax + (bx - ax) * u, ay + (by - ay) * u


def edge_normal(a: Point, b: Point) -> Point:
    """Return the perpendicular (-dy, dx) of the edge from a to b, of length 1; zero where the edge has no length."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    length = math.hypot(dx, dy)
    return (-dy / length, dx / length) if length > 0 else (0.0, 0.0)


def _segment(a: PathPoint, b: PathPoint, samples: int) -> list[Point]:
    if is_straight(a, b):
        return [(b.x, b.y)]
    return [*(cubic_point(a, b, s / samples) for s in range(1, samples)), (b.x, b.y)]


def _stored_run(points: object, closed: bool) -> Run | None:
    read = read_points(points)
    return Run(outline_points(read), closed) if read else None
