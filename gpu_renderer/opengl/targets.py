"""Pooled render targets: a texture, its framebuffer, and the part of the frame that it covers.

A target covers a *region* of the frame. Outside the region the content is transparent. Where the region touches the
frame's edge, the edge pixel repeats. Clamp-to-edge addressing has this result if the region has a transparent pixel of
margin on every side that is not at the frame's edge. A pass over a small layer therefore costs the layer's area and
samples the same values as a pass over the frame.

Row 0 of every target is the top row. Shaders work in frame pixels with y down, and nothing is ever flipped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import moderngl
import numpy as np
import numpy.typing as npt

from gpu_renderer.errors import TargetTooLarge
from gpu_renderer.geometry.region import Region

Format = Literal["f1", "f2", "f4", "a1", "a2", "a4"]
"""Four channels of 8-bit unsigned, half float or float.

a1, a2, a4: one channel of the same types, read in every channel. It holds only alpha, or a height field.
"""
TARGET_BYTES_MAX = 1 << 30
Attached = tuple[moderngl.Texture, moderngl.Framebuffer]
"""A texture with its framebuffer."""


CHANNELS: dict[Format, tuple[int, str]] = {
    "f1": (4, "f1"), "f2": (4, "f2"), "f4": (4, "f4"), "a1": (1, "f1"), "a2": (1, "f2"), "a4": (1, "f4"),
}  # fmt: skip
"""Number and type of the stored channels."""
BYTES_PER_PIXEL = {"f1": 4, "f2": 8, "f4": 16, "a1": 1, "a2": 2, "a4": 4}
IDLE_FRAMES_MAX = 4
"""Number of frames after which an unused texture is freed.

