"""Lights: their glows, the shading of planes that accept light, and cast shadows (three-d.md 6)."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gpu_renderer.content.raster import Raster
from gpu_renderer.content.vector.paints import dither_ranks
from gpu_renderer.display_list.graph import UNTINTED, Plane, Scene, Tint
from gpu_renderer.display_list.space.camera import DEPTH_MIN, Eye
from gpu_renderer.geometry import color
from gpu_renderer.opengl.programs import UniformValue
from motion.snapshot import (
    AdjustmentSource,
    CompositionSource,
    EffectSnapshot,
    LayerSnapshot,
    Light,
    LightWash,
    Material,
    MissingSource,
    ParticleSource,
    ShapeSource,
    Snapshot,
    SolidPaint,
    TextSource,
    Transform2D,
    Transform3D,
)

WASH_PX = 128
LIGHTS_MAX = 8
GAIN_MAX = 4.0
DIFFUSE_WHOLE = 0.5
"""Value of `diffuse` at which a layer reflects the whole light."""
FAINTEST = 0.001
SHADOW_RATIO_MAX = 8.0
_KINDS = {"point": 0, "ambient": 1, "spot": 2, "parallel": 3}
_FALLOFFS = {"none": 0, "smooth": 1, "inverse-square": 2}
_SHADOWLESS = (AdjustmentSource, LightWash, MissingSource, ParticleSource)
Grid = npt.NDArray[np.float64]


@lru_cache(16)
def wash(source: LightWash) -> Raster:
    """Return the glow of a light: a radial ramp from its colour to transparent black, straight encoded sRGB.

    The reference draws it as a gradient of a canvas, with dither, and multiplies the alpha of a spot's bytes by its cone.
    """
    radius = max(1.0, source.radius)
    axis = (np.arange(WASH_PX) + 0.5) / WASH_PX * 2 - 1
    x, y = np.meshgrid(axis, axis)
    near = np.clip(1 - np.hypot(x, y), 0, 1)[..., None]
    noise = dither_ranks(WASH_PX, on_processor=True)[..., None] / 64 - 63 / 128
    alpha = np.floor(255 * near + 0.5)
    rgb = np.asarray(color.parse(source.color)[:3]) * 255 * near * near
    rgb = np.floor(np.clip(rgb + noise, 0, 255 * near) + 0.5)
    if source.light == "spot":
        straight = np.floor(255 * rgb / np.maximum(alpha, 1) + 0.5)
        alpha = np.floor(alpha * _cone(source, x, y)[..., None] + 0.5)
        rgb = np.floor(np.minimum(straight, 255) * alpha / 255 + 0.5)
    return Raster(np.concatenate([rgb, alpha], axis=2).astype(np.uint8), 2 * radius, 2 * radius)


def _cone(source: LightWash, x: Grid, y: Grid) -> Grid:
    """Return the share of a spot's light in each direction.

    The reference wraps the difference to the aim around a full turn only once. For aims beyond 180 degrees the result
    can be negative, and these directions are fully lit (layers.md 2.3).
    """
    delta = np.abs(np.arctan2(y, x) - math.radians(source.angle))
    delta = np.where(delta > math.pi, 2 * math.pi - delta, delta)
    half, feather = _cone_angles(source)
    ramp = (half - delta) / max(feather, 1e-6)
    return np.where(delta > half, 0.0, np.clip(ramp, 0, 1) if feather > 0 else 1.0)


def _cone_angles(light: Light | LightWash) -> tuple[float, float]:
    """Return half the angle of a spot's cone, and the angle of its soft edge, radians."""
    half = max(math.radians(light.cone) / 2, 1e-3)
    return half, half * light.cone_feather


def uniforms(plane: Plane, width: float, height: float, scene: Scene) -> dict[str, UniformValue]:
    """Return the uniforms of shaders/include/lights.glsl for a centred quad of width x height layer px."""
    m, left, top = plane.world, -width / 2, -height / 2
    across, down, normal = ((m[i], m[4 + i], m[8 + i]) for i in range(3))
    material = plane.material
    return {
        "u_origin": tuple(m[4 * row] * left + m[4 * row + 1] * top + m[4 * row + 3] for row in range(3)),
        "u_across": tuple(component * width for component in across),
        "u_down": tuple(component * height for component in down),
        "u_normal": _unit(normal),
        "u_eye": scene.eye,
        "u_material": (material.specular, max(1.0, material.shininess), material.metal, float(plane.is_one_sided)),
        **_arrays(scene),
    }


