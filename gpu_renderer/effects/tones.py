"""Colours of a canvas by palettes, and by tables made from the picture's own tones (effects.md 8.5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gpu_renderer.effects.canvas import Canvas
from gpu_renderer.effects.grading import LEVELS, Curve
from gpu_renderer.effects.registry import Effect, effect
from gpu_renderer.effects.values import EffectValues
from gpu_renderer.kernels.loading import kernels
from gpu_renderer.opengl.programs import UniformValue

LUMA_709: npt.NDArray[np.int32] = np.array([2126, 7152, 722], np.int32)
"""Luma weights in parts of 10,000."""
PALETTE_SAMPLES = 1024
_FIRE = [(0, 0, 0, 0), (0.35, 200, 30, 0), (0.7, 255, 190, 0), (1, 255, 255, 230)]
_SPECTRUM = [
    (0, 255, 0, 0), (0.17, 255, 255, 0), (0.33, 0, 255, 0), (0.5, 0, 255, 255),
    (0.67, 0, 0, 255), (0.83, 255, 0, 255), (1, 255, 0, 0),
]  # fmt: skip
_GREY = [(0, 0, 0, 0), (1, 255, 255, 255)]
_ICE = [(0, 0, 4, 40), (0.5, 0, 140, 210), (1, 230, 250, 255)]
_SOLARIZE = [(0, 0, 0, 0), (0.5, 255, 240, 180), (1, 0, 0, 0)]
PALETTES: tuple[Curve, ...] = tuple(np.array(stops, np.float64) for stops in (_FIRE, _SPECTRUM, _GREY, _ICE, _SOLARIZE))
"""Stops (offset, red, green, blue) of each palette of `colorama` (effects.md 8.5)."""


@effect("colorama")
class Colorama(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        stops = PALETTES[min(len(PALETTES) - 1, values.whole("palette", 0))]
        at = np.linspace(0, 1, PALETTE_SAMPLES)
        colors = np.stack([np.interp(at, stops[:, 0], stops[:, 1 + channel]) for channel in range(3)], axis=1)
        texture = canvas.texture(np.round(colors).astype(np.uint8).tobytes(), PALETTE_SAMPLES, 1, channels=3)
        canvas.apply(self.shader, values, spent={"u_palette_colors": texture})


@effect("shadow-highlight")
class ShadowHighlight(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        soft = canvas.box_means(math.floor(values.number("radius")))
        canvas.apply(self.shader, values, spent={"u_soft": soft})


@effect("equalize")
class Equalize(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        counts = _level_counts(canvas)
        of_channels = [counts[3]] * 3 if values.whole("equalizeMode") == 1 else counts[:3]
        table = np.stack([_cumulative(of_channel) for of_channel in of_channels], axis=1)
        mixed = LEVELS[:, None] + (np.floor(255 * table) - LEVELS[:, None]) * values.fraction("amount")
        map_tones(canvas, np.floor(mixed), values.number("blend"))


@effect("auto-levels")
class AutoLevels(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        map_tones(canvas, _stretched(_level_counts(canvas)[:3], values), values.number("blend"))


@effect("auto-contrast")
class AutoContrast(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        common = np.sum(_level_counts(canvas)[:3], axis=0)
        map_tones(canvas, np.repeat(_stretched([common], values), 3, axis=1), values.number("blend"))


@effect("auto-color")
class AutoColor(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        counts = _level_counts(canvas)[:3]
        table = _stretched(counts, values)
        medians = [_median(table[:, channel], counts[channel]) for channel in range(3)]
        target = sum(medians) / 3
        gammas = np.array([_neutral_gamma(median, target) for median in medians])
        exponents = 1 / (1 + (gammas - 1) * values.fraction("snapNeutral"))
        map_tones(canvas, np.floor(255 * (table / 255) ** exponents), values.number("blend"))


@effect("toner")
class Toner(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        keys = ("blackTone", "shadowTone", "midTone", "highlightTone", "whiteTone")
        tones = np.array([values.color(key)[:3] for key in keys])
        at = np.linspace(0, 255, len(tones))
        table = np.stack([np.interp(LEVELS, at, 255 * tones[:, channel]) for channel in range(3)], axis=1)
        map_tones(canvas, np.floor(table + 1e-6), values.number("blend"), by_luma=True)


def _shown_pixels(canvas: Canvas) -> npt.NDArray[np.uint8]:
    """Return the straight colours of every pixel that is not fully transparent: shape (pixels, 3)."""
    pixels = canvas.straight_pixels().reshape(-1, 4)
    shown: npt.NDArray[np.uint8] = pixels[pixels[:, 3] > 0][:, :3]
    return shown


def map_tones(canvas: Canvas, table: Curve, blend: float, *, by_luma: bool = False) -> None:
    """Map each channel by a table of shape (256, 3), mixed with `blend` percent of the source."""
    entries = np.clip(table, 0, 255).astype(np.uint8)
    texture = canvas.texture(np.ascontiguousarray(entries).tobytes(), 256, 1, channels=3)
    uniforms: dict[str, UniformValue] = {"u_by_luma": by_luma, "u_blend": blend}
    canvas.apply("effects/baked/tone_table.frag", uniforms=uniforms, spent={"u_table": texture})


def _counts(levels: npt.NDArray[np.integer[Any]]) -> Curve:
    return np.bincount(levels, minlength=256)[:256].astype(np.float64)


def _level_counts(canvas: Canvas) -> list[Curve]:
    """Return the number of pixels that are not fully transparent at each level of red, green, blue and luma."""
    if (native := kernels()) is not None:
        return list(native.windows.level_counts(canvas.straight_pixels()).astype(np.float64))
    pixels = _shown_pixels(canvas)
    luma = (pixels.astype(np.int32) @ LUMA_709 + 5_000) // 10_000
    return [_counts(levels) for levels in (*pixels.T, luma)]


def _median(table: Curve, counts: Curve) -> float:
    """Return the median of an increasing table's outputs.

    `counts`: number of pixels at each level. 0 without pixels.
    """
    below, total = np.cumsum(counts), int(counts.sum())
    if total == 0:
        return 0.0
    middle = [table[np.searchsorted(below, rank, side="right")] for rank in ((total - 1) // 2, total // 2)]
    return float(sum(middle) / 2)


def _cumulative(counts: Curve) -> Curve:
    """Return the share of pixels at or below each level."""
    return np.asarray(np.cumsum(counts) / max(1.0, counts.sum()))


def _percentile(counts: Curve, share: float) -> int:
    """Return the smallest non-empty level with at least the share of all pixels at or below it."""
    reached = (np.cumsum(counts) >= share * counts.sum()) & (counts > 0)
    return int(np.argmax(reached)) if reached.any() else 255


def _stretched(channels: Sequence[Curve], values: EffectValues) -> Curve:
    """Return tables that stretch channels between their clipped extremes, shape (256, channels).

    `channels`: level counts.
    """
    columns = []
    for counts in channels:
        shares = values.fraction("blackClip"), 1 - values.fraction("whiteClip")
        low, high = (_percentile(counts, share) for share in shares)
        columns.append(LEVELS if high <= low else np.floor(np.clip(255 * (LEVELS - low) / (high - low), 0, 255)))
    return np.stack(columns, axis=1)


def _neutral_gamma(median: float, target: float) -> float:
    """Return the exponent that moves a channel's median to the mean of all medians, limited to 1/3..3."""
    own, wanted = median / 255, target / 255
    if min(own, wanted) < 0.001 or max(own, wanted) > 0.999:
        return 1.0
    return min(3.0, max(1 / 3, math.log(own) / math.log(wanted)))
