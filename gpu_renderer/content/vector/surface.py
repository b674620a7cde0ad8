"""Pixel buffers for Skia, as numpy arrays."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import skia

Pixels = npt.NDArray[np.uint8]
Points = npt.NDArray[np.float64]
"""Shape (n, 2)."""

SIDE_MAX_PX = 16384
AREA_MAX_PX = 1 << 25
"""Limit of the raster size: 128 MiB of RGBA."""


def fitting_scale(width: float, height: float, scale: float) -> float:
    """Return the scale, reduced if the raster of a width x height box would exceed the limits."""
    longest, area = max(width, height, 1e-9), max(width * height, 1e-9)
    return min(scale, SIDE_MAX_PX / longest, math.sqrt(AREA_MAX_PX / area))


def premultiplied(straight: Pixels) -> Pixels:
    """Return RGBA with colours multiplied by alpha, rounded."""
    alpha = straight[..., 3:].astype(np.uint16)
    colors = (straight[..., :3].astype(np.uint16) * alpha + 127) // 255
    return np.concatenate([colors.astype(np.uint8), straight[..., 3:]], axis=-1)


def rgba(width: int, height: int) -> tuple[Pixels, skia.Canvas]:
    """Return a transparent premultiplied RGBA buffer of `height` rows, and its canvas."""
    pixels = np.zeros((height, width, 4), np.uint8)
    return pixels, skia.Canvas(pixels, skia.ColorType.kRGBA_8888_ColorType, skia.AlphaType.kPremul_AlphaType)


def bgra(width: int, height: int) -> tuple[Pixels, skia.Canvas]:
    """Return a transparent premultiplied BGRA buffer of `height` rows, and its canvas."""
    pixels = np.zeros((height, width, 4), np.uint8)
    return pixels, bgra_canvas(pixels)


def bgra_canvas(pixels: Pixels) -> skia.Canvas:
    """Return a canvas of premultiplied BGRA.

    Skia rounds translucent colours in this order of bytes as the reference does. In RGBA it has other code for them.
    """
    return skia.Canvas(pixels, skia.ColorType.kBGRA_8888_ColorType, skia.AlphaType.kPremul_AlphaType)


def swapped(pixels: Pixels) -> Pixels:
    """Return premultiplied RGBA as BGRA, or the other way round."""
    rows, columns = pixels.shape[:2]
    # Pixmaps keep no reference to their buffers, so both need a name until the end.
    given, found = np.ascontiguousarray(pixels), np.empty((rows, columns, 4), np.uint8)
    of, to = (
        skia.Pixmap(skia.ImageInfo.Make(columns, rows, order, skia.AlphaType.kPremul_AlphaType), buffer, 4 * columns)
        for order, buffer in (
            (skia.ColorType.kBGRA_8888_ColorType, given),
            (skia.ColorType.kRGBA_8888_ColorType, found),
        )
    )
    of.readPixels(to)
    return found


def coverage(width: int, height: int) -> tuple[Pixels, skia.Canvas]:
    """Return an empty 8-bit coverage buffer of `height` rows, and its canvas."""
    pixels = np.zeros((height, width), np.uint8)
    return pixels, skia.Canvas(pixels, skia.ColorType.kAlpha_8_ColorType, skia.AlphaType.kPremul_AlphaType)


def image(pixels: Pixels) -> skia.Image:
    """Return a premultiplied RGBA buffer (rows, columns, 4) or a coverage buffer (rows, columns) as a Skia image."""
    color_type = skia.ColorType.kAlpha_8_ColorType if pixels.ndim == 2 else skia.ColorType.kRGBA_8888_ColorType
    return skia.Image.fromarray(np.ascontiguousarray(pixels), color_type, skia.AlphaType.kPremul_AlphaType)