def defines(plane: Plane, scene: Scene) -> dict[str, object]:
    """Return the defines of shaders/include/lights.glsl: the kinds of all lights, and whether the plane reflects them."""
    lights = _shading(scene)
    calls = [f"LIGHT({index}, {_KINDS[light.light]}, {_falloff(light)})" for index, light in enumerate(lights)]
    found: dict[str, object] = {"LIT": max(1, len(lights)), "LIGHTS": " ".join(calls)}
    return found | {"SPECULAR": 1} if plane.material.specular > 0 else found


def _shading(scene: Scene) -> list[Light]:
    """Return the lights that are evaluated per fragment."""
    return [light for light in scene.lights if light.intensity > 0][:LIGHTS_MAX]


def _falloff(light: Light) -> int:
    """Return the number of a light's falloff, 0 for lights without a limit."""
    return _FALLOFFS.get(light.falloff, 0) if light.light in ("point", "spot") else 0


def _arrays(scene: Scene) -> dict[str, UniformValue]:
    """Return the uniform arrays of the lights."""
    colors, places, aims, shapes = b"", b"", b"", b""
    for light in _shading(scene):
        linear = scene.linear(color.parse(light.color))
        colors += struct.pack("3f", *(channel * light.intensity for channel in linear[:3]))
        places += struct.pack("3f", *light.position)
        aims += struct.pack("3f", *_unit(light.direction))
        shapes += struct.pack("4f", light.radius, light.falloff_distance, *_cone_angles(light))
    return {
        "u_light_colors": colors,
        "u_light_places": places,
        "u_light_aims": aims,
        "u_light_shapes": shapes,
    }


def gain_at_origin(transform: Transform3D, lights: Sequence[Light]) -> Tint:
    """Return the light on a plane without perspective, as one factor of its encoded colours (three-d.md 6.2).

    The factor is the sum of all lights. LIGHTS_MAX limits only the lights per fragment.
    """
    material, m = transform.material, transform.matrix
    if not (material.accepts_lights and lights):
        return UNTINTED
    origin, normal = transform.lit_at or (m[3], m[7], m[11]), _unit((m[2], m[6], m[10]))
    total = [0.0, 0.0, 0.0]
    for light in lights:
        if light.intensity <= 0:
            continue
        strength = light.intensity * _strength_at(light, origin, normal, material)
        for channel, value in enumerate(color.parse(light.color)[:3]):
            total[channel] += value * strength
    r, g, b = (min(GAIN_MAX, max(0.0, value)) for value in total)
    return r, g, b


def _strength_at(light: Light, origin: Sequence[float], normal: Sequence[float], material: Material) -> float:
    """Return the share of a light's intensity that reaches a plane at a point, as in shaders/include/lights.glsl."""
    diffuse = material.diffuse / DIFFUSE_WHOLE
    if light.light == "ambient":
        return material.ambient
    if light.light == "parallel":
        return diffuse * abs(_dot(normal, light.direction))
    to_light = [there - here for there, here in zip(light.position, origin, strict=True)]
    distance = math.hypot(*to_light)
    strength = _attenuation(light, distance)
    if light.light == "spot" and distance > 0:
        cosine = _dot(_unit(light.direction), to_light) / -distance
        angle, (half, feather) = math.acos(min(1.0, max(-1.0, cosine))), _cone_angles(light)
        strength *= min(1.0, max(0.0, (half - angle) / feather)) if feather > 0 else float(angle <= half)
    if strength <= FAINTEST:
        return 0.0
    return diffuse * strength * (abs(_dot(normal, to_light)) / distance if distance > 0 else 1.0)


def _attenuation(light: Light, distance: float) -> float:
    radius = max(1.0, light.radius)
    match light.falloff:
        case "smooth":
            return 1.0 if distance <= radius else max(0.0, 1 - (distance - radius) / light.falloff_distance)
        case "inverse-square":
            return 1.0 if distance <= radius else (radius / distance) ** 2
    return 1.0 if light.radius <= 0 else max(0.0, 1 - distance / light.radius)


def _dot(v: Sequence[float], w: Sequence[float]) -> float:
    return v[0] * w[0] + v[1] * w[1] + v[2] * w[2]


def _unit(v: Sequence[float]) -> tuple[float, ...]:
    length = math.hypot(*v)
    return tuple(component / length for component in v) if length > 0 else (0.0, 0.0, 1.0)


