"""Convert frames in main memory to encoder frames, as `backends/gl/readback.py` does for frames on the GPU.

Only the stale rectangles of an encoder frame are converted, directly into its memory.
"""

from __future__ import annotations

from collections import deque

import av

from gpu_renderer.backends.cpu.frame import CpuFrame
from gpu_renderer.encode.planes import PlaneLayout, VideoPassthrough, texels_of
from gpu_renderer.geometry import damage
from gpu_renderer.geometry.damage import Damage
from gpu_renderer.geometry.region import Rects, Region
from gpu_renderer.kernels.bindings import Kernels


class KernelRing:
    """Ring with the interface of `ReadbackRing`.

    Frames are complete when they are put. They must have the ring's layout.
    """

    def __init__(self, layout: PlaneLayout, kernels: Kernels) -> None:
        self._layout, self._kernels = layout, kernels
        self._whole = damage.whole(Region(0, 0, layout.width, layout.height))
        self._nothing = damage.nothing(self._whole.frame)
        self._coded = Region(0, 0, layout.coded_width, layout.coded_height)
        self._stale: dict[int, Damage] = {}
        self._put: deque[av.VideoFrame] = deque()

    def put(
        self, picture: CpuFrame, changed: Damage, into: av.VideoFrame, passthrough: VideoPassthrough | None = None
    ) -> None:
        """Convert a picture that differs from the previous one only in `changed`.

        With a `passthrough`, only the rectangles drawn over it come from the picture.
        """
        self._stale = {key: stale.union(changed) for key, stale in self._stale.items()}
        if passthrough is None:
            self._convert(picture, self._stale.get(id(into), self._whole).rects(), into)
        else:
            luma, chroma = into.planes
            self._kernels.interleave(
                passthrough.samples(), luma.buffer_ptr, chroma.buffer_ptr, self._layout.stride_bytes
            )
            self._convert(picture, passthrough.drawn, into)
        self._stale[id(into)] = self._nothing
        self._put.append(into)

    def collect(self) -> av.VideoFrame:
        """Return the oldest frame."""
        return self._put.popleft()

    def close(self) -> None:
        """Do nothing: the ring holds no resources."""

    def _convert(self, picture: CpuFrame, rects: Rects, into: av.VideoFrame) -> None:
        """Convert the samples that depend on the rectangles, as the shader does (`texels_of`)."""
        pixels, (luma, chroma) = picture.read(), into.planes
        for part in rects:
            x, y, width, height = texels_of(part)
            region = Region(4 * x, 2 * y, 4 * width, 2 * height).intersection(self._coded)
            if not region.is_empty:
                self._kernels.nv12(pixels, region, luma.buffer_ptr, chroma.buffer_ptr, self._layout.stride_bytes)
