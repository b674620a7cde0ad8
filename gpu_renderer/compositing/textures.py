"""Rasters on the GPU: uploaded once, kept while they are used, within a byte budget."""

from __future__ import annotations

from collections import OrderedDict

import moderngl
import numpy as np
import numpy.typing as npt

KEPT_BYTES_MAX = 96 << 20

Pixels = npt.NDArray[np.uint8]


class Textures:
    """Textures of pixel arrays by identity, least recently used dropped first.

    Arrays are held while their texture is, so that an identity cannot be given to another array. Those of fleeting arrays
    are written again with the next one, as soon as a frame did without them.
    """

    def __init__(self, context: moderngl.Context, *, keep: bool = True) -> None:
        self._context = context
        self._kept: OrderedDict[int, tuple[Pixels, moderngl.Texture]] = OrderedDict()
        self._fleeting: dict[int, bool] = {}
        """Whether each was used since the last trim."""
        self._spare: dict[tuple[int, int, int], moderngl.Texture] = {}
        self._bytes = 0
        self._bytes_max = KEPT_BYTES_MAX if keep else 0

    def of(self, pixels: Pixels, *, is_fleeting: bool = False) -> moderngl.Texture:
        """The texture of an array of shape (rows, columns) or (rows, columns, 3 or 4): linear filter, clamped to the edge.

        What has one channel has it in all four.
        """
        key = id(pixels)
        if is_fleeting:
            self._fleeting[key] = True
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key][1]
        texture = self._uploaded(pixels)
        self._kept[key] = (pixels, texture)
        self._bytes += pixels.nbytes
        return texture

    def trim(self) -> None:
        """Drops what is over the budget or has fleeted by; to be called when no pass is under way."""
        for key in [key for key, was_used in self._fleeting.items() if not was_used]:
            del self._fleeting[key]
            if key in self._kept:
                self._retire(key)
        self._fleeting = dict.fromkeys(self._fleeting, False)
        while self._bytes > self._bytes_max and self._kept:
            pixels, texture = self._kept.popitem(last=False)[1]
            self._bytes -= pixels.nbytes
            texture.release()

    def release(self) -> None:
        """Drops every texture."""
        self._bytes_max = 0
        self.trim()
        for texture in self._spare.values():
            texture.release()
        self._spare.clear()

    def _retire(self, key: int) -> None:
        """Keeps one texture of each size to be written again."""
        pixels, texture = self._kept.pop(key)
        self._bytes -= pixels.nbytes
        older = self._spare.pop((*texture.size, texture.components), None)
        if older is not None:
            older.release()
        self._spare[(*texture.size, texture.components)] = texture

    def _uploaded(self, pixels: Pixels) -> moderngl.Texture:
        rows, columns = pixels.shape[:2]
        channels = 1 if pixels.ndim == 2 else pixels.shape[2]
        texture = self._spare.pop((columns, rows, channels), None)
        if texture is not None:
            texture.write(np.ascontiguousarray(pixels), alignment=1)
        else:
            texture = self._context.texture((columns, rows), channels, np.ascontiguousarray(pixels), alignment=1)
            if channels == 1:
                texture.swizzle = "RRRR"
        texture.repeat_x = texture.repeat_y = False
        texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
        return texture
