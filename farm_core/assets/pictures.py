"""PNG, JPEG, WebP and GIF: opened, measured before anything is decoded, then decoded."""

from __future__ import annotations

import threading
import warnings
from pathlib import Path
from typing import Final

from PIL import Image, PngImagePlugin

from farm_core.assets.faults import PICTURE_PIXELS_MAX, NotRenderable, check_size
from farm_core.assets.parts import check_parts

_FORMATS: Final = ("PNG", "JPEG", "WEBP", "GIF")
_KINDS: Final = {
    "PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif",
    "MPO": "image/jpeg",  # a JPEG that further pictures follow, as cameras and telephones write them
}  # fmt: skip
_DECODED_PIXELS_MAX: Final = 24_000_000
_one_at_a_time = threading.Semaphore(2)


def read(path: Path) -> str:
    """The picture's type; raises NotRenderable. Memory is bounded: large pictures are checked without decoding them."""
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
        except Exception as error:  # Pillow's decoders raise many kinds of error on damaged files
            raise NotRenderable(_reason(error)) from None


def _decode(picture: Image.Image) -> None:
    if picture.format == "JPEG":
        picture.draft("RGB", (max(1, picture.width // 8), max(1, picture.height // 8)))
    if picture.width * picture.height <= _DECODED_PIXELS_MAX:
        picture.load()
    else:
        picture.verify()


def _reason(error: Exception) -> str:
    """Return why the decoder gave up. It has no class of error for texts and profiles that are too large, only a message."""
    if isinstance(error, ValueError) and "too large" in str(error):
        return (
            f"a text or colour profile of the picture decompresses to more than {PngImagePlugin.MAX_TEXT_CHUNK:,} bytes"
        )
    if isinstance(error, ValueError) and "Too much memory" in str(error):
        return f"the texts of the picture decompress to more than {PngImagePlugin.MAX_TEXT_MEMORY:,} bytes"
    return "the picture is damaged"
