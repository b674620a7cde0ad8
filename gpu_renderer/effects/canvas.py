"""A layer's own canvas: 8-bit sRGB, premultiplied, in the layer's untransformed space (effects.md 4).

Passes are shaders that read straight bytes and store bytes (shaders/include/canvas.glsl). Like the reference, they
round to 8 bits between every two effects.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from gpu_renderer.content.raster import Raster
from gpu_renderer.content.text.families import FontChain
from gpu_renderer.content.vector.paints import rgba_of
from gpu_renderer.effects.blur_passes import BOX_RADIUS_MAX, box_blurred, canvas_blurred
from gpu_renderer.effects.blur_weights import Kernel, canvas_gaussian
from gpu_renderer.effects.native_windows import WINDOW_MARGIN_MAX, window_kernels
from gpu_renderer.effects.surface import Surface, Uniforms
from gpu_renderer.effects.values import Defines, EffectValues
from gpu_renderer.geometry.region import Region
from gpu_renderer.kernels.loading import kernels
from gpu_renderer.kernels.windows import Axis, Operation
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.programs import UniformValue
from gpu_renderer.opengl.targets import Target

MIP_SHARPENING = 0.5
"""Bias of the mip level that browsers use to reduce a picture, measured on the reference's frames."""


class Canvas(Surface):
    """Canvas of the raster effects, with the layer's silhouette before fill opacity.

    `scale`: canvas px per layer px. Lengths in values and in the methods below are canvas px.
    """

    defines = (("BAKED", "1"),)

    def __init__(self, painter: Painter, target: Target, scale: float, *, is_straight: bool = False) -> None:
        """`is_straight`: the target has straight bytes, and passes store straight bytes."""
        super().__init__(painter, target)
        self.scale = scale
        self._silhouette: Target | None = None
        self._is_straight = self._stores_straight = is_straight
        self.is_picture = False
        """True if the canvas holds an image or a video frame."""
        self.is_image = False
        """True if the canvas holds an image.

        Pictures drawn onto it are enlarged by a cubic filter (shaders/include/cubic.glsl).
        """
        self.blur_kernel: Callable[[float], Kernel] = canvas_gaussian
        """Weights of a blur of a given sigma."""
        self.counter_faces: Callable[[], FontChain] | None = None
        """Returns the faces of counters. Without faces counters draw nothing."""

    @classmethod
    def of(cls, painter: Painter, raster: Raster, scale_max: float = math.inf) -> Canvas:
        """Return a canvas with the raster's pixels, reduced to at most `scale_max` px per layer px."""
        rows, columns = raster.pixels.shape[:2]
        target = painter.pool.take(Region(0, 0, columns, rows), "f1", clear=False)
        target.texture.write(np.ascontiguousarray(rgba_of(raster)).data)
        layer_width = max(1e-6, raster.width + 2 * raster.padding)
        share = min(1.0, scale_max * layer_width / columns)
        if share < 1.0:
            size = Region(0, 0, max(1, math.floor(columns * share + 0.5)), max(1, math.floor(rows * share + 0.5)))
            target = _reduced(painter, target, size)
        return cls(painter, target, target.region.width / layer_width)

    @property
    def width(self) -> int:
        """Columns, padding included: the `w` of every kernel's formula."""
        return self.target.region.width

    @property
    def height(self) -> int:
        """Rows, padding included."""
        return self.target.region.height

    def place(self, values: EffectValues, key: str) -> tuple[float, float]:
        """Return the point of two parameters, an offset from the canvas's centre.

        `center` reads `centerX` and `centerY`.
        """
        return self.width / 2 + values.number(f"{key}X"), self.height / 2 + values.number(f"{key}Y")

    @property
    def silhouette(self) -> Target:
        """Layer's shape for style generators: the picture before fill opacity, or the current one."""
        return self._silhouette or self.target

    def fade(self, opacity: float) -> None:
        """Apply fill opacity: it fades the pixels but not the silhouette (effects.md 4.4)."""
        faded = self.passed("effects/baked/fade.frag", uniforms={"u_opacity": opacity})
        self._silhouette, self.target = self.target, faded

    def run(self, bake: Callable[[Canvas, EffectValues], None], values: EffectValues, *, keep_straight: bool) -> None:
        """Run the raster form of an effect. Neighbouring pixel kernels share one straight buffer (effects.md 4.7).

        `keep_straight`: keep the colours of transparent pixels, because the next effect reads them too.
        """
        if values.effect.is_drawn:
            self._store(straight=False)
            bake(self, values)
            return
        self._stores_straight = keep_straight or not values.effect.is_one_pass
        bake(self, values)
        self._stores_straight = False
        if not keep_straight:
            self._store(straight=False)

    def _store(self, *, straight: bool) -> None:
        if self._is_straight is not straight:
            self.apply("effects/baked/restore.frag")

    def replace(self, target: Target) -> None:
        """Make a target the picture. The last pass decided how its pixels are stored."""
        super().replace(target)
        self._is_straight = self._stores_straight

    def variant(self, values: EffectValues | None) -> Defines:
        """Return the variant of a shader that matches how the canvas is stored before and after the pass."""
        stored = ("STRAIGHT_IN", self._is_straight), ("STRAIGHT_OUT", self._stores_straight)
        return (*super().variant(values), *((name, "1") for name, given in stored if given))

    def close(self) -> Target:
        """Return the final picture, premultiplied. The caller owns it."""
        self._store(straight=False)
        self.painter.pool.give_back(self._silhouette)
        self._silhouette = None
        return self.target

    def pixels(self) -> npt.NDArray[np.uint8]:
        """Return the canvas read back: (rows, columns, 4), premultiplied."""
        return self.target.read_bytes()

    def straight_pixels(self) -> npt.NDArray[np.uint8]:
        """Return the canvas as kernels see it: straight bytes, shape (rows, columns, 4)."""
        pixels = self.pixels()
        if self._is_straight:
            return pixels
        if (native := kernels()) is not None:
            native.windows.straighten(pixels)
            return pixels
        straight = pixels.astype(np.float32)
        straight /= np.maximum(straight[..., 3:], 1)
        straight *= 255
        straight += 0.5
        pixels[..., :3] = np.minimum(straight[..., :3], 255.0)  # the assignment truncates, which is floor here
        return pixels

    def write(self, pixels: npt.NDArray[np.uint8]) -> None:
        """Store premultiplied bytes of the canvas's size as the picture."""
        into = self.painter.pool.take(self.target.region, "f1", clear=False)
        into.texture.write(np.ascontiguousarray(pixels), alignment=1)
        self.replace(into)

    def write_straight(self, pixels: npt.NDArray[np.uint8]) -> None:
        """Store straight bytes of the canvas's size as the picture. Native kernels may overwrite the array."""
        stored, native = np.ascontiguousarray(pixels), kernels()
        is_straight = native is None or self._stores_straight
        if native is not None and not is_straight:
            native.windows.premultiply(stored)
        self.target.texture.write(stored, alignment=1)
        self._is_straight = is_straight
        self._store(straight=self._stores_straight)

    @contextmanager
    def premultiplied(self) -> Iterator[Target]:
        """Provide the picture as premultiplied bytes, for passes that average colours by alpha."""
        if not self._is_straight:
            yield self.target
            return
        copy = self.painter.applied(
            "effects/baked/restore.frag", self.target, defines={"STRAIGHT_IN": "1"}, uniforms=self.common()
        )
        try:
            yield copy
        finally:
            self.painter.pool.give_back(copy)

    def paint(self, pixels: npt.NDArray[np.uint8], *, composite: int = 0, opacity: float = 1.0) -> None:
        """Draw premultiplied pixels of the canvas's size over the picture, with a composite code of effects.md 4.3."""
        texture = self.texture(np.ascontiguousarray(pixels).tobytes(), self.width, self.height)
        self.apply(
            "effects/baked/paint.frag",
            uniforms={"u_composite": composite, "u_opacity": opacity},
            spent={"u_paint": texture},
        )

    def table(self, table: npt.NDArray[np.uint8]) -> None:
        """Map each straight channel by a table of shape (256, 3)."""
        texture = self.texture(np.ascontiguousarray(table, np.uint8).tobytes(), 256, 1, channels=3)
        self.apply("effects/baked/table.frag", spent={"u_table": texture})

    def matrix(self, affine: npt.NDArray[np.float64]) -> None:
        """Map straight colours by an affine matrix of three rows of four, and clamp them."""
        matrix, offset = affine[:, :3].T.ravel(), affine[:, 3]
        self.apply(
            "effects/baked/matrix.frag",
            uniforms={"u_matrix": tuple(map(float, matrix)), "u_offset": tuple(map(float, offset))},
        )

    def blurred(self, sigma: float) -> Target:
        """Return a browser's blur of the picture, transparent outside the canvas. The caller owns it."""
        return self.soft(self.target, sigma, self.target.region)

    def soft(self, source: Target, sigma: float, region: Region) -> Target:
        """Return a browser's blur of a picture over a region, transparent outside the picture. The caller owns it."""
        return canvas_blurred(self.painter, source, sigma, region, self.blur_kernel)

    def box_blur(self, radius: int, iterations: int, axes: tuple[Axis, ...], *, repeat_edge: bool) -> None:
        """Replace the picture by its box blur (effects.md 6). The colours of transparent pixels are lost."""
        self.replace(self.box_means(radius, iterations, axes, repeat_edge=repeat_edge))
        self._is_straight = True
        self._store(straight=self._stores_straight)

    def box_means(
        self, radius: int, iterations: int = 1, axes: tuple[Axis, ...] = (0, 1), *, repeat_edge: bool = True
    ) -> Target:
        """Return the picture after box blurs of 2 radius + 1 px, as straight bytes. The caller owns it.

        Straight colours of faint pixels keep their precision, which premultiplied bytes would lose.
        """
        painter = self.painter
        if (native := window_kernels(painter)) is not None:
            pixels, margin, threads = self.straight_pixels(), min(radius, WINDOW_MARGIN_MAX), painter.thread_count
            # Opaque pixels stay opaque. Their means are the same without weights, at half of the cost.
            operation: Operation = "mean" if repeat_edge and pixels[..., 3].min() == 255 else "weighted mean"
            for axis in axes * (iterations if radius > 0 else 0):
                native.window(pixels, axis, margin, operation, repeats_edge=repeat_edge, thread_count=threads)
            soft = painter.pool.take(self.target.region, "f1", clear=False)
            soft.texture.write(pixels, alignment=1)
            return soft
        if radius <= BOX_RADIUS_MAX:
            return self._byte_means(radius, axes * iterations, repeat_edge=repeat_edge)
        with self.premultiplied() as source:
            blurred = box_blurred(painter, source, radius, iterations, axes, repeat_edge=repeat_edge, format="f2")
        straight = painter.applied(
            "effects/baked/restore.frag", blurred, format="f1", defines={"STRAIGHT_OUT": "1"}, uniforms=self.common()
        )
        painter.pool.give_back(blurred)
        return straight

    def _byte_means(self, radius: int, axes: tuple[Axis, ...], *, repeat_edge: bool) -> Target:
        """Return the picture after box blurs by shaders, stored as straight bytes after each axis. The caller owns it."""
        stored = ("STRAIGHT_IN", "STRAIGHT_OUT") if self._is_straight else ("STRAIGHT_OUT",)
        straight = self.painter.applied(
            "effects/baked/restore.frag", self.target, defines=dict.fromkeys(stored, "1"), uniforms=self.common()
        )
        copy = Canvas(self.painter, straight, self.scale, is_straight=True)
        for axis in axes if radius > 0 else ():
            uniforms: Uniforms = {"u_axis": (1 - axis, axis), "u_margin": radius, "u_repeat_edge": repeat_edge}
            copy.apply("effects/baked/box_mean.frag", uniforms=uniforms)
        return copy.target

    def common(self) -> dict[str, UniformValue]:
        """Return the canvas's size (shaders/include/canvas.glsl)."""
        return {"u_canvas_size": (float(self.width), float(self.height))}

    def parameters(self, values: EffectValues) -> dict[str, UniformValue]:
        """Return the parameters, with lengths in canvas px, the effect's derived values, and the kind of content."""
        derived = values.effect.derive(values, self.width, self.height)
        return {**dict[str, UniformValue](values.uniforms()), **derived, "u_is_image": int(self.is_image)}


def _halved(painter: Painter, target: Target) -> Target:
    """Return the next mip level of a picture. The caller still owns the target."""
    width, height = target.region.width, target.region.height
    columns, rows = (1 if side == 1 else 2 + side % 2 for side in (width, height))
    half = Region(0, 0, max(1, width // 2), max(1, height // 2))
    return painter.applied("effects/baked/mip.frag", target, region=half, defines={"COLUMNS": columns, "ROWS": rows})


def _reduced(painter: Painter, target: Target, size: Region) -> Target:
    """Return the picture of a target at a smaller size, and give the target back to the pool.

    Browsers read between two mip levels, half a level finer than the reduction needs (effects.md 4.1).
    """
    ratio = target.region.width / size.width * target.region.height / size.height
    levels = max(0.0, math.log2(ratio) / 2 - MIP_SHARPENING)
    for _ in range(math.floor(levels)):
        half = _halved(painter, target)
        painter.pool.give_back(target)
        target = half
    smaller = _halved(painter, target)
    made = painter.applied(
        "effects/baked/reduce.frag",
        target,
        region=size,
        textures={"u_smaller": smaller},
        uniforms={"u_between": levels % 1.0},
    )
    painter.pool.give_back(target, smaller)
    return made
