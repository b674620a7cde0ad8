"""Colour matrices and transfer functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_renderer.content.svg.document import Element
from gpu_renderer.content.svg.lengths import length, numbers

_SATURATE = np.array([[0.213, 0.715, 0.072]] * 3)
_IDENTITY = np.eye(3)


def color_matrix_rows(kind: str, values: list[float]) -> list[float]:
    """Return the 4 x 5 matrix of an feColorMatrix in row order; empty where the values are wrong."""
    if kind == "matrix":
        return values if len(values) == 20 else []
    if kind == "luminanceToAlpha":
        return [0.0] * 15 + [0.2126, 0.7152, 0.0722, 0.0, 0.0]
    amount = values[0] if values else (1.0 if kind == "saturate" else 0.0)
    rows = _saturated(amount) if kind == "saturate" else _turned(amount)
    padded = [[*row, 0.0, 0.0] for row in rows.tolist()]
    return [value for row in padded for value in row] + [0.0, 0.0, 0.0, 1.0, 0.0]


def _saturated(amount: float) -> Any:
    return _SATURATE + amount * (_IDENTITY - _SATURATE)


def _turned(degrees: float) -> Any:
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    turn = np.array([[-0.213, -0.715, 0.928], [0.143, 0.140, -0.283], [-0.787, 0.715, 0.072]])
    return _SATURATE + cos * (_IDENTITY - _SATURATE) + sin * turn


def transfer_table(function: Element) -> list[int]:
    """Return the 256 levels that a transfer function makes of a channel's."""
    kind = function.get("type") or "identity"
    x = np.arange(256) / 255
    values = numbers(function.get("tableValues"))
    slope, amplitude, exponent = (length(function.get(n), 1.0, 1.0) for n in ("slope", "amplitude", "exponent"))
    intercept, offset = (length(function.get(name), 1.0) for name in ("intercept", "offset"))
    y = x
    if kind == "linear":
        y = slope * x + intercept
    elif kind == "gamma":
        y = amplitude * x**exponent + offset
    elif kind == "table" and values:
        y = np.interp(x, np.linspace(0, 1, len(values)), values)
    elif kind == "discrete" and values:
        y = np.array(values)[np.minimum((x * len(values)).astype(int), len(values) - 1)]
    return np.floor(y.clip(0, 1) * 255 + 0.5).astype(int).tolist()  # type: ignore[no-any-return]
