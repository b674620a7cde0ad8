"""Contrast enhancement of glyph coverage by the text's colour (text.md 10.3)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gpu_renderer.geometry.color import Rgba, decoded_array, encoded_array

Table = npt.NDArray[np.uint8]
Curve = Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]

GAMMA, CONTRAST = 1.1875, 0.2
"""Values of the reference's browser."""
SKIA_CONTRAST = 0.5
"""Contrast of the Skia that draws our masks. Its curve is that of sRGB, and neither can be set."""
NEUTRAL = 128
"""Grey in which masks are drawn: its table loses least when it is undone."""


def luminance(color: Rgba) -> int:
    """Return the luminance 0..255, of eight steps, that selects the table of a colour."""
    channels = 0.2126 * _quantised(color.red) + 0.7152 * _quantised(color.green) + 0.0722 * _quantised(color.blue)
    return _replicated(int(channels + 0.5))


def table(color: Rgba) -> Table:
    """Map raw coverage 0..255 to what the reference paints in the colour."""
    return _reference_table(luminance(color))


def mask_table(color: Rgba) -> Table:
    """Map coverage as Skia draws it in neutral grey to what the reference paints in the colour."""
    return table(color)[_raw_of_neutral()]


def _quantised(channel: float) -> int:
    return _replicated(int(channel * 255 + 0.5))


def _replicated(value: int) -> int:
    top = value >> 5
    return top << 5 | top << 2 | top >> 1


@lru_cache(maxsize=8)
def _reference_table(step: int) -> Table:
    return _curve_table(step / 255, CONTRAST, lambda v: v**GAMMA, lambda v: v ** (1 / GAMMA))


@lru_cache(maxsize=1)
def _raw_of_neutral() -> Table:
    """Return the inverse of Skia's own table for the neutral grey: the raw coverage nearest to each value that it gives."""
    forward = _curve_table(_replicated(NEUTRAL) / 255, SKIA_CONTRAST, decoded_array, encoded_array).astype(int)
    raw: Table = np.abs(forward[None, :] - np.arange(256)[:, None]).argmin(axis=1).astype(np.uint8)
    return raw


def _curve_table(source: float, contrast: float, decode: Curve, encode: Curve) -> Table:
    target = 1 - source
    linear_source, linear_target = decode(np.array([source, target]))
    raw = np.arange(256) / 255
    alpha = raw + (1 - raw) * contrast * linear_target * raw
    if source == target:
        return _bytes(alpha)
    return _bytes((encode(linear_source * alpha + linear_target * (1 - alpha)) - target) / (source - target))


def _bytes(unit: npt.NDArray[np.float64]) -> Table:
    whole: Table = np.floor(255 * unit + 0.5).clip(0, 255).astype(np.uint8)
    return whole
