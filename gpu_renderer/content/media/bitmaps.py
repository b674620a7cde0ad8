"""Encoded bitmaps to pixels: size checked before a pixel is decoded, turned upright, converted to sRGB, premultiplied.

PNG, JPEG, WebP, BMP, ICO and the first frame of a GIF are decoded by the library family that browsers use, so that EXIF
and ICC come out as there; AVIF by Pillow.
"""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np
import skia
from PIL import Image, ImageOps, UnidentifiedImageError

from gpu_renderer.content.media.refusal import refused
from gpu_renderer.content.vector.surface import Pixels, premultiplied

SIDE_MAX_PX = 32768
AREA_MAX_PX = 100_000_000
"""Largest declared area of a picture. A larger one is refused as a decompression bomb."""


def bitmap_pixels(data: bytes) -> Pixels:
    """Return the picture at its own size: uint8 RGBA, premultiplied, encoded sRGB. Raises MediaUndecodable."""
    picture = skia.Image.MakeFromEncoded(skia.Data.MakeWithCopy(data))
    if picture is None:
        return _other(data)
    _check_size(picture.width(), picture.height())
    return _read(picture)


def stated_area(data: bytes) -> int:
    """Return the pixels that a picture's header states, before any is decoded; 0 where no header can be read."""
    picture = skia.Image.MakeFromEncoded(skia.Data.MakeWithCopy(data))
    if picture is not None:
        return int(picture.width() * picture.height())
    try:
        with Image.open(io.BytesIO(data), formats=("AVIF",)) as opened:
            return opened.width * opened.height
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError):
        return 0


def _read(picture: Any) -> Pixels:
    width, height = picture.width(), picture.height()
    pixels = np.zeros((height, width, 4), np.uint8)
    srgb = skia.ColorSpace.MakeSRGB()
    wanted = skia.ImageInfo.Make(width, height, skia.kRGBA_8888_ColorType, skia.kPremul_AlphaType, srgb)
    if not picture.readPixels(wanted, pixels, width * 4, 0, 0):
        raise refused("is damaged")
    return pixels


def _other(data: bytes) -> Pixels:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=("AVIF",)) as opened:
                _check_size(*opened.size)
                return premultiplied(np.asarray(ImageOps.exif_transpose(opened).convert("RGBA")))
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError) as error:
        raise refused("cannot be read") from error


def _check_size(width: int, height: int) -> None:
    if width < 1 or height < 1 or max(width, height) > SIDE_MAX_PX or width * height > AREA_MAX_PX:
        raise refused(f"measures {width} x {height}, which is more than can be drawn")
