"""The raster route: which layers are baked, and at which scale (effects.md 2 and 4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gpu_renderer.content.raster import padding_for, raster_tier
from gpu_renderer.effects.registry import Effect, known
from gpu_renderer.effects.values import Route, resolve
from motion.snapshot import (
    AdjustmentSource,
    CompositionSource,
    EffectSnapshot,
    ImageSource,
    LayerSnapshot,
    LightWash,
    MissingSource,
    ParticleSource,
    ShapeSource,
    SvgSource,
    TextSource,
    VideoSource,
)

PADDING_EFFECTS_MAX_PX = 256
SIDE_MAX_PX = 4096
PICTURE_QUALITIES = ((0.28, 0.25), (0.55, 0.5), (1.05, 1.0), (1.55, 1.5), (2.1, 2.0), (3.1, 3.0))
"""Pairs of a largest output scale and the quality at which pictures are baked up to that scale (effects.md 4.1)."""
PICTURE_QUALITY_MAX = 4.0
PICTURE_OVERSAMPLING = 1.5
DEFOCUS_ID = "dof"
"""Id of the blur that depth of field adds to a layer, or to a strip of it."""
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
        return padding_for(self.bleed_px)


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
    return all(effect.keeps_color or not has_raster_form(effect) for effect, _ in known(layer.effects))


def has_raster_form(effect: Effect) -> bool:
    """Return True if the effect is drawn on the canvas of a baked layer."""
    return effect.route in _BAKED_ROUTES


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


def _needs_canvas(effects: Sequence[EffectSnapshot]) -> bool:
    """Return True if an effect has only a raster form, or if a mask limits it."""
    is_limited = any(entry.mask_id for entry in effects)
    return is_limited or any(effect.route is Route.RASTER for effect, _ in known(effects))


def _bleed_px(effects: Sequence[EffectSnapshot]) -> float:
    """Return the distance that effects draw outside the layer's box, layer px, at most PADDING_EFFECTS_MAX_PX."""
    largest = max((effect.padding_px(resolve(effect, entry)) for effect, entry in known(effects)), default=0.0)
    return min(PADDING_EFFECTS_MAX_PX, max(0.0, largest))
