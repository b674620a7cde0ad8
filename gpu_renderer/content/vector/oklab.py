"""Oklab, the space in which browsers mix colours outside of sRGB notation (CSS Color 4, 9.2 and 12)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gpu_renderer.geometry.color import Rgba, decoded_array, encoded_array

Channels = npt.NDArray[np.float64]
STEPS, LIGHT_STEPS = 16, 64
"""Steps between two stops, in Oklab and in linear light. Levels near black are steep in light."""
_TO_ROOTS = np.array(
    ((1.0, 0.3963377774, 0.2158037573), (1.0, -0.1055613458, -0.0638541728), (1.0, -0.0894841775, -1.2914855480))
)
_TO_LINEAR = np.array(
    (
        (4.0767416621, -3.3077115913, 0.2309699292),
        (-1.2684380046, 2.6097574011, -0.3413193965),
        (-0.0041960863, -0.7034186147, 1.7076147010),
    )
)
_FROM_LINEAR, _FROM_ROOTS = np.linalg.inv(_TO_LINEAR), np.linalg.inv(_TO_ROOTS)


def to_linear(lab: Channels) -> Channels:
    """Return linear sRGB of colours in Oklab. The last axis holds the channels. Values can lie outside 0..1."""
    linear: Channels = (lab @ _TO_ROOTS.T) ** 3 @ _TO_LINEAR.T
    return linear


def from_linear(linear: Channels) -> Channels:
    """Return colours of linear sRGB in Oklab."""
    lab: Channels = np.cbrt(linear @ _FROM_LINEAR.T) @ _FROM_ROOTS.T
    return lab


def mixed(stops: list[tuple[Rgba, float]]) -> list[tuple[Rgba, float]]:
    """Return the stops of a gradient with extra stops between them, so that mixing in sRGB looks like mixing in Oklab."""
    return _spread(stops, STEPS, from_linear, to_linear)


def mixed_in_light(stops: list[tuple[Rgba, float]]) -> list[tuple[Rgba, float]]:
    """Return the stops of a gradient with extra stops between them, so that mixing in sRGB looks like mixing light."""
    return _spread(stops, LIGHT_STEPS, lambda linear: linear, lambda linear: linear)


def _spread(
    stops: list[tuple[Rgba, float]],
    steps: int,
    into: Callable[[Channels], Channels],
    back: Callable[[Channels], Channels],
) -> list[tuple[Rgba, float]]:
    """Return stops with further ones between them. `into`, `back`: from linear sRGB to the space that mixes, and back."""
    values = np.array([color for color, _ in stops], np.float64)
    values[:, :3] = into(decoded_array(values[:, :3]))
    offsets = np.array([offset for _, offset in stops])
    places = np.concatenate(
        [np.arange(len(stops) - 1).repeat(steps) + np.tile(np.arange(steps) / steps, len(stops) - 1), [len(stops) - 1]]
    )
    at = np.arange(len(stops))
    spread = np.stack([np.interp(places, at, channel) for channel in values.T], axis=1)
    spread[:, :3] = encoded_array(np.clip(back(spread[:, :3]), 0.0, 1.0))
    return [
        (Rgba(*map(float, color)), float(place))
        for color, place in zip(spread, np.interp(places, at, offsets), strict=True)
    ]
