"""Run shaders over targets: the painter, through which all drawing goes.

    painter.draw("effects/fill.frag", into, textures={"u_layer": layer}, uniforms={"u_color": (1, 0, 0, 1)})

For each texture `u_name` that is a Target, the shader can declare `uniform sampler2D u_name` and `uniform vec4
u_name_region`, and sample it with `texture(u_name, within(u_name_region, v_frame))`.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, NamedTuple

import moderngl
import numpy as np
import numpy.typing as npt

from gpu_renderer import memory
from gpu_renderer.geometry.region import Rects, Region, pixels, shared
from gpu_renderer.opengl.context import Calls, identity
from gpu_renderer.opengl.programs import Layout, Program, Programs, UniformValue
from gpu_renderer.opengl.rounding import half_store
from gpu_renderer.opengl.targets import BYTES_PER_PIXEL, Format, Target, TargetPool
from gpu_renderer.opengl.textures import Textures
from shaders.joining import Joined

FULLSCREEN = "fullscreen.vert"
"""Vertex shader of the whole target."""
WHOLE_COPY_GAIN = 1.6
"""Factor by which a software rasteriser copies a pixel of a whole target faster than a pixel of a part."""
BAND_BYTES = 1 << 18
"""Size of the bands in which parts are copied.

A band fits the processor's cache, and holds a row of the largest target.
"""
SPREAD_FROM_PX = 1 << 16
"""Number of pixels from which a software rasteriser clears a target slower than memory is written."""
COLOURS_KEPT_MAX = 8
SAMPLES = 4
"""Samples per pixel of planes that hide one another in space."""
INSTANCE_BYTES = 1 << 14
SHADER_COMPILER = "libLLVM"
"""Library with the shader compiler of software rasterisers: 45 MB of code, loaded at a shader's first draw."""
QUEUED_DRAWS_MAX = 3
"""Draw calls that Mesa's software rasteriser usually queues."""
_LARGE_PX = 512
"""Side of a drawing that takes about a millisecond, px."""
PARTS_MAX = INSTANCE_BYTES // 16
_FRACTIONS = struct.Struct("4f").pack
_PARTS: Layout = (("i_part", 4),)
Blend = Literal["replace", "over", "under", "add", "screen", "brightest"]
"""Blend functions. `under`: the target's content over what is drawn. `brightest`: colours add up, and the alpha is the larger one."""
_FUNCTIONS: dict[str, tuple[int, ...]] = {
    "over": (moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA),
    "under": (moderngl.ONE_MINUS_DST_ALPHA, moderngl.ONE),
    "add": (moderngl.ONE, moderngl.ONE),
    # out.rgb = S + D(1 - S); alpha source-over (compositing.md 3.1)
    "screen": (moderngl.ONE, moderngl.ONE_MINUS_SRC_COLOR, moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA),
    "brightest": (moderngl.ONE, moderngl.ONE),
}


class Instances(NamedTuple):
    """Geometry that does not cover the whole target: a strip of four vertices per instance, placed by a vertex shader.

    `packed`: attributes of all instances, at most INSTANCE_BYTES of 32-bit floats.
    """

    vertex: str
    layout: Layout
    packed: bytes
    times: int


