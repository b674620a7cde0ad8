"""The chain of path operators: its first outline, its order, and the box that grows with its repeaters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from motion.formulas import outline
from motion.formulas.outline import Polyline
from motion.formulas.path_ops import points, repeater, trim, wiggle
from motion.formulas.path_ops.stored import PathOperator
from motion.snapshot import Run

RUN_POINTS_MAX = 50_000
"""Points that a chain may hold; beyond it the remaining operators are left out, so that no document exhausts memory."""

Lines = tuple[Polyline, ...]
Step = Callable[[PathOperator, Lines, float], Lines]


@dataclass(frozen=True, slots=True)
class ChainResult:
    """The outline after the chain and the box that it is painted in. No runs: the layer draws nothing.

    `painted_apart`: some run has its own opacity or stroke factor, so every run is painted on its own. The stroke factor
    counts only on a layer with exactly one stroke.
    """

    runs: tuple[Run, ...]
    width: float
    height: float
    painted_apart: bool


def apply(
    operators: Sequence[PathOperator],
    primitive: Literal["rect", "ellipse", "path"],
    width: float,
    height: float,
    runs: Sequence[Run],
    time_seconds: float,
) -> ChainResult | None:
    """Return the chain's result at a layer time. None if no operator is active and the shape is drawn normally."""
    active = [operator for operator in operators if not operator.is_inert]
    if not active:
        return None
    lines = _start(active, primitive, width, height, runs)
    for operator in active:
        with np.errstate(all="ignore"):  # what overflows is dropped below
            changed = _STEPS[operator.type](operator, lines, time_seconds)
        if sum(len(line.points) for line in changed) > RUN_POINTS_MAX:
            break
        lines = changed
    lines = tuple(line for line in lines if line.points and all(math.isfinite(x + y) for x, y in line.points))
    if any(operator.type == "repeater" for operator in active):
        width, height = _grown_box(width, height, lines)
    painted_apart = any(line.opacity != 1.0 or line.stroke_factor != 1.0 for line in lines)
    return ChainResult(tuple(map(outline.corner_run, lines)), width, height, painted_apart)


def _start(active: Sequence[PathOperator], primitive: str, width: float, height: float, runs: Sequence[Run]) -> Lines:
    """Return the first outline: a path's vertices, a 48-gon, or hard corners with more points for operators that bend."""
    if primitive == "path":
        return tuple(map(outline.anchors, runs))
    if primitive == "ellipse":
        return (outline.ellipse(width, height),)
    is_bent = any(operator.type in {"pucker", "twist"} for operator in active)
    return (outline.rectangle(width, height, points_on_edge=8 if is_bent else 0),)


def _grown_box(width: float, height: float, lines: Lines) -> tuple[float, float]:
    distances = [(abs(x), abs(y)) for line in lines for x, y in line.points]
    if not distances:
        return width, height
    return max(width, 2.0 * max(x for x, _ in distances)), max(height, 2.0 * max(y for _, y in distances))


def _each(change: Callable[[PathOperator, Polyline], Sequence[outline.Point]]) -> Step:
    def step(operator: PathOperator, lines: Lines, time_seconds: float) -> Lines:
        return tuple(line._replace(points=tuple(change(operator, line))) for line in lines)

    return step


_STEPS: Mapping[str, Step] = {
    "zigzag": _each(points.zigzag),
    "roundCorners": _each(points.round_corners),
    "pucker": _each(points.pucker),
    "twist": _each(points.twist),
    "offset": _each(points.offset),
    "trim": trim.trim,
    "repeater": repeater.repeat,
    "roughen": wiggle.roughen,
    "wiggleTransform": wiggle.wiggle_transform,
}
