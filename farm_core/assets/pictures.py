"""PNG, JPEG, WebP and GIF files: check the size before decoding anything, then decode."""

from __future__ import annotations

import threading
import warnings
from pathlib import Path
from typing import Final

from PIL import Image, PngImagePlugin

from farm_core.assets.faults import PICTURE_PIXELS_MAX, NotRenderable, check_size
from farm_core.assets.picture_parts import check_parts

_FORMATS: Final = ("PNG", "JPEG", "WEBP", "GIF")
_KINDS: Final = {
    "PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif",
    "MPO": "image/jpeg",  # JPEG with more pictures after it, as cameras and phones write
}  # fmt: skip
_DECODED_PIXELS_MAX: Final = 24_000_000
_one_at_a_time = threading.Semaphore(2)


def read(path: Path) -> str:
    """Return the picture's type. Raises NotRenderable. Memory is bounded: large pictures are checked without
    decoding."""
    check_parts(path)
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(path, formats=_FORMATS) as picture:
                check_size(*picture.size)
                _decode(picture)
                return _KINDS[str(picture.format)]
        except NotRenderable:
            raise
        except Image.DecompressionBombError:
            raise NotRenderable(
                f"the picture is too large; at most {PICTURE_PIXELS_MAX:,} pixels can be drawn"
            ) from None
        except Exception as error:  # Pillow's decoders raise many kinds of errors for damaged files
            raise NotRenderable(_reason(error)) from None


def _decode(picture: Image.Image) -> None:
    if picture.format == "JPEG":
        picture.draft("RGB", (max(1, picture.width // 8), max(1, picture.height // 8)))
    if picture.width * picture.height <= _DECODED_PIXELS_MAX:
        picture.load()
    else:
        picture.verify()


def _reason(error: Exception) -> str:
    """Return the reason for the decoder's error. Pillow has only a message for oversized texts and profiles, no error
    class."""
    if isinstance(error, ValueError) and "too large" in str(error):
        return (
            f"a text or colour profile of the picture decompresses to more than {PngImagePlugin.MAX_TEXT_CHUNK:,} bytes"
        )
    if isinstance(error, ValueError) and "Too much memory" in str(error):
        return f"the texts of the picture decompress to more than {PngImagePlugin.MAX_TEXT_MEMORY:,} bytes"
    return "the picture is damaged"
