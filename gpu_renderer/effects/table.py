"""Colour effects that are one table per channel (format/effects.md 8.4)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gpu_renderer.effects.parameters import Parameter, curve, number, percent
from gpu_renderer.effects.registry import Route, Tier, effect
from gpu_renderer.effects.stage import Table, TableEffect
from gpu_renderer.effects.values import EffectValues

Curve = npt.NDArray[np.float64]
LEVELS: Curve = np.arange(256, dtype=np.float64)
X: Curve = LEVELS / 255


def entries(*channels: Curve) -> Table:
    """A table from levels of 0..255 for one channel or for three: rounded half up and clamped."""
    columns = channels if len(channels) == 3 else channels * 3
    return np.clip(np.floor(np.stack(columns, axis=1) + 0.5), 0, 255).astype(np.uint8)


def hump(distance: Curve, width: float) -> Curve:
    """E(d, w): a bell of the width about zero."""
    return np.asarray(np.exp(-np.square(distance / width)))


def hermite(points: list[tuple[float, float]]) -> Curve:
    """A tone curve through the points at every level, flat outside them."""
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


def _gamma_pedestal_gain(gamma: str, pedestal: str, gain: str) -> tuple[Parameter, ...]:
    return number(gamma, 1, 0.1, 10), number(pedestal, 0, -1, 1), number(gain, 1, 0, 10)


@effect("levels", Tier.CORE, Route.TABLE)
class Levels(TableEffect):
    """Stretches the tones between a black and a white point, with a gamma."""

    parameters = (
        number("inputBlack", 0, 0, 255),
        number("inputWhite", 255, 0, 255),
        number("gamma", 1, 0.1, 10),
        number("outputBlack", 0, 0, 255),
        number("outputWhite", 255, 0, 255),
    )

    def table(self, values: EffectValues) -> Table:
        return entries(level_curve(values, "inputBlack", "inputWhite", "gamma", "outputBlack", "outputWhite"))


@effect("curves", Tier.CORE, Route.TABLE)
class Curves(TableEffect):
    """Tone curves for all channels and for each."""

    parameters = (
        curve("points"),
        curve("redPoints"),
        curve("greenPoints"),
        curve("bluePoints"),
    )

    def table(self, values: EffectValues) -> Table:
        master = _curve_table(values.points("points"))
        own = (_curve_table(values.points(key)) for key in ("redPoints", "greenPoints", "bluePoints"))
        return np.stack([channel[master] for channel in own], axis=1)


@effect("posterize", Tier.COMMON, Route.TABLE)
class Posterize(TableEffect):
    """Cuts the tones to a few steps."""

    parameters = (number("levels", 6, 2, 255),)

    def table(self, values: EffectValues) -> Table:
        steps = min(255, max(2, values.whole("levels"))) - 1
        return entries(np.floor(X * steps + 0.5) / steps * 255)


@effect("exposure", Tier.COMMON, Route.TABLE)
class Exposure(TableEffect):
    """Exposure in stops, an offset and a gamma."""

    parameters = (
        number("exposure", 0, -20, 20, unit="stops"),
        number("offset", 0, -1, 1),
        number("gammaCorrection", 1, 0.01, 10),
    )

    def table(self, values: EffectValues) -> Table:
        gamma = values.number("gammaCorrection")
        exposed = np.clip(X * 2 ** min(64.0, values.number("exposure")) + values.number("offset"), 0, 1)
        return entries(255 * exposed ** (1 if gamma <= 0.0001 else 1 / gamma))


@effect("lumetri", Tier.COMMON, Route.TABLE)
class Lumetri(TableEffect):
    """A colourist's basic panel: exposure, contrast, tones, white balance."""

    parameters = (
        number("exposure", 0, -5, 5, unit="stops"),
        percent("contrast", 0, -100, 100),
        percent("highlights", 0, -100, 100),
        percent("shadows", 0, -100, 100),
        percent("whites", 0, -100, 100),
        percent("blacks", 0, -100, 100),
        percent("temperature", 0, -100, 100),
        percent("tint", 0, -100, 100),
    )

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


@effect("color-balance", Tier.COMMON, Route.TABLE)
class ColorBalance(TableEffect):
    """Moves shadows, midtones and highlights of each channel."""

    parameters = (
        *(
            number(tone + channel, 0, -100, 100)
            for tone in ("shadow", "midtone", "highlight")
            for channel in ("Red", "Green", "Blue")
        ),
    )

    def table(self, values: EffectValues) -> Table:
        return entries(*(255 * self._balanced(values, channel) for channel in ("Red", "Green", "Blue")))

    def _balanced(self, values: EffectValues, channel: str) -> Curve:
        tones = (("shadow", X), ("midtone", X - 0.5), ("highlight", 1 - X))
        return X + 0.5 * sum(values.fraction(tone + channel) * hump(distance, 0.35) for tone, distance in tones)


@effect("gamma-pedestal-gain", Tier.RARE, Route.TABLE)
class GammaPedestalGain(TableEffect):
    """Gamma, pedestal and gain of all channels and of each."""

    parameters = (
        *_gamma_pedestal_gain("gamma", "pedestal", "gain"),
        *_gamma_pedestal_gain("redGamma", "redPedestal", "redGain"),
        *_gamma_pedestal_gain("greenGamma", "greenPedestal", "greenGain"),
        *_gamma_pedestal_gain("blueGamma", "bluePedestal", "blueGain"),
    )

    def table(self, values: EffectValues) -> Table:
        prefixes = ("red", "green", "blue")
        return entries(*(255 * _gained(values, "", np.clip(_gained(values, prefix, X), 0, 1)) for prefix in prefixes))


def level_curve(
    values: EffectValues, in_black: str, in_white: str, gamma: str, out_black: str, out_white: str
) -> Curve:
    """Return the levels formula over 0..255; the arguments name the parameters."""
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
