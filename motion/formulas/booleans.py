"""Live booleans: outlines of layers combined by polygon clipping (layers.md 4.5).

The outlines are cut at all their crossings; a piece belongs to the result's edge where the two sides of its middle differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from motion.arrays import Doubles
from motion.formulas import affine, outline
from motion.formulas.affine import Affine
from motion.formulas.outline import Point, Polyline
from motion.snapshot import Run

EDGES_MAX = 4000
"""Most edges of all operands together: every edge is tested against every other edge."""
PLACE_MAX_PX = 1e12
"""Largest coordinate of outlines that are combined: products of larger ones would overflow."""
SIZE_MIN_PX = 1e-9
"""Smallest size of outlines that are combined: points of smaller ones cannot be distinguished."""

Operation = Literal["union", "subtract", "intersect", "exclude"]
Ring = tuple[Point, ...]
Rings = tuple[Ring, ...]

_OPERATIONS: Mapping[str, Callable[[npt.NDArray[np.bool_]], npt.NDArray[np.bool_]]] = {
    "union": lambda inside: np.logical_or.reduce(inside, axis=0),
    "intersect": lambda inside: np.logical_and.reduce(inside, axis=0),
    "subtract": lambda inside: inside[0] & ~np.logical_or.reduce(inside[1:], axis=0),
    "exclude": lambda inside: np.logical_xor.reduce(inside, axis=0),
}


@dataclass(frozen=True, slots=True)
class CombinedOutline:
    """Place of the result layer in the composition, and its outline about that point."""

    x: float
    y: float
    width: float
    height: float
    run: Run


def operand(
    primitive: Literal["rect", "ellipse", "path"], width: float, height: float, runs: Sequence[Run], world: Affine
) -> Rings | None:
    """Return the outline of an operand layer in composition px; None for open or empty paths."""
    if primitive == "rect":
        rings: list[Ring] = [outline.rectangle(width, height).points]
    elif primitive == "ellipse":
        rings = [outline.ellipse(width, height, 32).points]
    else:
        rings = [outline.flatten(run, 8) for run in runs if run.closed]
    if not rings or (primitive == "path" and len(rings) < len(runs)):
        return None
    return tuple(tuple(affine.applied(world, x, y) for x, y in ring) for ring in rings)


def combine(operation: Operation, operands: Sequence[Rings]) -> CombinedOutline | None:
    """Return the largest ring of the result, or None if there are fewer than two operands or the result is empty."""
    edges = sum(len(ring) for rings in operands for ring in rings)
    if len(operands) < 2 or edges > EDGES_MAX or not _are_near(operands):
        return None
    ring = max(_result_rings(operation, operands), key=lambda candidate: abs(_area(candidate)), default=())
    if abs(_area(ring)) <= 0.0:
        return None
    xs, ys = [x for x, _ in ring], [y for _, y in ring]
    x, y = (min(xs) + max(xs)) / 2.0, (min(ys) + max(ys)) / 2.0
    centred = Polyline(tuple((px - x, py - y) for px, py in ring), closed=True)
    return CombinedOutline(x, y, max(xs) - min(xs), max(ys) - min(ys), outline.corner_run(centred))


def _are_near(operands: Sequence[Rings]) -> bool:
    points = (point for rings in operands for ring in rings for point in ring)
    return all(abs(x) <= PLACE_MAX_PX and abs(y) <= PLACE_MAX_PX for x, y in points)


def _result_rings(operation: Operation, operands: Sequence[Rings]) -> list[Ring]:
    segments = np.concatenate([_segments(rings) for rings in operands])
    size = float(np.ptp(segments.reshape(-1, 2), axis=0).max()) if len(segments) else 0.0
    if size < SIZE_MIN_PX:
        return []
    lengths = np.hypot(*(segments[:, 1] - segments[:, 0]).T)
    # Shorter edges are points: nothing has their direction.
    pieces = _pieces(segments[lengths > size * 1e-18], size * 1e-9)
    if not pieces:  # so far apart that each operand is a point
        return []
    starts = np.array([piece[0] for piece in pieces])
    ends = np.array([piece[1] for piece in pieces])
    middles, along = (starts + ends) / 2.0, ends - starts
    normals = np.stack([-along[:, 1], along[:, 0]], axis=1) / np.linalg.norm(along, axis=1, keepdims=True)
    sides = [
        _OPERATIONS[operation](np.stack([_winding(side, rings) != 0 for rings in operands]))
        for side in (middles + normals * size * 1e-7, middles - normals * size * 1e-7)
    ]
    kept = [
        piece if inside else piece[::-1]
        for piece, inside, other in zip(pieces, sides[0], sides[1], strict=True)
        if inside != other
    ]
    return _trace(kept)


def _segments(rings: Rings) -> Doubles:
    """Return the edges of closed rings, shape (edges, 2, 2)."""
    edges = [(a, b) for ring in rings for a, b in pairwise((*ring, ring[0])) if a != b]
    return np.array(edges, dtype=np.float64).reshape(-1, 2, 2)


def _pieces(segments: Doubles, tolerance: float) -> list[tuple[Point, Point]]:
    """Return the edges cut where they cross or touch, each piece once, whatever its direction."""
    pieces: dict[tuple[Point, Point], None] = {}
    places: dict[tuple[int, int], Point] = {}
    for segment, cuts in zip(segments, _cuts(segments, tolerance), strict=True):
        stops = [_place(stop, tolerance, places) for stop in _ordered(segment, cuts)]
        for p, q in pairwise(stops):
            if p != q and (q, p) not in pieces:
                pieces[(p, q)] = None
    return list(pieces)


def _place(point: Point, tolerance: float, places: dict[tuple[int, int], Point]) -> Point:
    """Return the first point that was seen within the tolerance of this one."""
    return places.setdefault((round(point[0] / tolerance), round(point[1] / tolerance)), point)


class _Edges(NamedTuple):
    """Edges by their starts and the vectors to their ends, shape (edges, 2), and their lengths."""

    starts: Doubles
    along: Doubles
    lengths: Doubles


def _cuts(segments: Doubles, tolerance: float) -> list[Doubles]:
    """Return the points of every edge where other edges cross it or end on it."""
    along = segments[:, 1] - segments[:, 0]
    edges = _Edges(segments[:, 0], along, np.linalg.norm(along, axis=1))
    vertices = np.unique(segments.reshape(-1, 2), axis=0)
    cuts = []
    for start, direction, length in zip(*edges, strict=True):
        touching = _on_edge(vertices, start, direction, length, tolerance)
        crossing = _crossings(start, direction, length, edges, tolerance)
        cuts.append(np.concatenate([touching, crossing]))
    return cuts


def _on_edge(vertices: Doubles, start: Doubles, direction: Doubles, length: float, tolerance: float) -> Doubles:
    offsets = vertices - start
    at = offsets @ direction / length
    away = np.abs(offsets[:, 0] * direction[1] - offsets[:, 1] * direction[0]) / length
    touching: Doubles = vertices[(away <= tolerance) & (at > tolerance) & (at < length - tolerance)]
    return touching


def _crossings(start: Doubles, direction: Doubles, length: float, edges: _Edges, tolerance: float) -> Doubles:
    """Return the points at which the edge properly crosses others. Touching ends are found as vertices on an edge."""
    starts, along, lengths = edges
    cross = direction[0] * along[:, 1] - direction[1] * along[:, 0]
    apart = np.abs(cross) > 1e-12 * length * lengths
    safe = np.where(apart, cross, 1.0)
    offsets = starts - start
    u = (offsets[:, 0] * along[:, 1] - offsets[:, 1] * along[:, 0]) / safe
    v = (offsets[:, 0] * direction[1] - offsets[:, 1] * direction[0]) / safe
    near_u, near_v = tolerance / length, tolerance / lengths
    inside = apart & (u > near_u) & (u < 1.0 - near_u) & (v > near_v) & (v < 1.0 - near_v)
    crossings: Doubles = start + u[inside, None] * direction
    return crossings


def _ordered(segment: Doubles, cuts: Doubles) -> list[Point]:
    """Return the points of the edge in order: its start, its cuts, its end."""
    along = segment[1] - segment[0]
    at = cuts @ along - segment[0] @ along
    stops = [segment[0], *cuts[np.argsort(at, kind="stable")], segment[1]]
    return [(float(x), float(y)) for x, y in stops]


def _winding(points: Doubles, rings: Rings) -> npt.NDArray[np.int64]:
    """Return the winding number of the rings about every point."""
    x, y = points[:, 0], points[:, 1]
    winding = np.zeros(len(points), dtype=np.int64)
    for (ax, ay), (bx, by) in _segments(rings):
        side = (bx - ax) * (y - ay) - (x - ax) * (by - ay)
        winding += (ay <= y) & (by > y) & (side > 0)
        winding -= (ay > y) & (by <= y) & (side < 0)
    return winding


def _trace(edges: Iterable[tuple[Point, Point]]) -> list[Ring]:
    """Return rings with the result on one side. A vertex with several ways takes the sharpest turn to that side."""
    leaving: dict[Point, list[Point]] = {}
    for a, b in edges:
        leaving.setdefault(a, []).append(b)
    rings: list[Ring] = []
    while leaving:
        start = next(iter(leaving))
        ring = [start]
        before, at = None, start
        while at in leaving:
            following = _next(leaving, before, at)
            before, at = at, following
            if at == start:
                rings.append(tuple(ring))
                break
            ring.append(at)
    return rings


def _next(leaving: dict[Point, list[Point]], before: Point | None, at: Point) -> Point:
    choices = leaving[at]
    best = choices[0] if before is None or len(choices) == 1 else max(choices, key=lambda to: _turn(before, at, to))
    choices.remove(best)
    if not choices:
        del leaving[at]
    return best


def _turn(before: Point, at: Point, after: Point) -> float:
    """Return the angle turned toward the inner side, -pi..pi."""
    ux, uy = at[0] - before[0], at[1] - before[1]
    vx, vy = after[0] - at[0], after[1] - at[1]
    return math.atan2(ux * vy - uy * vx, ux * vx + uy * vy)


def _area(ring: Sequence[Point]) -> float:
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in pairwise((*ring, ring[0]))) / 2.0 if ring else 0.0
