"""Lighting primitives of SVG filters as Skia image filters (Filter Effects 9.11 to 9.15, with the limits of browsers)."""

from __future__ import annotations

import math
from typing import NamedTuple

import skia

from gpu_renderer.content.svg.document import Element, children, name_of
from gpu_renderer.content.svg.values import length

_SHININESS_MIN, _SHININESS_MAX = 1.0, 128.0
_CONE_MAX = 90.0


class Surface(NamedTuple):
    """A lit surface: the alpha of `source` is its height. `box`: rectangle that positions are fractions of, if any."""

    source: skia.ImageFilter | None
    primitive: Element
    color: int
    box: skia.Rect | None


def lighting(surface: Surface) -> skia.ImageFilter | None:
    """Return the light that a surface reflects, or None without a light source."""
    light = next((child for child in children(surface.primitive) if name_of(child) in _LIGHTS), None)
    if light is None:
        return None
    is_specular = name_of(surface.primitive) == "feSpecularLighting"
    kind, arguments = _LIGHTS[name_of(light)](light, surface.box)
    make = getattr(skia.ImageFilters, f"{kind}{'Specular' if is_specular else 'Diffuse'}")
    height = _number(surface.primitive, "surfaceScale", 1.0)
    constant = max(0.0, _number(surface.primitive, "specularConstant" if is_specular else "diffuseConstant", 1.0))
    shininess = [_shininess(surface.primitive)] if is_specular else []
    made: skia.ImageFilter = make(*arguments, surface.color, height, constant, *shininess, surface.source)
    return made


def _distant(light: Element, box: skia.Rect | None) -> tuple[str, list[object]]:
    azimuth, elevation = (math.radians(_number(light, name)) for name in ("azimuth", "elevation"))
    across = math.cos(elevation)
    direction = skia.Point3(math.cos(azimuth) * across, math.sin(azimuth) * across, math.sin(elevation))
    return "DistantLit", [direction]


def _point(light: Element, box: skia.Rect | None) -> tuple[str, list[object]]:
    return "PointLit", [_position(light, ("x", "y", "z"), box)]


def _spotlight(light: Element, box: skia.Rect | None) -> tuple[str, list[object]]:
    target = _position(light, ("pointsAtX", "pointsAtY", "pointsAtZ"), box)
    cone = abs(_number(light, "limitingConeAngle"))
    cone = cone if 0 < cone <= _CONE_MAX else _CONE_MAX
    return "SpotLit", [_position(light, ("x", "y", "z"), box), target, _shininess(light), cone]


_LIGHTS = {"feDistantLight": _distant, "fePointLight": _point, "feSpotLight": _spotlight}


def _shininess(element: Element) -> float:
    return min(_SHININESS_MAX, max(_SHININESS_MIN, _number(element, "specularExponent", 1.0)))


def _position(light: Element, names: tuple[str, str, str], box: skia.Rect | None) -> skia.Point3:
    """Return a position in user units."""
    x, y, z = (_number(light, name) for name in names)
    if box is None:
        return skia.Point3(x, y, z)
    diagonal = math.hypot(box.width(), box.height()) / math.sqrt(2)
    return skia.Point3(box.x() + x * box.width(), box.y() + y * box.height(), z * diagonal)


def _number(element: Element, name: str, default: float = 0.0) -> float:
    return length(element.get(name), 1.0, default)
