"""A finished frame in the processor's memory."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import moderngl
import numpy as np
import numpy.typing as npt

from gpu_renderer.backends.cpu.resampling import Filter
from gpu_renderer.backends.gl.blit import blit, is_by_channel
from gpu_renderer.content.media.video_frame import DecodedFrame
from gpu_renderer.frame.video_passthrough import Shown
from gpu_renderer.geometry.region import Parts, Region, shared, without
from gpu_renderer.geometry.samples import Rows
from gpu_renderer.host.loops import HALF_PATTERNS, Coats, Ground, Kernels
from gpu_renderer.opengl.painter import BAND_BYTES, Painter, bands
from gpu_renderer.opengl.targets import BYTES_PER_PIXEL, Target
from motion.snapshot import ColorManagement

_SQUARE = Region(0, 0, 256, 256)
"""A texel for each pattern of a half float."""
_ONE = 0x3C00
"""1.0 as a half float."""
_BLACK = (0, 0, 0, 255)
_LEVELS: WeakKeyDictionary[Painter, dict[tuple[str, str, bool], Rows]] = WeakKeyDictionary()
"""The tables of each context, by display, working space, and whether the scene has yet to pass through 8 linear bits."""


class HostPicture:
    """Pixels in an array, from an opaque scene of half floats by a table.

    The table is what the shader makes of every half float, so its bytes are the shader's, whichever display is asked for.
    """

    target_count = 0

    def __init__(self, painter: Painter, kernels: Kernels, region: Region) -> None:
        self._painter, self._kernels = painter, kernels
        self._region = region
        self._pixels = np.zeros((region.height, region.width, 4), np.uint8)
        self._band = np.empty(BAND_BYTES, np.uint8)
        self._levels = _LEVELS.setdefault(painter, {})

    @property
    def region(self) -> Region:
        """The frame's pixels."""
        return self._region

    def encode(
        self,
        scene: Target,
        color: ColorManagement,
        parts: Parts,
        *,
        in_place: bool,
        is_opaque: bool,
        coarse: Parts = (),
    ) -> None:
        """Shows parts of the linear scene; by the shader where colours are mixed or divided by alpha."""
        if not (is_opaque and scene.format == "f2" and is_by_channel(color)):
            with self._painter.pool.lent(self._region, "f1") as target:
                blit(self._painter, scene, target, color, parts, in_place=in_place, is_opaque=is_opaque, coarse=coarse)
                self.copy(target.texture, parts)
            return
        for held, is_coarse in ((without(parts, coarse), False), (coarse, True)):
            if held:
                self._look_up(scene, self._levels_of(color, in_place=in_place, is_coarse=is_coarse), held)

    def copy(self, picture: moderngl.Texture, parts: Parts) -> None:
        """Shows parts of an opaque 8-bit texture of the frame's size as they are."""
        self._painter.settle()
        for part in shared(parts, self._region):
            first = self._pixels[part.y :, part.x :]
            self._painter.calls.read_texels(picture, part, first.ctypes.data, first.strides[0])

    def blank(self, parts: Parts) -> None:
        """Shows nothing in parts of the frame: opaque black, as the shader shows it."""
        for part in parts:
            self._pixels[part.y : part.bottom, part.x : part.right] = _BLACK

    def lay(self, ground: Ground, coats: Coats, part: Region, color: ColorManagement, *, in_place: bool) -> None:
        """Shows coats over what lies below them in a part of the frame; linear, where `is_by_channel` holds of the colours."""
        levels = self._levels_of(color, in_place=in_place, is_coarse=False)
        self._kernels.composed(ground, coats, levels, self._pixels, part, self._painter.thread_count)

    def stretch(self, footage: DecodedFrame, by: Filter) -> Shown:
        """Shows a frame that fills the picture; answers what it shows of it until the next change."""
        footage.resample(by.columns, by.rows, self._pixels)
        return lambda part: self._pixels[part.y : part.bottom, part.x : part.right].copy()

    def read(self) -> npt.NDArray[np.uint8]:
        """Its pixels: (rows, columns, 4). They hold until the next change."""
        return self._pixels

    def release(self) -> None:
        """Holds nothing that has to be given back."""

    def _look_up(self, scene: Target, levels: Rows, parts: Parts) -> None:
        """Shows parts of the scene, in bands that stay in the processor's cache."""
        texel_bytes, address = BYTES_PER_PIXEL["f2"], self._band.ctypes.data
        self._painter.settle()
        for part in shared(parts, self._region):
            for band in bands(part, texel_bytes):
                self._painter.calls.read_texels(scene.texture, band, address, band.width * texel_bytes)
                self._kernels.display_encode(address, levels, self._pixels, band)

    def _levels_of(self, color: ColorManagement, *, in_place: bool, is_coarse: bool) -> Rows:
        """What the shader shows of each pattern of a half float: HALF_PATTERNS of 0..255."""
        key = (color.display_transform, color.working_space, is_coarse)
        if key not in self._levels:
            pool = self._painter.pool
            patterns = np.repeat(np.arange(HALF_PATTERNS, dtype=np.uint16)[:, None], 4, axis=1)
            patterns[:, 3] = _ONE
            with pool.lent(_SQUARE, "f2") as scene, pool.lent(_SQUARE, "f1") as shown:
                scene.texture.write(patterns.tobytes())
                parts = (_SQUARE,)
                blit(
                    self._painter, scene, shown, color, parts,
                    in_place=in_place, is_opaque=True, coarse=parts if is_coarse else (),
                )  # fmt: skip
                self._painter.settle()
                pixels = np.frombuffer(shown.texture.read(), np.uint8).reshape(HALF_PATTERNS, 4)
            self._levels[key] = np.ascontiguousarray(pixels[:, 0])
        return self._levels[key]
