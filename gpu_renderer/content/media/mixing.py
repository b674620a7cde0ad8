"""Two neighbouring frames of a video as one (layers.md 9.7): the later one over the earlier one, in linear light."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from gpu_renderer.content.vector.surface import Pixels
from gpu_renderer.geometry.color import decoded_array, encoded_array

LEAST_WEIGHT = 0.001

_LINEAR = decoded_array(np.arange(256) / 255.0).astype(np.float32)
_STEPS = 4095
_ENCODED = np.round(255.0 * encoded_array(np.arange(_STEPS + 1) / _STEPS)).astype(np.uint8)


class Bracket(NamedTuple):
    """Times of two frames, and the weight of the later one (0: only the earlier one)."""

    earlier_seconds: float
    later_seconds: float
    weight: float


def bracket(seconds: float, frames_per_second: float) -> Bracket:
    """Return the frames on both sides of a time."""
    position = seconds * frames_per_second
    first = math.floor(position)
    weight = position - first
    return Bracket(first / frames_per_second, (first + 1) / frames_per_second, weight if weight > LEAST_WEIGHT else 0.0)


def mixed(earlier: Pixels, later: Pixels, weight: float) -> Pixels:
    """Return the later frame at an opacity of `weight` over the earlier one; both opaque, encoded sRGB, of one shape."""
    light = _LINEAR[earlier[..., :3]] * np.float32(1.0 - weight) + _LINEAR[later[..., :3]] * np.float32(weight)
    result = np.empty_like(earlier)
    result[..., :3] = _ENCODED[np.round(light * _STEPS).astype(np.int32)]
    result[..., 3] = np.maximum(earlier[..., 3], later[..., 3])
    return result
