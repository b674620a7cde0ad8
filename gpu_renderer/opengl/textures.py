"""Textures of rasters: uploaded once and kept while they are used, within a byte budget."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import moderngl
import numpy as np
import numpy.typing as npt

from gpu_renderer.opengl.targets import IDLE_FRAMES_MAX, new_texture

KEPT_BYTES_MAX = 96 << 20
IN_USE_BYTES_MAX = 512 << 20
"""Limit of the textures that one frame uses and that are kept for the next, bytes."""

Pixels = npt.NDArray[np.uint8]


@dataclass(slots=True)
class _Kept:
    pixels: Pixels
    texture: moderngl.Texture
    used_in: int
    """Number of trims before the last use."""


class Textures:
    """Textures of pixel arrays by identity, least recently used evicted first.

    Arrays are kept alive with their texture, so that an identity is never reused. The texture of a transient array is
    reused for the next array once a frame does not use it.
    """

    def __init__(self, context: moderngl.Context) -> None:
        self._context = context
        self._kept: OrderedDict[int, _Kept] = OrderedDict()
        self._transient: dict[int, bool] = {}
        """Transient textures, with True if they were used since the last trim."""
        self._spare: dict[tuple[int, int, int], tuple[moderngl.Texture, int]] = {}
        """A reusable texture of each size, and the number of the trim since which it is unused."""
        self._trims = 0
        self._bytes = 0
        self._tables: dict[bytes, moderngl.Texture] = {}
        self._planes: list[moderngl.Texture] = []
        """Textures of the video frame that was drawn last."""
        self._planes_used = 0
        """Number of the trim before the last use of `_planes`."""

    def of(self, pixels: Pixels, *, is_transient: bool = False) -> moderngl.Texture:
        """Return the texture of an array of shape (rows, columns) or (rows, columns, 3 or 4).

        Filtering is linear, addressing clamps to the edge. A single channel is read in all four.
        """
        key = id(pixels)
        if is_transient:
            self._transient[key] = True
        if (kept := self._kept.get(key)) is not None:
            self._kept.move_to_end(key)
            kept.used_in = self._trims
            return kept.texture
        rows, columns = pixels.shape[:2]
        size = (columns, rows, 1 if pixels.ndim == 2 else pixels.shape[2])
        content = np.ascontiguousarray(pixels)
        if size in self._spare:
            texture, _ = self._spare.pop(size)
            texture.write(content, alignment=1)
            texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
        else:
            texture = new_texture(self._context, (columns, rows), size[2], content)
        self._kept[key] = _Kept(pixels, texture, self._trims)
        self._bytes += pixels.nbytes
        return texture

    def planes(self, planes: Sequence[Pixels]) -> Sequence[moderngl.Texture]:
        """Return textures of the planes of a video frame, shape (rows, columns) each.

        They are valid until the next call.
        """
        sizes = [(plane.shape[1], plane.shape[0], 1) for plane in planes]
        if [(*texture.size, texture.components) for texture in self._planes] != sizes:
            self._release_planes()
            self._planes = [new_texture(self._context, (columns, rows), 1) for columns, rows, _ in sizes]
        for texture, plane in zip(self._planes, planes, strict=True):
            texture.write(np.ascontiguousarray(plane), alignment=1)
        self._planes_used = self._trims
        return self._planes

    def table(self, table: bytes) -> moderngl.Texture:
        """Return the texture of a colour table: RGB8, 256 texels."""
        if table not in self._tables:
            self._tables[table] = new_texture(self._context, (256, 1), 3, table)
        return self._tables[table]

    def trim(self) -> None:
        """Free textures above the budget and unused transient ones. Call it when no pass is running."""
        for key in [key for key, was_used in self._transient.items() if not was_used]:
            del self._transient[key]
            if key in self._kept:
                kept = self._kept.pop(key)
                self._bytes -= kept.pixels.nbytes
                size = (*kept.texture.size, kept.texture.components)
                if size in self._spare:
                    self._spare[size][0].release()
                self._spare[size] = kept.texture, self._trims
        self._transient = dict.fromkeys(self._transient, False)
        self._trims += 1
        for size in [size for size, (_, since) in self._spare.items() if self._trims - since > IDLE_FRAMES_MAX]:
            self._spare.pop(size)[0].release()
        if self._trims - self._planes_used > IDLE_FRAMES_MAX:
            self._release_planes()
        while self._bytes > KEPT_BYTES_MAX:
            if self._bytes <= IN_USE_BYTES_MAX and next(iter(self._kept.values())).used_in == self._trims - 1:
                break
            self._evict_oldest()

    def release(self) -> None:
        """Free all textures."""
        self.trim()
        while self._kept:
            self._evict_oldest()
        for texture in [*self._tables.values(), *(spare for spare, _ in self._spare.values())]:
            texture.release()
        self._tables.clear()
        self._spare.clear()
        self._release_planes()

    def _evict_oldest(self) -> None:
        _, kept = self._kept.popitem(last=False)
        self._bytes -= kept.pixels.nbytes
        kept.texture.release()

    def _release_planes(self) -> None:
        for texture in self._planes:
            texture.release()
        self._planes = []
