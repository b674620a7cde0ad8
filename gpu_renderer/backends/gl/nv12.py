"""Convert finished frames to NV12 with a shader.

One pass writes three ordinary 8-bit RGBA targets: even rows of Y, odd rows of Y, rows of CbCr. Their rows are exactly the
rows of an encoder's frame, so 12 bits per pixel are read back.
"""

from __future__ import annotations

import moderngl

from gpu_renderer.encode.planes import PlaneLayout, texels_of
from gpu_renderer.geometry.region import Rects, Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target


class Nv12Targets:
    """Targets of one converted frame. Their rows are rows of samples, four bytes per texel."""

    def __init__(self, painter: Painter, of: PlaneLayout) -> None:
        self._painter = painter
        region = Region(0, 0, of.stride_bytes // 4, of.coded_height // 2)
        self.region = region
        """Texels of each target."""
        self._targets = tuple(painter.pool.take(region, "f1") for _ in range(3))
        self.framebuffer = painter.context.framebuffer([target.texture for target in self._targets])
        """Framebuffer with one attachment each for even rows of Y, odd rows of Y, and CbCr, written by one pass."""

    @property
    def textures(self) -> tuple[moderngl.Texture, ...]:
        """Textures of the framebuffer's attachments, in order."""
        return tuple(target.texture for target in self._targets)

    def convert(self, frame: Target, rects: Rects) -> None:
        """Convert the parts of a display-encoded, opaque 8-bit frame."""
        into = self._targets[0].through(self.framebuffer)
        texels = tuple(texels_of(part) for part in rects)
        self._painter.draw("convert/nv12.frag", into, textures={"u_source": frame}, scissor=texels)

    def release(self) -> None:
        """Give the targets back to the pool."""
        self._painter.pool.bind_lasting()
        self.framebuffer.release()
        self._painter.pool.give_back(*self._targets)
