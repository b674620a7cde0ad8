"""One decoded frame of a video: turned into pixels when they are asked for, wholly or in part, and its own samples."""

from __future__ import annotations

import av

from gpu_renderer.content.media.video_pixels import PixelConverter, has_alpha, is_encoder_colour, samples_of
from gpu_renderer.content.vector.surface import Pixels
from gpu_renderer.geometry.region import Region
from gpu_renderer.geometry.samples import Samples
from gpu_renderer.kernels.bindings import Places


class DecodedFrame:
    """A frame as the decoder gave it, converted once. `was_converted`: its pixels were used."""

    def __init__(self, frame: av.VideoFrame, converter: PixelConverter) -> None:
        self._frame, self._converter = frame, converter
        self._pixels: Pixels | None = None

    @property
    def was_converted(self) -> bool:
        """True if the whole frame has been turned into pixels."""
        return self._pixels is not None

    @property
    def pixels(self) -> Pixels:
        """uint8 RGBA of shape (rows, columns, 4), encoded sRGB, premultiplied, upright; the same array at every call."""
        if self._pixels is None:
            self._pixels = self._converter.pixels(self._frame)
        return self._pixels

    def pixels_of(self, part: Region) -> Pixels:
        """Return the pixels of a part of a frame that has samples of its own: `pixels[rows, columns]`, without the rest."""
        if self._pixels is not None:
            return self._pixels[part.y : part.bottom, part.x : part.right]
        return self._converter.part(self._frame, part)

    @property
    def is_opaque(self) -> bool:
        """True if no pixel can be transparent."""
        return not has_alpha(self._frame.format)

    def resample(self, columns: Places, rows: Places, picture: Pixels) -> None:
        """Fill a picture with the opaque frame, upright, through filter taps. Needs native kernels."""
        self._converter.resample(self._frame, columns, rows, picture)

    @property
    def has_samples(self) -> bool:
        """True if an encoder's frame of the same size could hold the decoded samples as they are."""
        frame = self._frame
        return is_encoder_colour(frame) and frame.rotation % 360 == 0 and frame.width % 4 == 0 and frame.height % 2 == 0

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows as decoded."""
        return self._frame.width, self._frame.height

    @property
    def upright_size(self) -> tuple[int, int]:
        """Columns and rows of the pixels."""
        return self.size if round(self._frame.rotation / 90) % 2 == 0 else self.size[::-1]

    def samples(self) -> Samples:
        """Return the decoded samples, where they lie. To be asked for only where there are such."""
        return samples_of(self._frame)
