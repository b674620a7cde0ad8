"""PNG, JPEG, WebP and GIF: opened, measured before anything is decoded, then decoded."""

from __future__ import annotations

import threading
import warnings
from pathlib import Path
from typing import Final

from PIL import Image

from farm_core.assets.faults import NotRenderable, check_size

_KINDS: Final = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif"}
_DECODED_PIXELS_MAX: Final = 24_000_000
_one_at_a_time = threading.Semaphore(2)


def read(path: Path) -> str:
    """The picture's type; raises NotRenderable. Memory is bounded: large pictures are checked without decoding them."""
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(path, formats=tuple(_KINDS)) as picture:
                check_size(*picture.size)
                _decode(picture)
                return _KINDS[str(picture.format)]
        except NotRenderable:
            raise
        except Exception:  # Pillow's decoders raise many kinds of error on damaged files
            raise NotRenderable("the picture is damaged") from None


def _decode(picture: Image.Image) -> None:
    if picture.format == "JPEG":
        picture.draft("RGB", (max(1, picture.width // 8), max(1, picture.height // 8)))
    if picture.width * picture.height <= _DECODED_PIXELS_MAX:
        picture.load()
    else:
        picture.verify()
