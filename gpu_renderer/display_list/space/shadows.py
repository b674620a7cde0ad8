"""Cast shadows as in the reference: an effect on flat layers, a dark copy for 3D layers (three-d.md 6.4)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from gpu_renderer.display_list.space import projection
from gpu_renderer.display_list.space.projection import Eye
from gpu_renderer.geometry import color
from motion.snapshot import (
    AdjustmentSource,
    CompositionSource,
    EffectSnapshot,
    LayerSnapshot,
    Light,
    LightWash,
    MissingSource,
    ParticleSource,
    ShapeSource,
    Snapshot,
    SolidPaint,
    TextSource,
    Transform2D,
    Transform3D,
)

_UNSHADED = (AdjustmentSource, CompositionSource, LightWash, MissingSource, ParticleSource)
RATIO_MAX = 8.0


def with_cast_shadows(snapshot: Snapshot, eye: Eye) -> list[LayerSnapshot]:
    """Return the paint list with the shadows of the first casting light.

    Copies come after all layers and hide nothing.
    """
    light = next((light for light in snapshot.lights if light.casts_shadows and light.light != "ambient"), None)
    if light is None:
        return list(snapshot.layers)
    layers = [_shadowed(layer, light) for layer in snapshot.layers]
    copies = [_copy(layer, snapshot.layers, light, eye) for layer in snapshot.layers if layer.visible]
    return layers + [copy for copy in copies if copy is not None]


def _strength(light: Light) -> float:
    return min(max(light.intensity * light.shadow_darkness, 0.0), 1.0)


def _shadowed(layer: LayerSnapshot, light: Light) -> LayerSnapshot:
    is_solid = isinstance(layer.source, ShapeSource) and layer.source.is_solid
    if not isinstance(layer.transform, Transform2D) or is_solid or isinstance(layer.source, _UNSHADED):
        return layer
    if not layer.casts_shadows:
        return layer
    s = _strength(light)
    dx, dy = layer.transform.x - light.position[0], layer.transform.y - light.position[1]
    angle = 90.0 if math.hypot(dx, dy) < 1 else math.degrees(math.atan2(dy, dx))
    shadow = EffectSnapshot(
        "cast-shadow",
        "drop-shadow",
        (
            ("distance", 6 + 10 * s),
            ("angle", angle),
            ("softness", float(math.floor(6 + 8 * s + light.shadow_diffusion + 0.5))),
            ("color", "#000000"),
            ("opacity", 45 * s),
        ),
    )
    return replace(layer, effects=(*layer.effects, shadow))


def _copy(layer: LayerSnapshot, layers: Iterable[LayerSnapshot], light: Light, eye: Eye) -> LayerSnapshot | None:
    transform = layer.transform
    if not isinstance(transform, Transform3D) or not layer.casts_shadows:
        return None
    z = transform.matrix[11]
    receivers = [other.transform.matrix[11] for other in layers if _receives(other, z)]  # type: ignore[union-attr]
    x, y, light_z = light.position
    if not receivers or abs(z - light_z) < 1 or projection.depth(transform, eye) < projection.DEPTH_MIN:
        return None
    gap = min(receivers) - z
    ratio = (z + gap - light_z) / (z - light_z)
    if ratio <= 0 or ratio > RATIO_MAX:
        return None
    return _cast(layer, transform, (x, y), ratio, gap, light, eye)


def _receives(layer: LayerSnapshot, z: float) -> bool:
    transform = layer.transform
    return isinstance(transform, Transform3D) and transform.material.accepts_shadows and transform.matrix[11] > z + 1


def _cast(
    layer: LayerSnapshot,
    transform: Transform3D,
    light_at: tuple[float, float],
    ratio: float,
    gap: float,
    light: Light,
    eye: Eye,
) -> LayerSnapshot:
    """Return the caster as a flat dark layer in its own blend mode: moved off the light, enlarged, blurred."""
    a, b, x, c, d, y = projection.affine(replace(transform, anchor_x=0.0, anchor_y=0.0), eye)[:6]
    turn = math.degrees(math.atan2(c, a))
    scale_x = math.hypot(a, c)
    placed = Transform2D(
        light_at[0] + (x - light_at[0]) * ratio,
        light_at[1] + (y - light_at[1]) * ratio,
        turn,
        scale_x * ratio,
        (a * d - b * c) / max(scale_x, 1e-9) * ratio,
        anchor_x=transform.anchor_x,
        anchor_y=transform.anchor_y,
    )
    shade = _shade(layer, transform.material.light_transmission)
    dark = EffectSnapshot("cast-shadow:color", "fill", (("color", shade), ("opacity", 100.0)))
    blur = EffectSnapshot(
        "cast-shadow:blur", "blur", (("amount", min(200.0, 4 + 0.05 * gap + light.shadow_diffusion)),)
    )
    opacity = layer.opacity * _strength(light) * 0.55 * max(0.25, 1 - gap / 4000)
    return replace(
        layer, id=f"{layer.id}::cast-shadow", transform=placed, opacity=opacity, effects=(dark, blur),
        samples=(), ghosts=(), matte=None, shadow_only=False,
    )  # fmt: skip


def _shade(layer: LayerSnapshot, transmission: float) -> str:
    """Return the colour of a shadow: the share of the layer's colour that it transmits, else black."""
    fills = layer.source.fills if isinstance(layer.source, ShapeSource) else ()
    fill = layer.source.style.fill if isinstance(layer.source, TextSource) else None
    if fills and isinstance(fills[0], SolidPaint):
        fill = fills[0].color
    r, g, b = (math.floor(channel * transmission * 255 + 0.5) for channel in color.parse(fill or "#000000")[:3])
    return f"#{r:02x}{g:02x}{b:02x}"
