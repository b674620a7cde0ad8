"""Choice of the layers that are drawn analytically, without a raster (format/layers.md 5)."""

from __future__ import annotations

from gpu_renderer.display_list.gradients import gradient_of
from motion.snapshot import LayerSnapshot, LinearGradient, RadialGradient, ShapeSource, SolidPaint


def is_analytic(layer: LayerSnapshot, *, is_shaded: bool = False) -> bool:
    """Return True if an unbaked layer is a plain rectangle or ellipse of one fill, drawn without a raster.

    A gradient under effects needs a raster, because effects amplify its 8-bit dither. A gradient multiplied by a shade
    needs one too, because that rule belongs to textures.
    """
    source = layer.source
    return (
        isinstance(source, ShapeSource)
        and source.primitive != "path"
        and len(source.fills) == 1
        and (
            isinstance(source.fills[0], SolidPaint) or (not is_shaded and _is_computed(layer, source, source.fills[0]))
        )
        and len(set(source.radii)) == 1
        and not (layer.masks or source.brush_strokes or layer.mesh)
        and not any(stroke.width > 0 for stroke in source.strokes)
    )


def _is_computed(layer: LayerSnapshot, source: ShapeSource, fill: LinearGradient | RadialGradient) -> bool:
    return not layer.effects and gradient_of(fill, source.width, source.height) is not None
