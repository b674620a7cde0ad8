"""Colour effects that consist of one affine matrix each, or of one table per channel (effects.md 8.3 and 8.4).

On a baked layer eight of the matrices are the browser's CSS filter functions, whose weights differ slightly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gpu_renderer.effects.registry import effect
from gpu_renderer.effects.stage import CSS_LUMA, LUMA, Affine, Luma, MatrixEffect, Table, TableEffect
from gpu_renderer.effects.values import EffectValues

_SEPIA = ((0.393, 0.769, 0.189), (0.349, 0.686, 0.168), (0.272, 0.534, 0.131))
Curve = npt.NDArray[np.float64]
LEVELS: Curve = np.arange(256, dtype=np.float64)
X: Curve = LEVELS / 255


def scaled(gain: float, offset: float = 0.0) -> Affine:
    """Return the map that multiplies every channel by the gain and adds the offset."""
    return affine_of(gain * np.eye(3), offset)


def affine_of(matrix: npt.ArrayLike, offset: npt.ArrayLike = 0.0) -> Affine:
    """Return the affine map with this matrix and offset."""
    return np.hstack([np.asarray(matrix, np.float64), np.broadcast_to(np.asarray(offset, np.float64), 3)[:, None]])


def saturated(amount: float, luma: Luma) -> Affine:
    """Return the map that scales the distance of each channel from the luma: 0 gives grey, 1 is the identity."""
    return affine_of((1 - amount) * np.tile(luma, (3, 1)) + amount * np.eye(3))


def hue_turned(radians: float, luma: Luma) -> Affine:
    """Return the map that rotates hues about the grey axis."""
    c, s = math.cos(radians), math.sin(radians)
    grey = np.tile(luma, (3, 1))
    r, g, b = luma
    sine = np.array([[-r, -g, 1 - b], [0.143, 0.140, -0.283], [-(1 - r), g, b]])
    return affine_of(grey + c * (np.eye(3) - grey) + s * sine)


def _amount(values: EffectValues, luma: Luma) -> float:
    """Return `amount` as a fraction. CSS filters clamp it to 1."""
    amount = values.fraction("amount")
    return min(1.0, amount) if luma is CSS_LUMA else amount


def _linear(slope: float, intercept: float = 0.0) -> Table:
    """Return the table of a CSS filter that is linear in each channel.

    Browsers compute an entry in single precision and truncate it: `brightness(107%)` maps 50 to 53, not 54.
    """
    levels = LEVELS.astype(np.float32)
    return _truncated(np.float32(slope) * levels + np.float32(255) * np.float32(intercept))


def _between(first: float, last: float) -> Table:
    """Return the table of a CSS filter that runs from one value to another. Entries are truncated."""
    low, high = float(np.float32(first)), float(np.float32(last))
    table = _truncated(255.0 * (low + X * (high - low)))
    table[-1] = _truncated(np.array([255.0 * high]))[0]
    return table


def _truncated(levels: npt.NDArray[np.floating]) -> Table:
    return np.repeat(np.clip(levels, 0, 255).astype(np.uint8)[:, None], 3, axis=1)


def _hex_color(values: EffectValues, key: str) -> tuple[float, float, float]:
    """Return the colour of a `#rrggbb` value, or black for any other text."""
    r, g, b, a = values.color_with(key, -1.0)
    return (r, g, b) if a == -1.0 else (0.0, 0.0, 0.0)


@effect("brightness")
class Brightness(MatrixEffect):
    def steps(self, values: EffectValues, luma: Luma) -> list[Affine]:
        return [scaled(values.fraction("amount"))]

    def filters(self, values: EffectValues) -> Sequence[Table]:
        return [_linear(values.fraction("amount"))]


@effect("contrast")
class Contrast(MatrixEffect):
    def steps(self, values: EffectValues, luma: Luma) -> list[Affine]:
        amount = values.fraction("amount")
        return [scaled(amount, (1 - amount) / 2)]

    def filters(self, values: EffectValues) -> Sequence[Table]:
        amount = values.fraction("amount")
        return [_linear(amount, 0.5 - 0.5 * amount)]


@effect("saturate")
class Saturate(MatrixEffect):
    def steps(self, values: EffectValues, luma: Luma) -> list[Affine]:
        return [saturated(values.fraction("amount"), luma)]


@effect("grayscale")
class Grayscale(MatrixEffect):
    def steps(self, values: EffectValues, luma: Luma) -> list[Affine]:
        return [saturated(1 - _amount(values, luma), luma)]


@effect("sepia")
class Sepia(MatrixEffect):
    def steps(self, values: EffectValues, luma: Luma) -> list[Affine]:
        amount = _amount(values, luma)
        return [affine_of((1 - amount) * np.eye(3) + amount * np.array(_SEPIA))]


@effect("hue-rotate")
class HueRotate(MatrixEffect):
    def steps(self, values: EffectValues, luma: Luma) -> list[Affine]:
        return [hue_turned(values.radians("amount"), luma)]


@effect("hue-saturation")
class HueSaturation(MatrixEffect):
    def steps(self, values: EffectValues, luma: Luma) -> list[Affine]:
        return [
            hue_turned(values.radians("hue"), luma),
            saturated(1 + values.fraction("saturation"), luma),
            scaled(1 + values.fraction("lightness")),
        ]

    def filters(self, values: EffectValues) -> Sequence[Affine | Table]:
        hue, saturation, _ = self.steps(values, CSS_LUMA)
        return [hue, saturation, _linear(1 + values.fraction("lightness"))]


@effect("invert")
class Invert(MatrixEffect):
    def steps(self, values: EffectValues, luma: Luma) -> list[Affine]:
        amount = _amount(values, luma)
        return [scaled(1 - 2 * amount, amount)]

    def filters(self, values: EffectValues) -> Sequence[Table]:
        amount = _amount(values, CSS_LUMA)
        return [_between(amount, 1 - amount)]


@effect("tint")
class Tint(MatrixEffect):
    def steps(self, values: EffectValues, luma: Luma) -> list[Affine]:
        amount = values.fraction("amount")
        black, white = (np.array(_hex_color(values, key)) for key in ("mapBlack", "mapWhite"))
        # Both routes use the weights of the GPU route, because no CSS filter does this.
        return [affine_of((1 - amount) * np.eye(3) + amount * np.outer(white - black, LUMA), amount * black)]


@effect("channel-mixer")
class ChannelMixer(MatrixEffect):
    def steps(self, values: EffectValues, luma: Luma) -> list[Affine]:
        rows = ("red",) * 3 if values.flag("monochrome") else ("red", "green", "blue")
        matrix = [[values.fraction(row + column) for column in ("Red", "Green", "Blue")] for row in rows]
        return [affine_of(matrix, [values.fraction(row + "Const") for row in ("red", "green", "blue")])]


def entries(*channels: Curve) -> Table:
    """Return a table from the output levels, 0..255, of one channel or of three, rounded half up and clamped."""
    columns = channels if len(channels) == 3 else channels * 3
    return np.clip(np.floor(np.stack(columns, axis=1) + 0.5), 0, 255).astype(np.uint8)


def hump(distance: Curve, width: float) -> Curve:
    """Return E(d, w): a bell curve of this width around zero."""
    return np.asarray(np.exp(-np.square(distance / width)))


def hermite(points: list[tuple[float, float]]) -> Curve:
    """Return a tone curve through the points, for every level. It is flat outside the points."""
    ordered = sorted(points, key=lambda point: point[0])
    x, y = np.array(ordered).T
    before, behind = np.arange(len(x)) - 1, np.arange(len(x)) + 1
    before, behind = before.clip(0), behind.clip(max=len(x) - 1)
    run = x[behind] - x[before]
    slope = np.divide(y[behind] - y[before], run, out=np.zeros_like(run), where=run != 0)
    i = np.clip(np.searchsorted(x, LEVELS, side="right") - 1, 0, len(x) - 2)
    h = x[i + 1] - x[i]
    u = np.clip(np.divide(LEVELS - x[i], h, out=np.zeros_like(h), where=h != 0), 0, 1)
    return np.asarray(
        (1 + 2 * u) * (1 - u) ** 2 * y[i]
        + u * (1 - u) ** 2 * h * slope[i]
        + u**2 * (3 - 2 * u) * y[i + 1]
        + u**2 * (u - 1) * h * slope[i + 1]
    )


@effect("levels")
class Levels(TableEffect):
    def table(self, values: EffectValues) -> Table:
        return entries(level_curve(values, "inputBlack", "inputWhite", "gamma", "outputBlack", "outputWhite"))


@effect("curves")
class Curves(TableEffect):
    def table(self, values: EffectValues) -> Table:
        master = _curve_table(values.points("points"))
        own = (_curve_table(values.points(key)) for key in ("redPoints", "greenPoints", "bluePoints"))
        return np.stack([channel[master] for channel in own], axis=1)


@effect("posterize")
class Posterize(TableEffect):
    def table(self, values: EffectValues) -> Table:
        steps = values.whole("levels", 2, 255) - 1
        return entries(np.floor(X * steps + 0.5) / steps * 255)


@effect("exposure")
class Exposure(TableEffect):
    def table(self, values: EffectValues) -> Table:
        gamma = values.number("gammaCorrection")
        exposed = np.clip(X * 2 ** min(64.0, values.number("exposure")) + values.number("offset"), 0, 1)
        return entries(255 * exposed ** (1 if gamma <= 0.0001 else 1 / gamma))


@effect("lumetri")
class Lumetri(TableEffect):
    def table(self, values: EffectValues) -> Table:
        warm, green = 0.3 * values.fraction("temperature"), 0.3 * values.fraction("tint")
        gain = 2 ** min(64.0, values.number("exposure"))
        return entries(*(255 * self._toned(X * balance * gain, values) for balance in (1 + warm, 1 - green, 1 - warm)))

    def _toned(self, exposed: Curve, values: EffectValues) -> Curve:
        x = np.clip(exposed, 0, 1)
        x = np.clip((x - 0.5) * (1 + values.fraction("contrast")) + 0.5, 0, 1)
        low = values.fraction("shadows") * hump(x, 0.35) + values.fraction("blacks") * hump(x, 0.15)
        high = values.fraction("highlights") * hump(1 - x, 0.35) + values.fraction("whites") * hump(1 - x, 0.15)
        return np.asarray(np.clip(x + 0.5 * (low + high), 0, 1))


@effect("color-balance")
class ColorBalance(TableEffect):
    def table(self, values: EffectValues) -> Table:
        return entries(*(255 * self._balanced(values, channel) for channel in ("Red", "Green", "Blue")))

    def _balanced(self, values: EffectValues, channel: str) -> Curve:
        tones = (("shadow", X), ("midtone", X - 0.5), ("highlight", 1 - X))
        return X + 0.5 * sum(values.fraction(tone + channel) * hump(distance, 0.35) for tone, distance in tones)


@effect("gamma-pedestal-gain")
class GammaPedestalGain(TableEffect):
    def table(self, values: EffectValues) -> Table:
        prefixes = ("red", "green", "blue")
        return entries(*(255 * _gained(values, "", np.clip(_gained(values, prefix, X), 0, 1)) for prefix in prefixes))


def level_curve(
    values: EffectValues, in_black: str, in_white: str, gamma: str, out_black: str, out_white: str
) -> Curve:
    """Return the levels formula over 0..255. The arguments are the names of the parameters."""
    low, high = values.number(in_black), values.number(in_white)
    t = np.clip((LEVELS - low) / max(1e-6, high - low), 0, 1)
    floor = values.number(out_black)
    return np.asarray(floor + (values.number(out_white) - floor) * t ** (1 / max(0.001, values.number(gamma))))


def _curve_table(points: list[tuple[float, float]]) -> npt.NDArray[np.uint8]:
    if len(points) < 2 or points == [(0, 0), (255, 255)]:
        return np.arange(256, dtype=np.uint8)
    return np.clip(np.floor(hermite(points) + 0.5), 0, 255).astype(np.uint8)


def _gained(values: EffectValues, prefix: str, x: Curve) -> Curve:
    gamma, pedestal, gain = (
        values.number(prefix + key.capitalize() if prefix else key) for key in ("gamma", "pedestal", "gain")
    )
    return np.asarray(pedestal + gain * np.clip(x, 0, 1) ** (1 / max(1e-6, gamma)))