A job's first frame often needs sizes that no later frame uses.
"""


class Target:
    """A texture of the region's size, to draw into and to sample. Linear premultiplied by default.

    The texture is allocated on first use: a frame that the native kernels composite never needs it.
    """

    __slots__ = ("_made", "_make", "format", "idle_since", "region", "texels", "version")

    def __init__(self, region: Region, format: Format, make: Callable[[], Attached]) -> None:
        self.region, self.format, self._make = region, format, make
        self._made: Attached | None = None
        self.idle_since = 0
        """Frame number of the pool at which the target was last given back."""
        self.version = 0
        """Version of the content, unique within the pool. It changes whenever the content can change."""
        self.texels: npt.NDArray[Any] | None = None
        """Content in main memory, see `TargetPool.keep_in_memory`."""

    @property
    def texture(self) -> moderngl.Texture:
        """Texture, with linear filtering by default."""
        return self._attached()[0]

    @property
    def framebuffer(self) -> moderngl.Framebuffer:
        """Framebuffer of this target. The scissor covers the whole target by default."""
        return self._attached()[1]

    def through(self, framebuffer: moderngl.Framebuffer) -> Target:
        """Return the same texture with another framebuffer."""
        return Target(self.region, self.format, lambda: (self.texture, framebuffer))

    @property
    def size_bytes(self) -> int:
        """Memory of the texture."""
        return self.region.width * self.region.height * BYTES_PER_PIXEL[self.format]

    def read(self) -> npt.NDArray[Any]:
        """Return the texels: bytes, half floats as 16-bit patterns, or floats; shape (rows, columns) or (rows, columns, 4)."""
        components, kind = CHANNELS[self.format]
        content = self.framebuffer.read(components=components, alignment=1, dtype=kind)
        shape = (self.region.height, self.region.width, components)[: 2 if components == 1 else 3]
        return np.frombuffer(content, {"f1": np.uint8, "f2": np.uint16, "f4": np.float32}[kind]).reshape(shape)

    def read_bytes(self) -> npt.NDArray[np.uint8]:
        """Return the texels of a target of four channels of 8 bits, (rows, columns, 4), in an array that can be changed."""
        pixels = np.empty((self.region.height, self.region.width, 4), np.uint8)
        self.texture.read_into(pixels, alignment=1)
        return pixels

    @property
    def is_made(self) -> bool:
        """True if the texture is allocated."""
        return self._made is not None

    def _attached(self) -> Attached:
        if self._made is None:
            self._made = self._make()
            if self.texels is not None:
                self._made[0].write(self.texels, alignment=1)
        return self._made

    def free_texture(self) -> None:
        """Free the texture. It is created again on access, with the content in main memory if there is one."""
        if self._made is not None:
            for each in reversed(self._made):
                each.release()
            self._made = None

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self.region.width, self.region.height


class TargetPool:
    """Pool of targets. Released textures are kept for reuse, for some frames and within a byte budget."""

    def __init__(self, context: moderngl.Context, idle_bytes_max: int = 256 << 20) -> None:
        self._context = context
        self._side_max_px = int(context.info["GL_MAX_TEXTURE_SIZE"])
        self._idle: dict[tuple[int, int, Format], list[Target]] = defaultdict(list)
        self._idle_bytes = 0
        self._idle_bytes_max = idle_bytes_max
        self._frame = 0
        self._lasting = context.framebuffer([context.texture((1, 1), 4)])
        self.acquired_count = 0
        self._versions = 0

    def take(self, region: Region, format: Format = "f2", *, clear: bool = True) -> Target:
        """Return a target over the region, transparent, or undefined if `clear` is false."""
        assert not region.is_empty, "a target holds at least one pixel"
        key = (region.width, region.height, format)
        if self._idle[key]:
            target = self._idle[key].pop()
            self._idle_bytes -= target.size_bytes
            target.region = region
        else:
            target = Target(region, format, lambda: self._made(key[:2], format))
            # drivers crash on a texture that is too large
            if max(key[:2]) > self._side_max_px or target.size_bytes > TARGET_BYTES_MAX:
                needed = f"a picture of {region.width} x {region.height} pixels is needed"
                raise TargetTooLarge(needed, "A layer or an effect of the composition is too large to be drawn.")
        if clear or target.is_made:
            target.texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
            target.framebuffer.scissor = (0, 0, region.width, region.height)
        if clear:
            target.framebuffer.clear()
        self.acquired_count += 1
        self.renew(target)
        return target

    def renew(self, target: Target) -> None:
        """Give a target a new version before its content changes."""
        if target.texels is not None:
            target.texture  # noqa: B018 - creates the texture, so that parts can be drawn over the rest
            target.texels = None
        self._versions += 1
        target.version = self._versions

    def keep_in_memory(self, target: Target, texels: npt.NDArray[Any]) -> None:
        """Hold the content of a target only in main memory, until OpenGL reads the target or draws into it.

        `texels`: the content as `Calls.read_texels` gives it, rows without padding.
        """
        target.texels = texels
        self.bind_lasting()
        target.free_texture()

    def give_back(self, *targets: Target | None) -> None:
        """Take targets back; None is skipped. The caller must not use them afterwards."""
        for target in targets:
            if target is None:
                continue
            self.acquired_count -= 1
            target.texels = None
            target.idle_since = self._frame
            self._idle[(*target.size, target.format)].append(target)
            self._idle_bytes += target.size_bytes
        while self._idle_bytes > self._idle_bytes_max:
            self._drop(min((idle[0] for idle in self._idle.values() if idle), key=lambda target: target.idle_since))

    def end_frame(self) -> None:
        """Free textures that no recent frame has used."""
        self._frame += 1
        self._drop_idle(self._frame - IDLE_FRAMES_MAX)

    @contextmanager
    def acquired(self, region: Region, format: Format = "f2") -> Iterator[Target]:
        """Provide a cleared target for the length of a block."""
        target = self.take(region, format)
        try:
            yield target
        finally:
            self.give_back(target)

    def release(self) -> None:
        """Free every idle texture."""
        self._drop_idle(self._frame + 1)

    def _made(self, size: tuple[int, int], format: Format) -> Attached:
        components, dtype = CHANNELS[format]
        texture = new_texture(self._context, size, components, dtype=dtype)
        framebuffer = self._context.framebuffer([texture])
        framebuffer.scissor = (0, 0, *size)
        return texture, framebuffer

    def bind_lasting(self) -> None:
        """Bind a framebuffer that is never released.

        Call it before a framebuffer is released, because later clears bind the last one again.
        """
        self._lasting.use()

    def _drop_idle(self, oldest: int) -> None:
        for target in [one for idle in self._idle.values() for one in idle if one.idle_since < oldest]:
            self._drop(target)

    def _drop(self, target: Target) -> None:
        key = (*target.size, target.format)
        self._idle[key].remove(target)
        if not self._idle[key]:
            del self._idle[key]
        self._idle_bytes -= target.size_bytes
        if target.is_made:
            self.bind_lasting()
            target.free_texture()


def new_texture(
    context: moderngl.Context, size: tuple[int, int], components: int, data: Any = None, dtype: str = "f1"
) -> moderngl.Texture:
    """Return a texture with linear filtering and clamp-to-edge addressing. A single channel is read in all four."""
    texture = context.texture(size, components, data, alignment=1, dtype=dtype)
    if components == 1:
        texture.swizzle = "RRRR"
    texture.repeat_x = texture.repeat_y = False
    texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
    return texture
