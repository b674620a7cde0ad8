"""Masks: what is drawn is kept where the mask's luminance (or alpha) leaves it."""

from __future__ import annotations

from typing import Any

import skia

from gpu_renderer.content.svg.budget import spend_layer
from gpu_renderer.content.svg.cascade import Style
from gpu_renderer.content.svg.document import Element
from gpu_renderer.content.svg.frame import Frame, Scene
from gpu_renderer.content.svg.regions import filter_region
from gpu_renderer.content.svg.servers import box_matrix


def draw_mask(scene: Scene, mask: Element, canvas: Any, frame: Frame, bounds: Any) -> None:
    """Take from the layer that is open what the mask does not leave. `bounds`: the box of the masked element."""
    style = scene.cascade.in_place(mask)
    spend_layer(scene.budget, canvas)
    canvas.saveLayer(None, skia.Paint(BlendMode=skia.BlendMode.kDstIn, ColorFilter=_kept(style)))
    canvas.clipRect(filter_region(mask, bounds, frame.viewport))
    if mask.get("maskContentUnits") == "objectBoundingBox":
        canvas.concat(box_matrix(bounds))
    scene.draw_children(mask, canvas, frame.inside(style))
    canvas.restore()


def _kept(style: Style) -> Any:
    """Return the filter from the mask's colours to coverage, or None if its alpha is the coverage."""
    if style.get("mask-type") == "alpha":
        return None
    luminance = skia.LumaColorFilter.Make()
    is_linear = style.get("color-interpolation") == "linearRGB"
    return luminance.makeComposed(skia.ColorFilters.SRGBToLinearGamma()) if is_linear else luminance
