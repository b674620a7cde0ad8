"""Pooled render targets: a texture, its framebuffer, and the part of the frame that it holds.

A target covers a *region* of the frame. What lies outside is transparent, or, where the region touches the frame's edge,
the edge pixel repeated: exactly what clamp-to-edge addressing gives when the region keeps a transparent pixel of margin
on every side that does not touch the frame's edge. So a pass over a small layer costs the layer's area, not the frame's,
and samples the same values.

Row 0 of every target is the top row: shaders work in frame pixels with y down, and nothing is ever flipped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Literal, NamedTuple

import moderngl

from gpu_renderer.errors import TargetTooLarge
from gpu_renderer.geometry.region import Region

Format = Literal["f1", "f2", "f4", "a1", "a2"]
"""Four channels of 8-bit unsigned, half float or float; a1, a2: alpha alone, in 8 bits or as a half float, that every channel gives."""
TARGET_BYTES_MAX = 1 << 30


class Attached(NamedTuple):
    """A texture, and the framebuffer that it is attached to."""

    texture: moderngl.Texture
    framebuffer: moderngl.Framebuffer


CHANNELS: dict[Format, tuple[int, str]] = {
    "f1": (4, "f1"), "f2": (4, "f2"), "f4": (4, "f4"), "a1": (1, "f1"), "a2": (1, "f2"),
}  # fmt: skip
"""How many are stored, and as what."""
BYTES_PER_PIXEL = {"f1": 4, "f2": 8, "f4": 16, "a1": 1, "a2": 2}
IDLE_FRAMES_MAX = 4
"""What no frame has asked for so long is freed: a job's first frame often needs sizes that no later one does."""


class Target:
    """A texture of the region's size, to be drawn into and sampled. Linear premultiplied unless its maker says otherwise.

    The texture is allocated on first use: a frame that the native kernels composite never needs it.
    """

    __slots__ = ("_made", "_make", "format", "idle_since", "region", "version")

    def __init__(self, region: Region, format: Format, make: Callable[[], Attached]) -> None:
        self.region, self.format, self._make = region, format, make
        self._made: Attached | None = None
        self.idle_since = 0
        """The pool's frame in which it was given back last."""
        self.version = 0
        """Of what it holds: another number wherever that may be something else, within the pool."""

    @property
    def texture(self) -> moderngl.Texture:
        """What is drawn into, filtered linearly unless somebody asks otherwise."""
        return self._attached().texture

    @property
    def framebuffer(self) -> moderngl.Framebuffer:
        """By which it is drawn into, all of it unless somebody asks otherwise."""
        return self._attached().framebuffer

    def through(self, framebuffer: moderngl.Framebuffer) -> Target:
        """The same texture, drawn into by another framebuffer."""
        return Target(self.region, self.format, lambda: Attached(self.texture, framebuffer))

    @property
    def is_made(self) -> bool:
        """Whether its texture takes memory."""
        return self._made is not None

    def _attached(self) -> Attached:
        if self._made is None:
            self._made = self._make()
        return self._made

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self.region.width, self.region.height


class TargetPool:
    """Lends targets and takes them back; keeps released textures for reuse, for some frames and within a byte budget."""

    def __init__(self, context: moderngl.Context, idle_bytes_max: int = 256 << 20) -> None:
        self._context = context
        self._side_max_px = int(context.info["GL_MAX_TEXTURE_SIZE"])
        self._idle: dict[tuple[int, int, Format], list[Target]] = defaultdict(list)
        self._idle_bytes = 0
        self._idle_bytes_max = idle_bytes_max
        self._frame = 0
        self._lasting = context.framebuffer([context.texture((1, 1), 4)])
        self.acquired_count = 0
        self._editions = 0

    def take(self, region: Region, format: Format = "f2", *, clear: bool = True) -> Target:
        """A target over the region. Contents are transparent, or undefined where `clear` is false."""
        assert not region.is_empty, "a target holds at least one pixel"
        key = (region.width, region.height, format)
        if self._idle[key]:
            target = self._idle[key].pop()
            self._idle_bytes -= _bytes(target)
            target.region = region
        else:
            target = self._new(region, format)
        if clear or target.is_made:
            target.texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
            target.framebuffer.scissor = (0, 0, region.width, region.height)
        if clear:
            target.framebuffer.clear()
        self.acquired_count += 1
        self.renew(target)
        return target

    def renew(self, target: Target) -> None:
        """Notes that a target will hold something else than what others know of it."""
        self._editions += 1
        target.version = self._editions

    def give_back(self, *targets: Target | None) -> None:
        """Ends the loan of each target given (None is skipped). The target must not be used afterwards."""
        for target in targets:
            if target is None:
                continue
            self.acquired_count -= 1
            target.idle_since = self._frame
            self._idle[(*target.size, target.format)].append(target)
            self._idle_bytes += _bytes(target)
        while self._idle_bytes > self._idle_bytes_max:
            self._drop(min((idle[0] for idle in self._idle.values() if idle), key=lambda held: held.idle_since))

    def end_frame(self) -> None:
        """Frees what none of the last frames has asked for."""
        self._frame += 1
        oldest = self._frame - IDLE_FRAMES_MAX
        for target in [held for idle in self._idle.values() for held in idle if held.idle_since < oldest]:
            self._drop(target)

    @contextmanager
    def acquired(self, region: Region, format: Format = "f2") -> Iterator[Target]:
        """A cleared target for the length of a block."""
        target = self.take(region, format)
        try:
            yield target
        finally:
            self.give_back(target)

    def release(self) -> None:
        """Frees every idle texture."""
        for target in [held for idle in self._idle.values() for held in idle]:
            self._drop(target)

    def _new(self, region: Region, format: Format) -> Target:
        # drivers end the process over a texture that is too large
        if max(region.width, region.height) > self._side_max_px or _bytes_of(region, format) > TARGET_BYTES_MAX:
            raise TargetTooLarge(f"a picture of {region.width} x {region.height} pixels is needed")
        return Target(region, format, partial(self._made, region.width, region.height, format))

    def _made(self, width: int, height: int, format: Format) -> Attached:
        components, dtype = CHANNELS[format]
        texture = self._context.texture((width, height), components, dtype=dtype)
        if components == 1:
            texture.swizzle = "RRRR"
        texture.repeat_x = texture.repeat_y = False
        texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
        framebuffer = self._context.framebuffer([texture])
        framebuffer.scissor = (0, 0, width, height)
        return Attached(texture, framebuffer)

    def bind_lasting(self) -> None:
        """To be called before a framebuffer is released: what is bound last is bound again by later clears, and must exist then."""
        self._lasting.use()

    def _drop(self, target: Target) -> None:
        key = (*target.size, target.format)
        self._idle[key].remove(target)
        if not self._idle[key]:
            del self._idle[key]
        self._idle_bytes -= _bytes(target)
        if target.is_made:
            self.bind_lasting()
            target.framebuffer.release()
            target.texture.release()


def _bytes(target: Target) -> int:
    return _bytes_of(target.region, target.format)


def _bytes_of(region: Region, format: Format) -> int:
    return region.width * region.height * BYTES_PER_PIXEL[format]
