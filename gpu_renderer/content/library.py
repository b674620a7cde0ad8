"""Media of a job: pictures and video frames, by the source of a layer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from gpu_renderer.content.media.bitmaps import FILE_MAX_BYTES, bitmap_pixels, data_url_bytes, refused, undrawn_features
from gpu_renderer.content.media.frame_blending import bracket, mixed, mixed_with_alpha, moved_frame
from gpu_renderer.content.media.video import Videos
from gpu_renderer.content.media.video_frame import DecodedFrame
from gpu_renderer.content.raster import Raster
from gpu_renderer.content.svg import svg_pixels
from gpu_renderer.content.text.families import Fonts
from gpu_renderer.content.vector.surface import Pixels
from motion.snapshot import VideoSource

SOURCE_SHOWN_MAX = 120
_HEAD_BYTES = 65536
_SIGNATURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"BM")


class MediaLibrary:
    """Decoder of a job's media. `resolve` returns a local file for each source that the job may read, otherwise None.

    Decoded pictures are not cached here, but by the caller.
    """

    def __init__(self, resolve: Callable[[str], Path | None], fonts: Fonts) -> None:
        self._resolve, self._fonts = resolve, fonts
        self._files: dict[str, Path | None] = {}
        self._stills: dict[str, bool] = {}
        self._faults: dict[str, None] = {}
        self._videos = Videos(self._found)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return a line for each unsupported feature of a picture and for each source without a file."""
        missing = [src for src, path in self._files.items() if path is None]
        lines = (f"There is nothing at {src[:SOURCE_SHOWN_MAX]}: its layer is not drawn." for src in missing)
        return (*lines, *self._faults)

    def picture(self, src: str, svg_fill: str | None = None) -> Pixels | None:
        """Return a picture at its own size as premultiplied uint8 RGBA, or None without a file. Raises MediaUndecodable."""
        data = self._bytes(src)
        if data is None:
            return None
        if _is_svg(data):
            return self.svg(data.decode("utf-8", "replace"), fill=svg_fill)
        self._faults |= dict.fromkeys(undrawn_features(data))
        return bitmap_pixels(data)

    def svg(
        self, markup: str, intrinsic: tuple[float | None, float | None] = (None, None), fill: str | None = None
    ) -> Pixels:
        """Return an SVG document's raster. A given fill replaces the fill of all shapes. Raises MediaUndecodable."""
        pixels, warnings = svg_pixels(markup, self._fonts, intrinsic, fill)
        self._faults |= dict.fromkeys(warnings)
        return pixels

    def is_picture(self, src: str) -> bool:
        """Return True if the source of a video layer is a still picture, judged by its first bytes."""
        if src.startswith("data:"):
            return src.startswith("data:image/")
        if src not in self._stills:
            path = self._found(src) if src else None
            self._stills[src] = path is not None and _is_still(path)
        return self._stills[src]

    def shown_frame(self, source: VideoSource) -> DecodedFrame | None:
        """Return the single frame of a video layer, or None without a file or with frame blending. Raises MediaUndecodable."""
        if source.blend != "none" or self.is_picture(source.src):
            return None
        return self._videos.frame(source.src, source.time)

    def blended_frame(self, source: VideoSource) -> Raster | None:
        """Return the picture of a video layer: one frame, or a blend of two. Raises MediaUndecodable."""
        if source.blend == "none":
            return self._video_frame(source.src, source.time)
        earlier_seconds, later_seconds, weight = self._bracket(source)
        earlier = self._video_frame(source.src, earlier_seconds)
        later = self._video_frame(source.src, later_seconds) if weight else None
        if earlier is None or later is None:
            return earlier
        pair = earlier.pixels, later.pixels
        if source.blend == "mix" and not earlier.is_opaque:
            return replace(earlier, pixels=mixed_with_alpha(*pair, weight, source.mix_opacity))
        if earlier.pixels is later.pixels:
            return earlier
        if source.blend == "mix":
            return replace(earlier, pixels=mixed(*pair, weight, source.mix_opacity))
        return replace(earlier, pixels=moved_frame(*pair, weight))

    def mix_weight(self, source: VideoSource) -> float:
        """Return the weight of the later frame of a frame mix, or 0 if only one frame is drawn. Raises MediaUndecodable."""
        return 0.0 if source.blend != "mix" or self.is_picture(source.src) else self._bracket(source)[2]

    def _bracket(self, source: VideoSource) -> tuple[float, float, float]:
        """Return the times of the frames around the source's time, and the weight of the later one."""
        index = self._videos.index(source.src)
        return bracket(source.time, (index.frames_per_second if index else None) or source.blend_fps)

    def begin_run(self) -> None:
        """Begin a run of frames at another time. Without this call, frames are expected near the last ones."""
        self._videos.begin_run()

    def close(self) -> None:
        """End decoding and close all files."""
        self._videos.close()

    def _found(self, src: str) -> Path | None:
        """Return the file of a source, or None. The result is cached."""
        if src not in self._files:
            path = self._resolve(src)
            self._files[src] = path if path is not None and path.is_file() else None
        return self._files[src]

    def _bytes(self, src: str) -> bytes | None:
        if src.startswith("data:"):
            return data_url_bytes(src)
        path = self._found(src) if src else None
        if path is not None and path.stat().st_size > FILE_MAX_BYTES:
            raise refused("is too large")
        return None if path is None else path.read_bytes()

    def _video_frame(self, src: str, seconds: float) -> Raster | None:
        """Return the frame at a video time. Successive calls for the same frame return the same array."""
        frame, index = self._videos.frame(src, seconds), self._videos.index(src)
        if frame is None or index is None:
            return None
        pixels = frame.pixels
        return Raster(pixels, pixels.shape[1], pixels.shape[0], is_opaque=index.is_opaque, is_transient=True)


def _is_still(path: Path) -> bool:
    """Return True for picture formats that a video decoder does not treat as animations."""
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    is_webp, is_avif = head[:4] == b"RIFF" and head[8:12] == b"WEBP", head[4:12] == b"ftypavif"
    return head.startswith(_SIGNATURES) or is_webp or is_avif or _is_svg(head)


def _is_svg(data: bytes) -> bool:
    """Return True if the bytes begin like an SVG document."""
    head = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return head.startswith(b"<svg") or (
        head.startswith((b"<?xml", b"<!doctype", b"<!--")) and b"<svg" in data[:_HEAD_BYTES].lower()
    )
