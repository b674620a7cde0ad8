"""Still pictures behind sources: `data:` URLs and files, bitmaps and SVG documents."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gpu_renderer.content.media.bitmaps import bitmap_pixels
from gpu_renderer.content.media.data_url import data_url_bytes
from gpu_renderer.content.media.refusal import refused
from gpu_renderer.content.svg import svg_pixels
from gpu_renderer.content.text.families import Fonts
from gpu_renderer.content.vector.surface import Pixels

FILE_MAX_BYTES = 256 << 20

Resolve = Callable[[str], Path | None]


class Pictures:
    """Decodes pictures. Keeps nothing: what is decoded is kept by who asks."""

    def __init__(self, resolve: Resolve, fonts: Fonts) -> None:
        self._resolve = resolve
        self._fonts = fonts
        self._faults: dict[str, None] = {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return a line for each undrawn part of pictures."""
        return tuple(self._faults)

    def picture(self, src: str, svg_fill: str | None = None) -> Pixels | None:
        """Return the picture at its own size, uint8 RGBA, premultiplied; None where there is none. Raises MediaUndecodable."""
        data = self._bytes(src)
        if data is None:
            return None
        return self.svg(data.decode("utf-8", "replace"), fill=svg_fill) if is_svg(data) else bitmap_pixels(data)

    def svg(
        self, markup: str, intrinsic: tuple[float | None, float | None] = (None, None), fill: str | None = None
    ) -> Pixels:
        """An SVG document's raster, all its shapes of one fill if given. Raises MediaUndecodable."""
        pixels, warnings = svg_pixels(markup, self._fonts, intrinsic, fill)
        self._faults |= dict.fromkeys(warnings)
        return pixels

    def _bytes(self, src: str) -> bytes | None:
        if src.startswith("data:"):
            return data_url_bytes(src)
        path = self._resolve(src) if src else None
        if path is None or not path.is_file():
            return None
        if path.stat().st_size > FILE_MAX_BYTES:
            raise refused("is too large")
        return path.read_bytes()


def is_svg(data: bytes) -> bool:
    """Return True if the bytes begin like an SVG document."""
    head = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return head.startswith(b"<svg") or (
        head.startswith((b"<?xml", b"<!doctype", b"<!--")) and b"<svg" in data[:65536].lower()
    )