def with_cast_shadows(snapshot: Snapshot, eye: Eye) -> list[LayerSnapshot]:
    """Return the paint list with the shadows of the first light that casts any (three-d.md 6.4): effects, and copies on top."""
    light = next((light for light in snapshot.lights if light.casts_shadows and light.light != "ambient"), None)
    if light is None:
        return list(snapshot.layers)
    layers = [_shadowed(layer, light) for layer in snapshot.layers]
    copies = [_copy(layer, snapshot.layers, light, eye) for layer in snapshot.layers if layer.visible]
    return layers + [copy for copy in copies if copy is not None]


def _strength(light: Light) -> float:
    return min(max(light.intensity * light.shadow_darkness, 0.0), 1.0)


def _shadowed(layer: LayerSnapshot, light: Light) -> LayerSnapshot:
    """Return a flat layer with its shadow as an effect. A precomp group leaves the shadows to its layers."""
    is_shadowless = isinstance(layer.source, ShapeSource) and layer.source.is_solid
    is_shadowless = is_shadowless or (isinstance(layer.source, CompositionSource) and not layer.source.sealed)
    is_shadowless = is_shadowless or isinstance(layer.source, _SHADOWLESS) or not layer.casts_shadows
    if is_shadowless or not isinstance(layer.transform, Transform2D):
        return layer
    s = _strength(light)
    dx, dy = layer.transform.x - light.position[0], layer.transform.y - light.position[1]
    angle = 90.0 if math.hypot(dx, dy) < 1 else math.degrees(math.atan2(dy, dx))
    softness = float(math.floor(6 + 8 * s + light.shadow_diffusion + 0.5))
    stored = (
        ("distance", 6 + 10 * s), ("angle", angle), ("softness", softness), ("color", "#000000"), ("opacity", 45 * s),
    )  # fmt: skip
    return replace(layer, effects=(*layer.effects, EffectSnapshot("cast-shadow", "drop-shadow", stored)))


def _copy(layer: LayerSnapshot, layers: Iterable[LayerSnapshot], light: Light, eye: Eye) -> LayerSnapshot | None:
    """Return the caster as a flat dark layer in its own blend mode: moved away from the light, enlarged, blurred."""
    transform = layer.transform
    if not isinstance(transform, Transform3D) or not layer.casts_shadows:
        return None
    z = transform.matrix[11]
    places = [other.transform for other in layers if isinstance(other.transform, Transform3D)]
    receivers = [at.matrix[11] for at in places if at.material.accepts_shadows and at.matrix[11] > z + 1]
    if not receivers or abs(z - light.position[2]) < 1 or eye.depth(transform) < DEPTH_MIN:
        return None
    gap = min(receivers) - z
    ratio = (z + gap - light.position[2]) / (z - light.position[2])
    if ratio <= 0 or ratio > SHADOW_RATIO_MAX:
        return None
    shade = _shade(layer, transform.material.light_transmission)
    dark = EffectSnapshot("cast-shadow:color", "fill", (("color", shade), ("opacity", 100.0)))
    blur_px = min(200.0, 4 + 0.05 * gap + light.shadow_diffusion)
    return replace(
        layer, id=f"{layer.id}::cast-shadow", transform=_cast(transform, light, ratio, eye),
        opacity=layer.opacity * _strength(light) * 0.55 * max(0.25, 1 - gap / 4000),
        effects=(dark, EffectSnapshot("cast-shadow:blur", "blur", (("amount", blur_px),))),
        samples=(), ghosts=(), matte=None, shadow_only=False,
    )  # fmt: skip


def _cast(transform: Transform3D, light: Light, ratio: float, eye: Eye) -> Transform2D:
    a, b, x, c, d, y = eye.affine(replace(transform, anchor_x=0.0, anchor_y=0.0))[:6]
    (from_x, from_y, _), scale_x = light.position, math.hypot(a, c)
    return Transform2D(
        from_x + (x - from_x) * ratio, from_y + (y - from_y) * ratio, math.degrees(math.atan2(c, a)),
        scale_x * ratio, (a * d - b * c) / max(scale_x, 1e-9) * ratio,
        anchor_x=transform.anchor_x, anchor_y=transform.anchor_y,
    )  # fmt: skip


def _shade(layer: LayerSnapshot, transmission: float) -> str:
    """Return the colour of a shadow: the share of the layer's colour that it transmits, else black."""
    fills = layer.source.fills if isinstance(layer.source, ShapeSource) else ()
    fill = layer.source.style.fill if isinstance(layer.source, TextSource) else None
    if fills and isinstance(fills[0], SolidPaint):
        fill = fills[0].color
    r, g, b = (math.floor(channel * transmission * 255 + 0.5) for channel in color.parse(fill or "#000000")[:3])
    return f"#{r:02x}{g:02x}{b:02x}"
