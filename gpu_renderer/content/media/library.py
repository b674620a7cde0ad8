"""Media of one job behind one door: pictures and frames of videos, by the source that a layer names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from gpu_renderer.content.media.mixing import bracket, mixed
from gpu_renderer.content.media.pictures import Pictures
from gpu_renderer.content.media.pixel_motion import moved_frame
from gpu_renderer.content.media.video import Videos
from gpu_renderer.content.media.video_frame import DecodedFrame
from gpu_renderer.content.media.video_pixels import Pixels
from gpu_renderer.content.raster import Raster
from gpu_renderer.content.text.families import Fonts
from motion.snapshot import VideoSource

SOURCE_SHOWN_MAX = 120


class MediaLibrary:
    """Finds sources with `resolve`, which gives a local file for each source that the job may read, else None."""

    def __init__(self, resolve: Callable[[str], Path | None], fonts: Fonts) -> None:
        self._resolve = resolve
        self._files: dict[str, Path | None] = {}
        self._pictures = Pictures(self._found, fonts)
        self._videos = Videos(self._found)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return a line for each undrawn part of pictures, and for each source without a file."""
        missing = [src for src, path in self._files.items() if path is None]
        lines = (f"There is nothing at {src[:SOURCE_SHOWN_MAX]}: its layer is not drawn." for src in missing)
        return (*lines, *self._pictures.warnings)

    def picture(self, src: str, svg_fill: str | None = None) -> Pixels | None:
        """A picture at its own size, uint8 RGBA, premultiplied; None where there is none. Raises MediaUndecodable."""
        return self._pictures.picture(src, svg_fill)

    def svg(
        self, markup: str, intrinsic: tuple[float | None, float | None] = (None, None), fill: str | None = None
    ) -> Pixels:
        """An SVG document's raster, all its shapes of one fill if given. Raises MediaUndecodable."""
        return self._pictures.svg(markup, intrinsic, fill)

    def video_frame(self, src: str, seconds: float) -> Raster | None:
        """Return the frame shown at a time of the video's own; None where there is no file. Raises MediaUndecodable.

        The same frame of a file asked for twice in a row is the same array.
        """
        frame = self._videos.frame(src, seconds)
        if frame is None:
            return None
        pixels = frame.pixels
        is_opaque = self._videos.is_opaque(src)
        return Raster(pixels, pixels.shape[1], pixels.shape[0], is_opaque=is_opaque, is_fleeting=True)

    def shown_frame(self, source: VideoSource) -> DecodedFrame | None:
        """Return the one frame that a video layer shows; None without a file, or where frames are mixed. Raises MediaUndecodable."""
        return self._videos.frame(source.src, source.time) if source.blend == "none" else None

    def blended_frame(self, source: VideoSource) -> Raster | None:
        """Return the picture of a video layer: a frame, or a blend of two neighbours. Raises MediaUndecodable."""
        if source.blend == "none":
            return self.video_frame(source.src, source.time)
        rate = self._videos.frames_per_second(source.src) or source.blend_fps
        earlier_seconds, later_seconds, weight = bracket(source.time, rate)
        earlier = self.video_frame(source.src, earlier_seconds)
        later = self.video_frame(source.src, later_seconds) if weight else None
        if earlier is None or later is None or earlier.pixels is later.pixels:
            return earlier
        make = moved_frame if source.blend == "pixelMotion" else mixed
        return replace(earlier, pixels=make(earlier.pixels, later.pixels, weight))

    def begin_run(self) -> None:
        """Allow the next frames to be anywhere. Without a call they are expected near the last ones."""
        self._videos.begin_run()

    def close(self) -> None:
        """End decoding and close all files."""
        self._videos.close()

    def _found(self, src: str) -> Path | None:
        """Return the file of a source, looked for once."""
        if src not in self._files:
            path = self._resolve(src)
            self._files[src] = path if path is not None and path.is_file() else None
        return self._files[src]
