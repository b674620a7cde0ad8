"""Baking: run the mask, fill opacity and raster effects of a layer over its canvas, in order (effects.md 4).

    if needs_baking(layer):
        plan = baking(layer, output_scale, width, height)
        raster = contents.raster(layer.source, plan.scale, plan.bleed_px)
        target = bake(painter, raster, layer, contents.mask, scale_max=plan.scale, mask_scale=plan.mask_scale)

The target is then drawn as the layer's texture, and the effects that only exist on the GPU run after it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import moderngl
import numpy as np
import numpy.typing as npt

from gpu_renderer.content import masks
from gpu_renderer.content.raster import Raster
from gpu_renderer.content.text.families import FontChain
from gpu_renderer.content.vector.mask import MaskRaster
from gpu_renderer.effects.blur_weights import canvas_boxes
from gpu_renderer.effects.canvas import Canvas
from gpu_renderer.effects.raster_route import DEFOCUS_ID, has_raster_form, is_faded
from gpu_renderer.effects.registry import Effect, known
from gpu_renderer.effects.values import EffectValues, resolve
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target
from motion.snapshot import (
    ImageSource,
    LayerSnapshot,
    MaskPath,
    ShapeSource,
    SolidPaint,
    SvgSource,
    VideoSource,
)

GAUSSIAN_SCALE_MAX = 1.0
"""Canvas px per layer px up to which the blur of a plain shape is a Gaussian, as in the golden scenes."""


Masking = Callable[[Sequence[MaskPath], MaskRaster], npt.NDArray[np.uint8]]
"""`Contents.mask`: function that returns the coverage of paths, shape (rows, columns)."""
PICTURES = (ImageSource, SvgSource, VideoSource)
"""Sources that have a size of their own."""


def bake(
    painter: Painter,
    raster: Raster,
    layer: LayerSnapshot,
    masking: Masking,
    counter_faces: Callable[[], FontChain] | None = None,
    *,
    scale_max: float = math.inf,
    mask_scale: float | None = None,
) -> Target:
    """Run the mask, fill opacity and every effect with a raster form over the content's pixels, in stack order.

    Return 8-bit premultiplied sRGB over the raster's box and padding. The caller owns the target.

    `raster`: the unmasked content, made as `baking` says. It is reduced if it has more than `scale_max` px per layer px.
    `counter_faces`: returns the faces in which counters are drawn. Without it they are not drawn.
    `mask_scale`: see `Baking`.
    """
    canvas = Canvas.of(painter, raster, scale_max)
    canvas.counter_faces, canvas.is_picture = counter_faces, isinstance(layer.source, PICTURES)
    canvas.is_image = isinstance(layer.source, (ImageSource, SvgSource))
    if not (_is_plain(layer) and canvas.scale <= GAUSSIAN_SCALE_MAX):
        canvas.blur_kernel = canvas_boxes
    painted = _Masks(raster, masking, mask_scale)
    paths = masks.paths(layer, raster.width, raster.height) if masks.has_paths(layer) else ()
    if any(path.mode != "none" for path in paths):
        canvas.apply("effects/baked/cover.frag", spent={"u_coverage": painted.coverage(canvas, paths)})
    if is_faded(layer):
        canvas.fade(max(0.0, layer.fill_opacity))
    for step, following in pairwise((*_steps(layer, canvas.scale), None)):
        assert step is not None
        _run(canvas, step, following, painted)
    return canvas.close()


def _is_plain(layer: LayerSnapshot) -> bool:
    """Return True for a rectangle or an ellipse of one colour with nothing but one effect.

    The reference's pictures come from two canvases, and a document does not say which one. Only such layers of the
    golden scenes have Gaussian blurs. All other blurs are three boxes. Depth of field does not count: strips in focus
    would differ from their neighbours, and a layer would jump when it leaves the focus.
    """
    source = layer.source
    if not isinstance(source, ShapeSource) or source.primitive == "path" or layer.masks:
        return False
    if sum(entry.id != DEFOCUS_ID for entry in layer.effects) > 1:
        return False
    return not (source.strokes or source.brush_strokes) and all(isinstance(fill, SolidPaint) for fill in source.fills)


@dataclass(frozen=True, slots=True)
class _Step:
    """An effect of the stack with its values, and the mask that limits it."""

    effect: Effect
    values: EffectValues
    scope: MaskPath | None

    @property
    def is_in_filter(self) -> bool:
        """True if consecutive steps like this one make one CSS filter (effects.md 4.2)."""
        return self.effect.is_filter and self.scope is None

    @property
    def is_invalid(self) -> bool:
        """True for a CSS filter that a browser rejects."""
        return self.values.are_in(self.effect.invalid)

    @property
    def is_idle(self) -> bool:
        """True if the step leaves the picture unchanged. CSS filters are never idle (effects.md 4.6)."""
        effect = self.effect
        return not effect.is_filter and (effect.is_idle(self.values) or self.values.are_in(effect.idle_baked))

    @property
    def shares_buffer(self) -> bool:
        """True if neighbouring pixel kernels share their straight buffer with this step (effects.md 4.7)."""
        return self.scope is None and not self.effect.is_drawn


@dataclass(frozen=True, slots=True, eq=False)
class _Masks:
    """Painter of a layer's masks on its canvas."""

    raster: Raster
    masking: Masking
    scale: float | None

    def coverage(self, canvas: Canvas, paths: Sequence[MaskPath], *, is_scope: bool = False) -> moderngl.Texture:
        """Return the coverage of the paths in the canvas's size. The caller releases it.

        Masks of another scale than the canvas start at its corner. Scopes of effects are centred. Outside its box
        neither covers anything. Edges of scopes have four samples a pixel, as measured on a golden scene of the
        reference.
        """
        raster, scale = self.raster, canvas.scale if self.scale is None else self.scale
        # A picture fills its layer box. If its aspect ratio differs, its pixels are not square on the layer.
        down = canvas.height / (raster.height + 2 * raster.padding) if self.scale is None else scale
        covered = self.masking(paths, MaskRaster(raster.width, raster.height, scale, raster.padding, down, is_scope))
        if self.scale is not None and self.scale != canvas.scale:
            covered = _on_canvas(covered, canvas.height, canvas.width, is_centred=is_scope)
        rows, columns = covered.shape
        return canvas.texture(np.ascontiguousarray(covered).tobytes(), columns, rows, channels=1)