class Painter:
    """Runner of full-target passes, with the pool of targets and the programs of a context."""

    def __init__(
        self,
        context: moderngl.Context,
        *,
        flat_uniforms: bool | None = None,
        joins_passes: bool = True,
        raster_threads: int | None = None,
    ) -> None:
        """`flat_uniforms`: see `Programs`. None selects the cheaper way.

        `joins_passes`: consecutive effects can run as one pass, with the same bytes. `raster_threads`: see
        `create_context`.
        """
        self.context = context
        self.thread_count = max(1, ((os.cpu_count() or 1) if raster_threads is None else raster_threads) // 2)
        """Threads that can work on a frame's pixels if OpenGL runs on the processor. The encoder runs beside them."""
        driver = identity(context)
        self.is_software = driver.is_software
        """True for Mesa's rasteriser. It waits inside reading calls, and does not wait when it copies."""
        self.programs = Programs(context, flat_uniforms=self.is_software if flat_uniforms is None else flat_uniforms)
        self.pool = TargetPool(context)
        self.textures = Textures(context)
        self.calls = Calls()
        self._band = np.empty(BAND_BYTES, np.uint8)
        self._whole = context.buffer(struct.pack("4f", 0.0, 0.0, 2.0, 2.0))  # a triangle of twice the target's size
        self._instances = context.buffer(reserve=INSTANCE_BYTES, dynamic=True)
        self._colours: dict[tuple[tuple[float, float, float, float], Format], npt.NDArray[np.uint8]] = {}
        self.can_read_in_place = "GL_EXT_shader_framebuffer_fetch" in context.extensions
        """True if a fragment shader can read the pixel that it writes."""
        self.can_place_samples = "GL_ARB_sample_shading" in context.extensions
        """True if a fragment shader can write the depth of each sample."""
        self._keeps_first_sampling = driver.keeps_first_sampling
        self.half_store = half_store(self) if joins_passes else None
        """STORE of include/stored.glsl for joined passes on half-float targets, or None to join no passes.

        Passes on other targets are not joined: without rounding between them, compilers fold one pass into the other.
        """

    def draw(
        self,
        shader: str | Joined,
        into: Target,
        *,
        textures: Mapping[str, Target | moderngl.Texture] | None = None,
        blend: Blend = "replace",
        scissor: Region | Rects | None = None,
        defines: Mapping[str, object] | None = None,
        instances: Instances | None = None,
        uniforms: Mapping[str, UniformValue] | None = None,
    ) -> None:
        """Run the fragment shader over the whole of `into`, over the rectangles of `scissor`, or over instances."""
        program = self.programs.get(shader, FULLSCREEN if instances is None else instances.vertex, **(defines or {}))
        program.set("u_region", tuple(map(float, into.region)))
        if textures and _bind(program, textures):
            self.finish()
        for name, value in (uniforms or {}).items():
            program.set(name, value)
        if blend == "replace":
            self.context.disable(moderngl.BLEND)
        else:
            self.context.enable(moderngl.BLEND)
            self.context.blend_func = _FUNCTIONS[blend]  # type: ignore[assignment]  # four factors are allowed too
        if blend == "brightest":
            self.context.blend_equation = moderngl.FUNC_ADD, moderngl.MAX
        if instances is None:
            self._fill(program, into, _parts_of(into, scissor))
        else:
            self._aim(into, into.region)
            self._render(program, instances.layout, instances.packed, instances.times)
        if blend == "brightest":
            self.context.blend_equation = moderngl.FUNC_ADD, moderngl.FUNC_ADD

    def _fill(self, program: Program, into: Target, rects: Rects) -> None:
        """Run a program over parts of a target: one part with a scissor, several parts as instances."""
        if len(rects) == 1:
            self._aim(into, rects[0])
            program.array(self._whole, _PARTS).render(moderngl.TRIANGLES, vertices=3)
            return
        self._aim(into, into.region)
        for first in range(0, len(rects), PARTS_MAX):
            these = rects[first : first + PARTS_MAX]
            self._render(program, _PARTS, b"".join([_fractions(into, part) for part in these]), len(these))

    def _render(self, program: Program, layout: Layout, packed: bytes, times: int) -> None:
        if not self.is_software:  # the software rasteriser has read what was written before
            self._instances.orphan()
        self._instances.write(packed)
        array = program.array(self._instances, layout)
        array.render(moderngl.TRIANGLE_STRIP, vertices=4, instances=times)

    def applied(
        self,
        shader: str | Joined,
        source: Target,
        *,
        region: Region | None = None,
        format: Format | None = None,
        textures: Mapping[str, Target | moderngl.Texture] | None = None,
        defines: Mapping[str, object] | None = None,
        uniforms: Mapping[str, UniformValue] | None = None,
    ) -> Target:
        """Return a new target drawn by a shader that reads the source as `u_source`.

        The target covers the source's region by default. The caller owns the result and still owns the source.
        """
        into = self.pool.take(region or source.region, format or source.format, clear=False)
        self.draw(shader, into, textures={"u_source": source, **(textures or {})}, defines=defines, uniforms=uniforms)
        return into

    @contextmanager
    def beside(self, source: Target, into: Target) -> Iterator[Target]:
        """Yield `into` with a second target of the same region as first attachment, which shaders read in place."""
        assert source.region == into.region and self.can_read_in_place
        framebuffer = self.context.framebuffer([source.texture, into.texture])
        framebuffer.color_mask = ((False,) * 4, (True,) * 4)  # type: ignore[assignment]  # one for each attachment
        try:
            yield into.through(framebuffer)
        finally:
            self.pool.bind_lasting()
            framebuffer.release()

    def copy(self, source: Target, into: Target, rects: Region | Rects) -> None:
        """Copy parts of the frame between targets that both hold them.

        Software rasterisers draw a bounded blit pixel by pixel. There parts are copied through main memory.
        """
        parts = shared(_parts_of(source, rects), into.region)
        is_alike = source.format == into.format and not into.framebuffer.samples
        if is_alike and source.region == into.region and (not self.is_software or parts == (source.region,)):
            self.finish()
            for part in parts:
                self._aim(source, part)
                self.context.copy_framebuffer(into.framebuffer, source.framebuffer)
        elif is_alike and self.is_software:
            self.finish()
            size, address = BYTES_PER_PIXEL[source.format], self._band.ctypes.data
            right, down = source.region.x - into.region.x, source.region.y - into.region.y
            for band in bands([_box(source, part) for part in parts], size):
                self.calls.read_texels(source.texture, band, address, band.width * size)
                self.calls.write_texels(into.texture, band._replace(x=band.x + right, y=band.y + down), address)
        else:
            self.draw("copy.frag", into, textures={"u_source": source}, scissor=rects)

    def copied(self, source: Target, part: Region) -> Target:
        """Return a new target with a copy of a part of another one. The caller owns it."""
        into = self.pool.take(part, source.format, clear=False)
        self.copy(source, into, part)
        return into

    def finish(self) -> None:
        """Wait for pending drawing, in a call that lets other threads run. Call it before a read that would block."""
        if self.is_software:
            self.calls.finish()

    def begin_samples(self) -> None:
        """Let the next shaders run for each sample. Call it after others have drawn into the same framebuffer."""
        if self._keeps_first_sampling:
            self.calls.flush()

    def end_frame(self) -> None:
        """Free textures and targets above their budgets, and GPU objects without references."""
        self.textures.trim()
        self.pool.end_frame()
        self.programs.end_frame()
        dropped = self.context.objects
        while dropped:
            item = dropped.popleft()
            if hasattr(item, "release"):
                item.release()

    def return_memory(self) -> None:
        """Return unused memory to the system. It takes milliseconds: call it after many targets were freed.

        Mesa's software rasteriser holds the textures of a drawing until the next one takes its place in a queue. It
        searches the queue from the start, so a large drawing occupies the first place while small ones take the others.
        """
        if self.is_software:
            sizes = ((_LARGE_PX, _LARGE_PX), *((1, 1),) * QUEUED_DRAWS_MAX)
            targets = [self.pool.take(Region(0, 0, *size), "f1", clear=False) for size in sizes]
            nothing = self.textures.table(bytes(256 * 3))
            for target in targets:
                self.draw("copy.frag", target, textures={"u_source": nothing})
            self.calls.finish()
            self.pool.give_back(*targets)
            memory.unmap_code(SHADER_COMPILER)
        memory.return_free_blocks()

    def restore(self, source: Target, into: Target, rects: Rects) -> None:
        """Copy at least the parts between two targets of the same region and format.

        Other content of `into` becomes undefined. A software rasteriser copies everything unless the parts are small,
        because that is one move of memory.
        """
        parts = shared(rects, source.region)
        is_cheaper_whole = self.is_software and WHOLE_COPY_GAIN * pixels(parts) > pixels((source.region,))
        self.copy(source, into, (source.region,) if is_cheaper_whole else parts)

    def erase(
        self, into: Target, rects: Region | Rects, color: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    ) -> None:
        """Set parts of a target to one linear premultiplied colour, by default transparent.

        Software rasterisers draw a bounded clear pixel by pixel. There the colour's bytes are written instead.
        """
        parts = _parts_of(into, rects)
        is_drawn_slowly = parts != (into.region,) or pixels(parts) >= SPREAD_FROM_PX
        if self.is_software and is_drawn_slowly and not into.framebuffer.samples:
            address = self.cleared(color, into.format).ctypes.data
            self.finish()
            for band in bands([_box(into, part) for part in parts], BYTES_PER_PIXEL[into.format]):
                self.calls.write_texels(into.texture, band, address)
            return
        for part in parts:
            into.framebuffer.scissor = _box(into, part)
            into.framebuffer.clear(*color)

    def cleared(self, color: tuple[float, float, float, float], format: Format) -> npt.NDArray[np.uint8]:
        """Return a band of pixels with the bytes that a clear of a whole target writes."""
        if (color, format) not in self._colours:
            if len(self._colours) == COLOURS_KEPT_MAX:
                self._colours.clear()
            with self.pool.acquired(Region(0, 0, 1, 1), format) as one:
                one.framebuffer.clear(*color)
                pixel = one.read().tobytes()
            self._colours[color, format] = np.frombuffer(pixel * (BAND_BYTES // len(pixel)), np.uint8)
        return self._colours[color, format]

    @staticmethod
    def _aim(into: Target, part: Region) -> None:
        """Restrict drawing into a target to a part, until the next call."""
        into.framebuffer.scissor = _box(into, part)
        into.framebuffer.use()


def _bind(program: Program, textures: Mapping[str, Target | moderngl.Texture]) -> bool:
    """Bind the textures to the program's samplers, with the regions of targets. Return True if one is a target."""
    reads_target = False
    for unit, (name, source) in enumerate(textures.items()):
        if isinstance(source, Target):
            reads_target = True
            source.texture.use(location=unit)
            if f"{name}_region" in program.gl:
                program.set(f"{name}_region", tuple(map(float, source.region)))
        else:
            source.use(location=unit)
        program.set(name, unit)
    return reads_target


def _parts_of(into: Target, rects: Region | Rects | None) -> Rects:
    if rects is None:
        return (into.region,)
    return shared((rects,) if isinstance(rects, Region) else rects, into.region)


def _box(into: Target, part: Region) -> Region:
    return Region(part.x - into.region.x, part.y - into.region.y, part.width, part.height)


def _fractions(into: Target, part: Region) -> bytes:
    """Return a part of a target as packed fractions of its size."""
    x, y, width, height = into.region
    left, top = part.x - x, part.y - y
    return _FRACTIONS(left / width, top / height, (left + part.width) / width, (top + part.height) / height)


def bands(boxes: Iterable[Region], bytes_per_pixel: int, band_bytes: int = BAND_BYTES) -> Iterator[Region]:
    """Yield the boxes in bands of whole rows of at most `band_bytes`."""
    for box in boxes:
        rows = band_bytes // (box.width * bytes_per_pixel)
        for top in range(box.y, box.bottom, rows):
            yield Region(box.x, top, box.width, min(rows, box.bottom - top))
