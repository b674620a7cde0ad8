"""Decode bitmaps: check the size before decoding, turn upright, convert to sRGB, premultiply.

Skia, which browsers use, decodes PNG, JPEG, WebP, BMP, ICO and the first frame of a GIF, so that EXIF and ICC give the same
result as there. Pillow decodes AVIF. If Skia and Chromium differ, follow Chromium (`_as_chromium_reads`).
"""

from __future__ import annotations

import base64
import binascii
import io
import re
import struct
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import unquote_to_bytes

import numpy as np
import skia
from PIL import ExifTags, Image, ImageOps

from gpu_renderer.content.media import png
from gpu_renderer.content.vector.surface import Pixels, premultiplied
from gpu_renderer.errors import MediaUndecodable

SIDE_MAX_PX = 32768
AREA_MAX_PX = 100_000_000
"""Largest declared area of a picture. Larger pictures are refused as decompression bombs."""
BAND_ROWS: Final = 256
_TURNS: Final[dict[int | None, Callable[[Pixels], Pixels]]] = {
    2: lambda pixels: pixels[:, ::-1],
    3: lambda pixels: pixels[::-1, ::-1],
    4: lambda pixels: pixels[::-1],
    5: lambda pixels: pixels.swapaxes(0, 1),
    6: lambda pixels: pixels.swapaxes(0, 1)[:, ::-1],
    7: lambda pixels: pixels.swapaxes(0, 1)[::-1, ::-1],
    8: lambda pixels: pixels.swapaxes(0, 1)[::-1],
}
"""Functions that turn a picture upright, by EXIF orientation."""
FILE_MAX_BYTES = 256 << 20
"""Largest file, and largest body of a `data:` URL."""
_BASE64: Final = re.compile(r"; *base64 *$", re.IGNORECASE)
_AVIF_FAULTS: Final = (
    ArithmeticError, Image.DecompressionBombError, OSError, RuntimeError, SyntaxError, ValueError,
)  # fmt: skip
"""Errors that Pillow raises for a damaged AVIF, while it opens or decodes the file."""


def bitmap_pixels(data: bytes) -> Pixels:
    """Return the picture at its own size: uint8 RGBA, premultiplied, encoded sRGB. Raises MediaUndecodable."""
    picture = skia.Image.MakeFromEncoded(skia.Data.MakeWithCopy(_as_chromium_reads(data)))
    if picture is None:
        with _avif(data) as opened:
            _check_size(*opened.size)
            profile = opened.info.get("icc_profile")
            ImageOps.exif_transpose(opened, in_place=True)
            return bitmap_pixels(_png(opened.convert("RGBA"), profile)) if profile else _pixels_of(opened)
    width, height = picture.width(), picture.height()
    _check_size(width, height)
    if data.startswith(png.SIGNATURE) and (space := png.coded_space(data)) is not None:
        picture = picture.reinterpretColorSpace(space)
    pixels = np.zeros((height, width, 4), np.uint8)
    srgb = skia.ColorSpace.MakeSRGB()
    wanted = skia.ImageInfo.Make(width, height, skia.kRGBA_8888_ColorType, skia.kPremul_AlphaType, srgb)
    if not picture.readPixels(wanted, pixels, width * 4, 0, 0):
        raise refused("is damaged")
    return _upright(_on_canvas(pixels, data), data)


def undrawn_features(data: bytes) -> tuple[str, ...]:
    """Return a sentence for each feature of a bitmap that is not drawn."""
    if data.startswith(png.SIGNATURE) and png.has_hdr_levels(data):
        return ("A picture with HDR levels (PQ or HLG) is shown as if they were levels of sRGB.",)
    return ()


def _as_chromium_reads(data: bytes) -> bytes:
    """Return the file without data that Chromium ignores: colour chunks and a hidden picture of a PNG, EXIF in a WebP.

    Chromium shows the first rows of other files that are cut off, but nothing of a WebP.
    """
    if data.startswith(png.SIGNATURE):
        return png.first_shown(png.without_ignored_colors(data))
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        if len(data) < 8 + struct.unpack_from("<I", data, 4)[0]:
            raise refused("is cut off")
        for at in _webp_chunks(data):
            if data[at : at + 4] == b"EXIF":
                return data[:at] + b"NONE" + data[at + 4 :]
    return data


