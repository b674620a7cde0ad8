"""Which layers are drawn analytically, without a raster (format/layers.md 5)."""

from __future__ import annotations

from gpu_renderer.display_list.gradients import gradient_of
from motion.snapshot import LayerSnapshot, LinearGradient, RadialGradient, ShapeSource, SolidPaint


def is_analytic(layer: LayerSnapshot, *, is_shaded: bool = False) -> bool:
    """Whether an unbaked layer is a plain rectangle or ellipse of one fill, drawn without a raster.

    Gradients that feed effects are rasters, because effects amplify the dither of their 8 bits; so are those that a shade
    multiplies, which is a rule of textures.
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
