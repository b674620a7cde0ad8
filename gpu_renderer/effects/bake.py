"""The raster route: which layers are baked, at which scale and in which order (format/effects.md 2 and 4).

if needs_baking(layer):
    plan = baking(layer, output_scale, width, height)
    raster = contents.raster(layer.source, plan.scale, plan.padding_px)
    baked = bake(painter, raster, layer, contents.mask)
    ... draw baked.target as the layer's texture, then buffer_chain(..., after_baking=True) ...
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

from gpu_renderer.cache.identity import cached_by_identity
from gpu_renderer.content import masks
from gpu_renderer.content.raster import Raster, raster_tier
from gpu_renderer.content.text.families import FontChain
from gpu_renderer.effects.canvas import Canvas
from gpu_renderer.effects.gaussian import canvas_boxes
from gpu_renderer.effects.registry import Effect, find
from gpu_renderer.effects.values import KEPT_MAX, EffectValues, Route, resolve
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target
from motion.snapshot import (
    AdjustmentSource,
    CompositionSource,
    EffectSnapshot,
    ImageSource,
    LayerSnapshot,
    LightWash,
    MaskPath,
    MissingSource,
    ParticleSource,
    ShapeSource,
    SolidPaint,
    SvgSource,
    TextSource,
    VideoSource,
)

PADDING_EFFECTS_MAX_PX = 256
PADDING_MAX_PX = 512
SIDE_MAX_PX = 4096
PICTURE_QUALITIES = ((0.28, 0.25), (0.55, 0.5), (1.05, 1.0), (1.55, 1.5), (2.1, 2.0), (3.1, 3.0))
"""Pairs of a largest output scale and the quality at which pictures are baked up to that scale (effects.md 4.1)."""
PICTURE_QUALITY_MAX = 4.0
PICTURE_OVERSAMPLING = 1.5

GAUSSIAN_SCALE_MAX = 1.0
"""Canvas px per layer px up to which the blur of a plain shape is a Gaussian, as in the golden scenes."""

DEFOCUS_ID = "dof"
"""Id of the blur that depth of field adds to a layer, or to a strip of it."""

Masking = Callable[..., npt.NDArray[np.uint8]]
"""`Contents.mask`: function of (paths, width, height, supersample, padding, supersample_down, is_sampled).

