"""Still pictures: found, decoded within bounds, turned upright, converted to sRGB, premultiplied.

PNG, JPEG, WebP, BMP and the first frame of a GIF are decoded by the library family that browsers use, so that rotation by
EXIF and ICC profiles come out as there; SVG documents are rasterised (`svg.py`).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import numpy as np
import skia

from gpu_renderer.errors import MediaUndecodable
from gpu_renderer.media.svg import svg_pixels
from gpu_renderer.vector.surface import Pixels

FILE_MAX_BYTES = 256 << 20
SIDE_MAX_PX = 32768
AREA_MAX_PX = 100_000_000
"""What a picture may claim to be; beyond that it is taken for a bomb and refused before a pixel is decoded."""

Resolve = Callable[[str], Path | None]


class Pictures:
    """The pictures behind sources. Keeps nothing: what is decoded is kept by who asks."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve

    def picture(self, src: str, svg_fill: str | None = None) -> Pixels | None:
        """The picture at its own size, uint8 RGBA, premultiplied; None where there is none. Raises MediaUndecodable."""
        data = picture_bytes(src, self._resolve)
        return None if data is None else decoded(data, svg_fill)


def picture_bytes(src: str, resolve: Resolve) -> bytes | None:
    """The encoded picture behind a source: a `data:` URL, or the file that `resolve` names. None where there is none.

    Raises MediaUndecodable where it is too large or the URL is malformed.
    """
    if src.startswith("data:"):
        return _from_data_url(src)
    path = resolve(src) if src else None
    if path is None or not path.is_file():
        return None
    if path.stat().st_size > FILE_MAX_BYTES:
        raise _refused("is too large")
    return path.read_bytes()


def decoded(data: bytes, svg_fill: str | None = None) -> Pixels:
    """The picture at its own size: uint8 RGBA, premultiplied, encoded sRGB. Raises MediaUndecodable.

    `svg_fill` overrides the fills of an SVG document (layers.md 10).
    """
    if is_svg(data):
        return svg_pixels(data.decode("utf-8", "replace"), fill=svg_fill)
    picture = skia.Image.MakeFromEncoded(skia.Data.MakeWithCopy(data))
    if picture is None:
        raise _refused("is no picture that can be read")
    _check_size(picture.width(), picture.height())
    return _read(picture)


def is_svg(data: bytes) -> bool:
    """Whether the bytes begin like an SVG document."""
    head = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return head.startswith(b"<svg") or (
        head.startswith((b"<?xml", b"<!doctype", b"<!--")) and b"<svg" in data[:65536].lower()
    )


def _from_data_url(src: str) -> bytes:
    head, comma, body = src.partition(",")
    if not comma:
        raise _refused("is a malformed data URL")
    if len(body) > FILE_MAX_BYTES:
        raise _refused("is too large")
    raw = unquote_to_bytes(body)
    if not head.endswith(";base64"):
        return raw
    try:
        return base64.b64decode(raw.translate(None, b" \t\r\n"), validate=False)
    except binascii.Error as error:
        raise _refused("is a malformed data URL") from error


def _check_size(width: int, height: int) -> None:
    if width < 1 or height < 1 or max(width, height) > SIDE_MAX_PX or width * height > AREA_MAX_PX:
        raise _refused(f"measures {width} x {height}, which is more than can be drawn")


def _read(picture: Any) -> Pixels:
    pixels = np.zeros((picture.height(), picture.width(), 4), np.uint8)
    wanted = skia.ImageInfo.Make(
        picture.width(), picture.height(), skia.kRGBA_8888_ColorType, skia.kPremul_AlphaType, skia.ColorSpace.MakeSRGB()
    )
    if not picture.readPixels(wanted, pixels, picture.width() * 4, 0, 0):
        raise _refused("is damaged")
    return pixels


def _refused(reason: str) -> MediaUndecodable:
    return MediaUndecodable(f"a picture {reason}", f"A picture {reason}.")
