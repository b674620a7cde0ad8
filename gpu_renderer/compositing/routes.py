"""Which way a layer is drawn: analytic or raster, and at what resolution (format/layers.md 5, compositing.md 2.6)."""

from __future__ import annotations

from gpu_renderer.compositing.gradients import gradient_of
from motion.snapshot import LayerSnapshot, LinearGradient, RadialGradient, ShapeSource, SolidPaint

TIERS = (0.5, 1.0, 2.0, 4.0)
CONTINUOUS_TIERS = (*TIERS, 8.0, 16.0, 32.0, 64.0)
SIDE_PX_MAX = 4096.0
CONTINUOUS_AREA_PX_MAX = 16_777_216.0


def is_analytic(layer: LayerSnapshot) -> bool:
    """Whether an unbaked layer is a plain rectangle or ellipse of one fill, drawn without a raster.

    Gradients that feed effects are rasters, because effects amplify the dither of their 8 bits.
    """
    source = layer.source
    return (
        isinstance(source, ShapeSource)
        and source.primitive != "path"
        and len(source.fills) == 1
        and (isinstance(source.fills[0], SolidPaint) or _is_computed(layer, source, source.fills[0]))
        and len(set(source.radii)) == 1
        and not (layer.masks or source.brush_strokes or layer.mesh)
        and not any(stroke.width > 0 for stroke in source.strokes)
    )


def _is_computed(layer: LayerSnapshot, source: ShapeSource, fill: LinearGradient | RadialGradient) -> bool:
    return not layer.effects and gradient_of(fill, source.width, source.height) is not None


def tier(requested: float, *, continuous: bool = False, width: float = 1.0, height: float = 1.0) -> float:
    """The smallest rung of the ladder that holds the requested scale, else the highest."""
    ladder = CONTINUOUS_TIERS if continuous else TIERS
    allowed = [rung for rung in ladder if rung <= 4 or width * height * rung * rung <= CONTINUOUS_AREA_PX_MAX]
    return next((rung for rung in allowed if rung >= requested), allowed[-1])


def supersample(rung: float, longest_px: float) -> float:
    """Raster px per layer px of an unbaked layer: twice the tier, less where a side would grow too long."""
    doubled = 2 * rung
    if longest_px * doubled > SIDE_PX_MAX:
        return max(rung, min(doubled, SIDE_PX_MAX / longest_px))
    return doubled