It returns the coverage, shape (rows, columns).
"""
PICTURES = (ImageSource, SvgSource, VideoSource)
"""Sources that have a size of their own."""
_NEVER_BAKED = (AdjustmentSource, CompositionSource, LightWash, MissingSource, ParticleSource)
_BAKED_ROUTES = (Route.MATRIX, Route.TABLE, Route.GPU, Route.RASTER)


@dataclass(frozen=True, slots=True)
class Baking:
    """Rasterisation of a baked layer.

    `scale`: canvas px per layer px. For a picture, which has its own size: the largest px per layer px that it keeps.
    `bleed_px`: distance that the effects draw outside the layer, layer px.
    `mask_scale`: canvas px per layer px of the masks, which the reference paints as if the layer were not scaled
    (compositing.md 2.5). None for pictures, whose masks fit their canvas.
    """

    scale: float
    bleed_px: float
    mask_scale: float | None = None

    @property
    def padding_px(self) -> float:
        """Padding of a layer that only effects enlarge, layer px."""
        return float(min(PADDING_MAX_PX, math.ceil(self.bleed_px + 1))) if self.bleed_px > 0 else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Baked:
    """A baked layer.

    `target`: 8-bit sRGB-encoded premultiplied, row 0 on top. It covers the layer box of width x height layer px, grown
    by `padding` on every side. The caller of `bake` owns the target.
    """

    target: Target
    width: float
    height: float
    padding: float


def needs_baking(layer: LayerSnapshot) -> bool:
    """Return True if the layer takes the raster route.

    Such a layer has an effect without a GPU form, a scoped effect, or fill opacity.
    """
    if isinstance(layer.source, _NEVER_BAKED):
        return False
    return is_faded(layer) or _needs_canvas(layer.effects)


def is_faded(layer: LayerSnapshot) -> bool:
    """Return True if fill opacity fades the layer. Only shapes and texts have fill opacity (compositing.md 4)."""
    return layer.fill_opacity < 1 and isinstance(layer.source, (ShapeSource, TextSource))


def container_padding_px(layer: LayerSnapshot) -> float:
    """Return the distance by which the box and the mask of a container grow on every side, layer px.

    The raster effects of a container are not drawn, but they make it a baked layer: all its effects and styles enlarge
    the box (compositing.md 2.4).
    """
    return Baking(1.0, _bleed_px(layer.effects)).padding_px if _needs_canvas(layer.effects) else 0.0


def keeps_color(layer: LayerSnapshot) -> bool:
    """Return True if content of one colour has the same colour after baking, so that only its alpha is stored."""
    found = (find(entry.type) for entry in layer.effects)
    return all(effect is None or effect.route not in _BAKED_ROUTES or effect.keeps_color for effect in found)


def baking(layer: LayerSnapshot, output_scale: float, width: float, height: float, *, requested: float = 1.0) -> Baking:
    """Return the rasterisation of a baked layer of width x height layer px.

    `requested`: output px per layer px, at least `output_scale`. For a 3D layer, the scale of its projection
    (layers.md 5.3).

    A video keeps its own pixels. A picture keeps as many as the output can show.
    """
    bleed = _bleed_px(layer.effects)
    if isinstance(layer.source, VideoSource):
        return Baking(math.inf, bleed)
    if isinstance(layer.source, (ImageSource, SvgSource)):
        quality = next((step for limit, step in PICTURE_QUALITIES if output_scale <= limit), PICTURE_QUALITY_MAX)
        return Baking(PICTURE_OVERSAMPLING * quality, bleed)
    scale = raster_tier(requested, continuous=layer.continuous_raster, width=width, height=height)
    longest = max(width, height) + 2 * Baking(scale, bleed).padding_px
    return Baking(min(scale, SIDE_MAX_PX / max(1.0, longest)), bleed, raster_tier(output_scale))


def bake(
    painter: Painter,
    raster: Raster,
    layer: LayerSnapshot,
    masking: Masking,
    counter_faces: Callable[[], FontChain] | None = None,
    *,
    scale_max: float = math.inf,
    mask_scale: float | None = None,
) -> Baked:
    """Run the mask, fill opacity and every effect with a raster form over the content's pixels, in stack order.

    `raster`: the unmasked content, made as `baking` says. It is reduced if it has more than `scale_max` px per layer
    px.
    `mask_scale`: see `Baking`.
    `counter_faces`: returns the faces of counters, if there are any.

    The chain runs the effects that only exist on the GPU.
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
    return Baked(canvas.close(), raster.width, raster.height, raster.padding)


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
        covered = self.masking(tuple(paths), raster.width, raster.height, scale, raster.padding, down, is_scope)
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
    for entry in layer.effects:
        effect = find(entry.type)
        if effect is not None and effect.route in _BAKED_ROUTES:
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


@cached_by_identity(KEPT_MAX)
def _needs_canvas(effects: tuple[EffectSnapshot, ...]) -> bool:
    """Return True if an effect has only a raster form, or if a mask limits it."""
    found = ((entry, find(entry.type)) for entry in effects)
    return any(entry.mask_id or (effect is not None and effect.route is Route.RASTER) for entry, effect in found)


def _bleed_px(effects: Sequence[EffectSnapshot]) -> float:
    """Return the distance that effects draw outside the layer's box, layer px, at most PADDING_EFFECTS_MAX_PX."""
    found = ((find(entry.type), entry) for entry in effects)
    largest = max(
        (effect.padding_px(resolve(effect, entry)) for effect, entry in found if effect is not None), default=0.0
    )
    return min(PADDING_EFFECTS_MAX_PX, max(0.0, largest))
