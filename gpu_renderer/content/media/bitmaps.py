"""Encoded bitmaps to pixels: size checked before a pixel is decoded, turned upright, converted to sRGB, premultiplied.

PNG, JPEG, WebP, BMP, ICO and the first frame of a GIF are decoded by the library family that browsers use, so that EXIF
and ICC come out as there; AVIF by Pillow.
"""

from __future__ import annotations

import base64
import binascii
import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import unquote_to_bytes

import numpy as np
import skia
from PIL import Image, ImageOps, UnidentifiedImageError

from gpu_renderer.content.vector.surface import Pixels, premultiplied
from gpu_renderer.errors import MediaUndecodable

SIDE_MAX_PX = 32768
AREA_MAX_PX = 100_000_000
"""Largest declared area of a picture. A larger one is refused as a decompression bomb."""
FILE_MAX_BYTES = 256 << 20
"""Largest file, and largest body of a `data:` URL."""


def bitmap_pixels(data: bytes) -> Pixels:
    """Return the picture at its own size: uint8 RGBA, premultiplied, encoded sRGB. Raises MediaUndecodable."""
    picture = skia.Image.MakeFromEncoded(skia.Data.MakeWithCopy(data))
    if picture is None:
        with _avif(data) as opened:
            _check_size(*opened.size)
            return premultiplied(np.asarray(ImageOps.exif_transpose(opened).convert("RGBA")))
    width, height = picture.width(), picture.height()
    _check_size(width, height)
    pixels = np.zeros((height, width, 4), np.uint8)
    srgb = skia.ColorSpace.MakeSRGB()
    wanted = skia.ImageInfo.Make(width, height, skia.kRGBA_8888_ColorType, skia.kPremul_AlphaType, srgb)
    if not picture.readPixels(wanted, pixels, width * 4, 0, 0):
        raise refused("is damaged")
    return pixels


def stated_area(data: bytes) -> int:
    """Return the pixels that a picture's header states, before any is decoded; 0 where no header can be read."""
    picture = skia.Image.MakeFromEncoded(skia.Data.MakeWithCopy(data))
    if picture is not None:
        return int(picture.width() * picture.height())
    try:
        with _avif(data) as opened:
            return opened.width * opened.height
    except MediaUndecodable:
        return 0


@contextmanager
def _avif(data: bytes) -> Iterator[Image.Image]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=("AVIF",)) as opened:
                yield opened
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError) as error:
        raise refused("cannot be read") from error


def _check_size(width: int, height: int) -> None:
    if width < 1 or height < 1 or max(width, height) > SIDE_MAX_PX or width * height > AREA_MAX_PX:
        raise refused(f"measures {width} x {height}, which is more than can be drawn")


def data_url_bytes(src: str) -> bytes:
    """Return the content of a `data:` URL. Raises MediaUndecodable if it is malformed or too large."""
    head, comma, body = src.partition(",")
    if not comma:
        raise refused("is a malformed data URL")
    if len(body) > FILE_MAX_BYTES:
        raise refused("is too large")
    raw = unquote_to_bytes(body)
    if not head.endswith(";base64"):
        return raw
    try:
        return base64.b64decode(raw.translate(None, b" \t\r\n"), validate=False)
    except binascii.Error as error:
        raise refused("is a malformed data URL") from error


def refused(reason: str) -> MediaUndecodable:
    """Return the error for a picture that `reason` ("is damaged")."""
    return MediaUndecodable(f"a picture {reason}", f"A picture {reason}.")
