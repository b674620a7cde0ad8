"""Colour effects that are one affine matrix each (format/effects.md 8.3).

`affine` is the form of the GPU route; `filters` that of a baked layer, where eight of them are the browser's CSS filter
functions, with slightly other weights.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import numpy.typing as npt

from gpu_renderer.effects.parameters import color, degrees, flag, number, percent
from gpu_renderer.effects.registry import Route, Tier, effect
from gpu_renderer.effects.stage import IDENTITY, Affine, MatrixEffect, after
from gpu_renderer.effects.values import EffectValues

LUMA = (0.2126, 0.7152, 0.0722)
CSS_LUMA = (0.213, 0.715, 0.072)
_SEPIA = ((0.393, 0.769, 0.189), (0.349, 0.686, 0.168), (0.272, 0.534, 0.131))


def scaled(gain: float, offset: float = 0.0) -> Affine:
    """Every channel times the gain plus the offset."""
    return affine_of(gain * np.eye(3), offset)


def affine_of(matrix: npt.ArrayLike, offset: npt.ArrayLike = 0.0) -> Affine:
    """An affine map from its matrix and its offset."""
    return np.hstack([np.asarray(matrix, np.float64), np.broadcast_to(np.asarray(offset, np.float64), 3)[:, None]])


def saturated(amount: float, luma: tuple[float, float, float] = LUMA) -> Affine:
    """Channels moved from the luma by a factor: 0 is grey, 1 the identity."""
    return affine_of((1 - amount) * np.tile(luma, (3, 1)) + amount * np.eye(3))


def hue_turned(radians: float, luma: tuple[float, float, float] = LUMA) -> Affine:
    """Hues turned about the grey axis."""
    c, s = math.cos(radians), math.sin(radians)
    grey = np.tile(luma, (3, 1))
    r, g, b = luma
    sine = np.array([[-r, -g, 1 - b], [0.143, 0.140, -0.283], [-(1 - r), g, b]])
    return affine_of(grey + c * (np.eye(3) - grey) + s * sine)


def _plain(values: EffectValues, key: str) -> tuple[float, float, float]:
    """Only `#rrggbb` is read; anything else is black."""
    r, g, b, a = values.color_with(key, -1.0)
    return (r, g, b) if a == -1.0 else (0.0, 0.0, 0.0)


def _identity(row: str, column: str) -> float:
    return 100 if row == column.lower() else 0


def _limits(column: str) -> tuple[float, float]:
    return (-100, 100) if column == "Const" else (-200, 200)


class _OneAmount(MatrixEffect):
    """An effect of one percentage."""

    def affine(self, values: EffectValues) -> Affine:
        return self.of(values.fraction("amount"), LUMA)

    def filters(self, values: EffectValues) -> list[Affine]:
        return [self.of(values.fraction("amount"), CSS_LUMA)]

    def of(self, amount: float, luma: tuple[float, float, float]) -> Affine:
        """Return the map for an amount as a fraction."""
        raise NotImplementedError


@effect("brightness", Tier.CORE, Route.MATRIX)
class Brightness(_OneAmount):
    """Multiplies the colours."""

    parameters = (percent("amount", 130, 0, 300),)

    def of(self, amount: float, luma: tuple[float, float, float]) -> Affine:
        return scaled(amount)


@effect("contrast", Tier.CORE, Route.MATRIX)
class Contrast(_OneAmount):
    """Spreads the colours about middle grey."""

    parameters = (percent("amount", 130, 0, 300),)

    def of(self, amount: float, luma: tuple[float, float, float]) -> Affine:
        return scaled(amount, (1 - amount) / 2)


@effect("saturate", Tier.CORE, Route.MATRIX)
class Saturate(_OneAmount):
    """Moves the colours away from grey, or towards it."""

    parameters = (percent("amount", 160, 0, 300),)

    def of(self, amount: float, luma: tuple[float, float, float]) -> Affine:
        return saturated(amount, luma)


@effect("grayscale", Tier.COMMON, Route.MATRIX)
class Grayscale(_OneAmount):
    """Takes the colour out."""

    parameters = (percent("amount", 100),)

    def of(self, amount: float, luma: tuple[float, float, float]) -> Affine:
        return saturated(1 - amount, luma)


@effect("sepia", Tier.COMMON, Route.MATRIX)
class Sepia(_OneAmount):
    """Tones like an old photograph."""

    parameters = (percent("amount", 80),)

    def of(self, amount: float, luma: tuple[float, float, float]) -> Affine:
        return affine_of((1 - amount) * np.eye(3) + amount * np.array(_SEPIA))


@effect("hue-rotate", Tier.COMMON, Route.MATRIX)
class HueRotate(MatrixEffect):
    """Turns all hues."""

    parameters = (degrees("amount", 90, 0, 360),)

    def affine(self, values: EffectValues) -> Affine:
        return hue_turned(values.radians("amount"))

    def filters(self, values: EffectValues) -> list[Affine]:
        return [hue_turned(values.radians("amount"), CSS_LUMA)]


@effect("hue-saturation", Tier.CORE, Route.MATRIX)
class HueSaturation(MatrixEffect):
    """Hue, saturation and lightness together."""

    parameters = (
        degrees("hue", 0, -180, 180),
        number("saturation", 0, -100, 100),
        number("lightness", 0, -100, 100),
    )

    def affine(self, values: EffectValues) -> Affine:
        return functools.reduce(lambda done, step: after(step, done), self._steps(values, LUMA), IDENTITY)

    def filters(self, values: EffectValues) -> list[Affine]:
        return self._steps(values, CSS_LUMA)

    def _steps(self, values: EffectValues, luma: tuple[float, float, float]) -> list[Affine]:
        return [
            hue_turned(values.radians("hue"), luma),
            saturated(1 + values.fraction("saturation"), luma),
            scaled(1 + values.fraction("lightness")),
        ]


@effect("invert", Tier.COMMON, Route.MATRIX)
class Invert(_OneAmount):
    """Turns each channel over."""

    parameters = (percent("amount", 100),)

    def of(self, amount: float, luma: tuple[float, float, float]) -> Affine:
        return scaled(1 - 2 * amount, amount)


@effect("tint", Tier.CORE, Route.MATRIX)
class Tint(MatrixEffect):
    """Maps black to one colour and white to another."""

    is_drawn = False
    is_one_pass = True
    parameters = (
        color("mapBlack", "#000000"),
        color("mapWhite", "#ffffff"),
        percent("amount", 100),
    )

    def affine(self, values: EffectValues) -> Affine:
        amount = values.fraction("amount")
        black = np.array(_plain(values, "mapBlack"))
        white = np.array(_plain(values, "mapWhite"))
        return affine_of((1 - amount) * np.eye(3) + amount * np.outer(white - black, LUMA), amount * black)


@effect("channel-mixer", Tier.COMMON, Route.MATRIX)
class ChannelMixer(MatrixEffect):
    """Makes each channel from shares of all three."""

    is_drawn = False
    is_one_pass = True
    parameters = (
        *(
            percent(f"{row}{column}", _identity(row, column), *_limits(column))
            for row in ("red", "green", "blue")
            for column in ("Red", "Green", "Blue", "Const")
        ),
        flag("monochrome", False),
    )

    def affine(self, values: EffectValues) -> Affine:
        rows = ("red",) * 3 if values.flag("monochrome") else ("red", "green", "blue")
        matrix = [[values.fraction(row + column) for column in ("Red", "Green", "Blue")] for row in rows]
        return affine_of(matrix, [values.fraction(row + "Const") for row in ("red", "green", "blue")])
