"""Lights: their glows, and the shading of planes that accept light (format/three-d.md 6)."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gpu_renderer.content.raster import Raster
from gpu_renderer.display_list.graph import UNTINTED, Plane, Scene, Tint
from gpu_renderer.geometry import color
from gpu_renderer.opengl.programs import UniformValue
from motion.snapshot import Light, LightWash, Material, Transform3D

WASH_PX = 128
LIGHTS_MAX = 8
GAIN_MAX = 4.0
DIFFUSE_WHOLE = 0.5
"""Value of `diffuse` at which a layer takes the whole light."""
FAINTEST = 0.001
_KINDS = {"point": 0, "ambient": 1, "spot": 2, "parallel": 3}
_FALLOFFS = {"none": 0, "smooth": 1, "inverse-square": 2}
Grid = npt.NDArray[np.float64]


@lru_cache(16)
def wash(source: LightWash) -> Raster:
    """Return the glow of a light: a radial ramp from its colour to transparent black, straight encoded sRGB."""
    radius = max(1.0, source.radius)
    axis = (np.arange(WASH_PX) + 0.5) / WASH_PX * 2 - 1
    x, y = np.meshgrid(axis, axis)
    near = np.clip(1 - np.hypot(x, y), 0, 1)
    alpha = near * _cone(source, x, y) if source.light == "spot" else near
    rgb = np.asarray(color.parse(source.color)[:3]) * 255
    straight = np.floor(rgb * near[..., None] + 0.5) / 255
    pixels = np.concatenate([straight * alpha[..., None], alpha[..., None]], axis=2)
    return Raster(np.floor(pixels * 255 + 0.5).astype(np.uint8), 2 * radius, 2 * radius)


def _cone(source: LightWash, x: Grid, y: Grid) -> Grid:
    aim = math.radians(source.angle)
    delta = np.abs((np.arctan2(y, x) - aim + math.pi) % (2 * math.pi) - math.pi)
    half = max(math.radians(source.cone) / 2, 1e-3)
    feather = half * source.cone_feather
    ramp = (half - delta) / max(feather, 1e-6)
    return np.where(delta > half, 0.0, np.clip(ramp, 0, 1) if feather > 0 else 1.0)


def uniforms(plane: Plane, unit_to_layer: tuple[float, float, float, float], scene: Scene) -> dict[str, UniformValue]:
    """Return the uniforms of shaders/include/lights.glsl.

    `unit_to_layer`: left, top, width, height of the quad, layer px.
    """
    left, top, width, height = unit_to_layer
    m = plane.world
    across, down, normal = ((m[i], m[4 + i], m[8 + i]) for i in range(3))
    origin = tuple(m[4 * row] * left + m[4 * row + 1] * top + m[4 * row + 3] for row in range(3))
    lights = [light for light in scene.lights if light.intensity > 0][:LIGHTS_MAX]
    material = plane.material
    return {
        "u_origin": origin,
        "u_across": tuple(component * width for component in across),
        "u_down": tuple(component * height for component in down),
        "u_normal": _unit(normal),
        "u_eye": scene.eye,
        "u_material": (material.specular, max(1.0, material.shininess), material.metal, float(plane.is_one_sided)),
        "u_light_count": len(lights),
        **_arrays(lights, scene),
    }


def gain_at_origin(transform: Transform3D, lights: Sequence[Light]) -> Tint:
    """Return the light on a plane without perspective, as one factor of its encoded colours (three-d.md 6.2)."""
    material, m = transform.material, transform.matrix
    if not (material.accepts_lights and lights):
        return UNTINTED
    origin, normal = (m[3], m[7], m[11]), _unit((m[2], m[6], m[10]))
    total = [0.0, 0.0, 0.0]
    for light in [light for light in lights if light.intensity > 0][:LIGHTS_MAX]:
        strength = light.intensity * _strength_at(light, origin, normal, material)
        for channel, value in enumerate(color.parse(light.color)[:3]):
            total[channel] += value * strength
    r, g, b = (min(GAIN_MAX, max(0.0, value)) for value in total)
    return r, g, b


def _strength_at(light: Light, origin: Sequence[float], normal: Sequence[float], material: Material) -> float:
    """Return the share of a light's intensity that reaches a plane at a point.

    shaders/include/lights.glsl does the same.
    """
    diffuse = material.diffuse / DIFFUSE_WHOLE
    if light.light == "ambient":
        return material.ambient
    if light.light == "parallel":
        return diffuse * abs(_dot(normal, light.direction))
    to_light = [there - here for there, here in zip(light.position, origin, strict=True)]
    distance = math.hypot(*to_light)
    strength = _attenuation(light, distance)
    if light.light == "spot" and distance > 0:
        strength *= _within_cone(light, _dot(_unit(light.direction), to_light) / -distance)
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


def _within_cone(light: Light, cosine: float) -> float:
    half = max(math.radians(light.cone) / 2, 1e-3)
    feather, angle = half * light.cone_feather, math.acos(min(1.0, max(-1.0, cosine)))
    if angle > half:
        return 0.0
    return min(1.0, (half - angle) / feather) if feather > 0 else 1.0


def _arrays(lights: Sequence[Light], scene: Scene) -> dict[str, UniformValue]:
    aces = scene.color.working_space == "aces-cg"
    kinds, colors, places, aims, shapes = b"", b"", b"", b"", b""
    for light in [*lights, *[None] * (LIGHTS_MAX - len(lights))]:
        if light is None:
            kinds, colors, places, aims = kinds + bytes(8), colors + bytes(12), places + bytes(12), aims + bytes(12)
            shapes += bytes(16)
            continue
        linear = color.linear(color.parse(light.color), aces_cg=aces)
        half = max(math.radians(light.cone) / 2, 1e-3)
        kinds += struct.pack("2i", _KINDS[light.light], _FALLOFFS.get(light.falloff, 0))
        colors += struct.pack("3f", *(channel * light.intensity for channel in linear[:3]))
        places += struct.pack("3f", *light.position)
        aims += struct.pack("3f", *_unit(light.direction))
        shapes += struct.pack("4f", light.radius, light.falloff_distance, half, half * light.cone_feather)
    return {
        "u_light_kinds": kinds, "u_light_colors": colors, "u_light_places": places, "u_light_aims": aims,
        "u_light_shapes": shapes,
    }  # fmt: skip


def _dot(v: Sequence[float], w: Sequence[float]) -> float:
    return v[0] * w[0] + v[1] * w[1] + v[2] * w[2]


def _unit(v: Sequence[float]) -> tuple[float, ...]:
    length = math.hypot(*v)
    return tuple(component / length for component in v) if length > 0 else (0.0, 0.0, 1.0)