def _on_canvas(covered: npt.NDArray[np.uint8], rows: int, columns: int, *, is_centred: bool) -> npt.NDArray[np.uint8]:
    """Return coverage on a canvas of another size, at its corner or centred, and 0 elsewhere."""
    placed = np.zeros((rows, columns), np.uint8)
    top, left = ((rows - covered.shape[0]) // 2, (columns - covered.shape[1]) // 2) if is_centred else (0, 0)
    shown = covered[max(0, -top) : max(0, -top) + rows, max(0, -left) : max(0, -left) + columns]
    top, left = max(0, top), max(0, left)
    placed[top : top + shown.shape[0], left : left + shown.shape[1]] = shown
    return placed


def _steps(layer: LayerSnapshot, scale: float) -> Iterator[_Step]:
    """Yield the effects whose raster form changes the picture (effects.md 4.6), with lengths in canvas px.

    A browser ignores a whole filter of several CSS effects if one of them is invalid.
    """
    for is_filter, found in groupby(_baked_effects(layer, scale), key=lambda step: step.is_in_filter):
        run = list(found)
        if not (is_filter and any(step.is_invalid for step in run)):
            yield from (step for step in run if not (step.is_invalid or step.is_idle))


def _baked_effects(layer: LayerSnapshot, scale: float) -> Iterator[_Step]:
    """Yield the effects that have a raster form, in stack order.

    The path that limits an effect is painted on its own in mode add. An unknown path id limits nothing.
    """
    for effect, entry in known(layer.effects):
        if has_raster_form(effect):
            path = next((path for path in layer.masks if path.id == entry.mask_id), None)
            yield _Step(effect, resolve(effect, entry).scaled(scale), path and dataclasses.replace(path, mode="add"))


def _run(canvas: Canvas, step: _Step, following: _Step | None, painted: _Masks) -> None:
    if step.scope is None:
        canvas.run(step.effect.bake, step.values, keep_straight=following is not None and following.shares_buffer)
        return
    before = canvas.painter.applied("effects/baked/crop.frag", canvas.target)
    canvas.run(step.effect.bake, step.values, keep_straight=False)
    coverage = painted.coverage(canvas, (step.scope,), is_scope=True)
    canvas.apply("effects/baked/scope.frag", spent={"u_before": before, "u_coverage": coverage})
