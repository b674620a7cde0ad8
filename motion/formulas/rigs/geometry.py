"""The mesh of a rig: a regular grid over the layer's box."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from motion.arrays import Doubles

Indices = npt.NDArray[np.int64]


def grid(width: float, height: float, density: int) -> Doubles:
    """Vertices in rows from the top left, centred."""
    x, y = (np.linspace(-extent / 2.0, extent / 2.0, density + 1) for extent in (width, height))
    return np.stack([np.tile(x, density + 1), np.repeat(y, density + 1)], axis=1)


@lru_cache(maxsize=8)
def triangles(density: int) -> tuple[tuple[int, int, int], ...]:
    """Return two triangles for each cell, as indices of vertices."""
    row = density + 1
    corners = [j * row + i for j in range(density) for i in range(density)]
    return tuple(t for a in corners for t in ((a, a + 1, a + row), (a + 1, a + row + 1, a + row)))


@lru_cache(maxsize=8)
def edges(density: int) -> tuple[Indices, Indices]:
    """Every edge of the triangles in both directions: the vertices that it comes from and those that it leads to."""
    corners = np.array(triangles(density), dtype=np.int64)
    pairs = np.concatenate([np.roll(corners, -corner, axis=1)[:, :2] for corner in range(3)])
    both = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
    return both[:, 0], both[:, 1]


def nearest(rest: Doubles, x: float, y: float) -> int:
    """Return the vertex that lies nearest to a point."""
    return int(np.hypot(*(rest - (x, y)).T).argmin())


def mixed(copies: Sequence[Doubles], weights: Sequence[Doubles]) -> Doubles:
    """Return the weighted mean of several copies of the vertices."""
    total = np.sum(weights, axis=0)
    return np.asarray(sum(copy * (weight / total)[:, None] for copy, weight in zip(copies, weights, strict=True)))


def turn(angle: float) -> Doubles:
    """Return the 2 x 2 rotation by an angle in radians, clockwise on screen."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s], [s, c]])
