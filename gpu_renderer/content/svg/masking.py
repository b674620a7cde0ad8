"""Masks of elements: one or several layers, by luminance or alpha (CSS Masking 1)."""

from __future__ import annotations

from itertools import cycle
from typing import Final, NamedTuple

import skia

from gpu_renderer.content.svg.budget import LAYER_WORK, MASK_WORK
from gpu_renderer.content.svg.document import Element
from gpu_renderer.content.svg.filters import filter_region
from gpu_renderer.content.svg.scene import ElementState, SvgScene
from gpu_renderer.content.svg.values import Style, box_matrix, comma_separated

_OPERATORS: Final = {
    "add": skia.BlendMode.kSrcOver,
    "subtract": skia.BlendMode.kSrcOut,
    "intersect": skia.BlendMode.kSrcIn,
    "exclude": skia.BlendMode.kXor,
}
"""Blend mode of a mask layer over the layers below it, by CSS keyword (CSS Masking 1, 7.9)."""


class Mask(NamedTuple):
    """A layer of an element's mask. `kind`: `alpha` or `luminance`, or None if the masked element states neither."""

    element: Element
    kind: str | None
    operator: skia.BlendMode


def masks_of(scene: SvgScene, style: Style) -> list[Mask]:
    """Return the layers of an element's mask, topmost first. Other kinds of mask give a warning."""
    found: list[Mask] = []
    if "mask" not in style:
        return found
    modes, composites = (cycle(style.get(name, "").split(",")) for name in ("mask-mode", "mask-composite"))
    for layer, mode, composite in zip(comma_separated(style["mask"]), modes, composites, strict=False):
        words = f"{layer} {mode} {composite}".split()
        kinds = [word for word in words if word in ("alpha", "luminance")]
        operators = [word for word in words if word in _OPERATORS]
        if (element := scene.document.referred(layer)) is not None:
            found.append(Mask(element, [None, *kinds][-1], _OPERATORS[["add", *operators][-1]]))
        elif "(" in layer and "url(" not in layer:
            scene.warn(f"The mask {layer.strip()[:60]!r} of an SVG document is not drawn.")
    return found


def draw_masks(scene: SvgScene, masks: list[Mask], canvas: skia.Canvas, state: ElementState, bounds: skia.Rect) -> None:
    """Multiply the open layer by the coverage of the masks. `bounds`: box of the masked element."""
    if len(masks) == 1:
        _draw_mask(scene, masks[0], skia.BlendMode.kDstIn, canvas, state, bounds)
        return
    scene.budget.spend_layer(canvas, LAYER_WORK)
    canvas.saveLayer(None, skia.Paint(BlendMode=skia.BlendMode.kDstIn))
    *upper, lowest = masks
    _draw_mask(scene, lowest, skia.BlendMode.kSrcOver, canvas, state, bounds)
    for mask in reversed(upper):
        _draw_mask(scene, mask, mask.operator, canvas, state, bounds)
    canvas.restore()


def _draw_mask(
    scene: SvgScene, mask: Mask, mode: skia.BlendMode, canvas: skia.Canvas, state: ElementState, bounds: skia.Rect
) -> None:
    style = scene.cascade.in_place(mask.element)
    scene.budget.spend_layer(canvas, MASK_WORK)
    canvas.saveLayer(None, skia.Paint(BlendMode=mode, ColorFilter=_coverage_filter(style, mask.kind)))
    canvas.clipRect(filter_region(mask.element, bounds, state.viewport))
    if mask.element.get("maskContentUnits") == "objectBoundingBox":
        canvas.concat(box_matrix(bounds))
    scene.draw_children(mask.element, canvas, state.inside(style))
    canvas.restore()


def _coverage_filter(style: Style, kind: str | None) -> skia.ColorFilter | None:
    """Return the filter from a mask's colours to coverage, or None if its alpha is the coverage.

    `kind`: the kind that the masked element states. It overrides the mask's own.
    """
    if (kind or style.get("mask-type")) == "alpha":
        return None
    luminance = skia.LumaColorFilter.Make()
    is_linear = style.get("color-interpolation") == "linearRGB"
    return luminance.makeComposed(skia.ColorFilters.SRGBToLinearGamma()) if is_linear else luminance