def _on_canvas(pixels: Pixels, data: bytes) -> Pixels:
    """Return the first frame of an animated PNG at its place on the canvas, which is transparent around it."""
    place = png.frame_place(data) if data.startswith(png.SIGNATURE) else None
    if place is None:
        return pixels
    _check_size(place.width, place.height)
    canvas = np.zeros((place.height, place.width, 4), np.uint8)
    rows, columns = pixels.shape[:2]
    canvas[place.top : place.top + rows, place.left : place.left + columns] = pixels
    return canvas


def _upright(pixels: Pixels, data: bytes) -> Pixels:
    """Return the pixels of a PNG, turned by its EXIF orientation. Skia has already turned other formats."""
    place = dict(png.chunks(data)).get(b"eXIf") if data.startswith(png.SIGNATURE) else None
    if place is None:
        return pixels
    exif = Image.Exif()
    try:
        exif.load(data[place])
        turn = _TURNS.get(exif.get(ExifTags.Base.Orientation))
    except (SyntaxError, ValueError, struct.error):  # damaged EXIF
        return pixels
    return pixels if turn is None else np.ascontiguousarray(turn(pixels))


def _webp_chunks(data: bytes) -> Iterator[int]:
    """Yield the offset of each chunk of a WebP. A chunk is name, length, and content padded to an even size."""
    at = 12
    while at + 8 <= len(data):
        yield at
        (length,) = struct.unpack_from("<I", data, at + 4)
        at += 8 + length + length % 2


def _pixels_of(picture: Image.Image) -> Pixels:
    """Return the premultiplied pixels of a picture. Convert in bands of rows to limit the memory."""
    width, height = picture.size
    pixels = np.empty((height, width, 4), np.uint8)
    for top in range(0, height, BAND_ROWS):
        band = picture.crop((0, top, width, min(top + BAND_ROWS, height)))
        pixels[top : top + BAND_ROWS] = premultiplied(np.asarray(band.convert("RGBA")))
    return pixels


def _png(picture: Image.Image, profile: bytes) -> bytes:
    """Return a picture as a PNG file with a colour profile, barely compressed."""
    file = io.BytesIO()
    picture.save(file, "PNG", icc_profile=profile, compress_level=1)
    return file.getvalue()


def stated_area(data: bytes) -> int:
    """Return the number of pixels in a picture's header without decoding it, or 0 if the header is unreadable."""
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
    except _AVIF_FAULTS as error:
        raise refused("cannot be read") from error


def _check_size(width: int, height: int) -> None:
    if width < 1 or height < 1 or max(width, height) > SIDE_MAX_PX or width * height > AREA_MAX_PX:
        raise refused(
            f"measures {width} x {height}; at most {AREA_MAX_PX:,} pixels and {SIDE_MAX_PX:,} on a side can be drawn"
        )


def data_url_bytes(src: str) -> bytes:
    """Return the content of a `data:` URL, as browsers read it. Raises MediaUndecodable if it is malformed or too large.

    Padding of base64 can be missing (https://infra.spec.whatwg.org/#forgiving-base64-decode).
    """
    head, comma, body = src.partition(",")
    if not comma:
        raise refused("is a malformed data URL")
    if len(body) > FILE_MAX_BYTES:
        raise refused("is too large")
    raw = unquote_to_bytes(body)
    if not _BASE64.search(head):
        return raw
    digits = raw.translate(None, b" \t\r\n\f")
    try:
        return base64.b64decode(digits + b"=" * (-len(digits) % 4), validate=True)
    except binascii.Error as error:
        raise refused("is a malformed data URL") from error


def refused(reason: str) -> MediaUndecodable:
    """Return the error for a picture that `reason` ("is damaged")."""
    return MediaUndecodable(f"a picture {reason}", f"A picture {reason}.")
