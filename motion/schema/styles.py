"""Layer styles compiled to effects, and the glass style (compositing.md 7 and 8, effects.md 1.5)."""

from __future__ import annotations

from collections.abc import Callable

from motion.model.layer import Effect
from motion.model.settings import CompositionSettings
from motion.schema.nodes import Node
from motion.schema.parameters import percent, tracks_of
from motion.snapshot import STYLE_PREFIX, EffectSnapshot, Glass, ParameterValue
from motion.stored import Record, flag, number, record, text

Parameters = tuple[tuple[str, ParameterValue], ...]
Style = tuple[str, Callable[[Record, CompositionSettings], Parameters], Callable[[Record], bool]]


def style_effects(node: Node, paths: tuple[str, ...], settings: CompositionSettings) -> tuple[Effect, ...]:
    """Return the enabled layer styles as effects, in a fixed order. Styles that draw nothing are left out unless animated."""
    found = []
    for name, (effect_type, compiled, draws) in STYLES.items():
        stored = record(record(node.fx, "layerStyles"), name)
        if stored.get("enabled") is not True:
            continue
        effect_id = f"{STYLE_PREFIX}{name}"
        tracks = tracks_of(effect_id, paths)
        if tracks or draws(stored):
            found.append(Effect(EffectSnapshot(effect_id, effect_type, compiled(stored, settings)), tracks))
    return tuple(found)


def unknown_styles(node: Node) -> list[str]:
    """Return the names of enabled layer styles that the format does not have."""
    stored = record(node.fx, "layerStyles")
    return [
        name
        for name in stored
        if name not in STYLES and name != "glass" and record(stored, name).get("enabled") is True
    ]


def glass(node: Node, settings: CompositionSettings) -> Glass | None:
    """Return the glass style with its defaults, None if it is disabled."""
    stored = record(record(node.fx, "layerStyles"), "glass")
    if stored.get("enabled") is not True:
        return None
    bound = flag(stored, "useGlobalLight", True)
    return Glass(
        blur=max(0.0, number(stored, "blur", 28.0)),
        saturation=max(0.0, number(stored, "saturation", 1.9)),
        tint_color=text(stored, "tintColor", "#ffffff"),
        tint_opacity=number(stored, "tintOpacity", 0.1),
        refraction=number(stored, "refraction", 34.0),
        edge_width=max(0.0, number(stored, "edgeWidth", 3.5)),
        chromatic_aberration=number(stored, "chromaticAberration", 10.0),
        rim_color=text(stored, "rimColor", "#ffffff"),
        rim_opacity=number(stored, "rimOpacity", 0.42),
        rim_width=max(0.0, number(stored, "rimWidth", 7.0)),
        rim_angle=settings.global_light_angle if bound else number(stored, "rimAngle", 315.0),
        specular_angle=settings.global_light_angle if bound else number(stored, "specularAngle", 315.0),
        specular_intensity=max(0.0, number(stored, "specularIntensity", 0.38)),
        specular_falloff=max(0.1, number(stored, "specularFalloff", 10.0)),
        grain=number(stored, "grain", 0.04),
    )


def _angle(stored: Record, settings: CompositionSettings, default: float) -> float:
    if stored.get("useGlobalLight") is True:
        return settings.global_light_angle
    return number(stored, "angle", default)


def _positive(stored: Record, key: str, default: float) -> float:
    return max(0.0, number(stored, key, default))


def _drop_shadow(stored: Record, settings: CompositionSettings) -> Parameters:
    return (
        ("distance", _positive(stored, "distance", 8.0)),
        ("angle", _angle(stored, settings, 90.0)),
        ("softness", _positive(stored, "blur", 8.0)),
        ("color", text(stored, "color", "#000000")),
        ("opacity", percent(stored, "opacity", 0.5)),
    )


def _inner_shadow(stored: Record, settings: CompositionSettings) -> Parameters:
    return (
        ("distance", _positive(stored, "distance", 6.0)),
        ("angle", _angle(stored, settings, 135.0)),
        ("softness", _positive(stored, "size", 8.0)),
        ("color", text(stored, "color", "#000000")),
        ("opacity", percent(stored, "opacity", 0.55)),
    )


def _outer_glow(stored: Record, settings: CompositionSettings) -> Parameters:
    return (
        ("radius", _positive(stored, "size", 16.0)),
        ("color", text(stored, "color", "#78b4ff")),
        ("intensity", percent(stored, "opacity", 0.9)),
    )


def _inner_glow(stored: Record, settings: CompositionSettings) -> Parameters:
    return (
        ("size", _positive(stored, "size", 14.0)),
        ("color", text(stored, "color", "#ffd070")),
        ("opacity", percent(stored, "opacity", 0.8)),
    )


def _satin(stored: Record, settings: CompositionSettings) -> Parameters:
    return (
        ("distance", _positive(stored, "distance", 14.0)),
        ("angle", number(stored, "angle", 135.0)),
        ("size", _positive(stored, "size", 16.0)),
        ("color", text(stored, "color", "#000000")),
        ("opacity", percent(stored, "opacity", 0.45)),
        ("invert", flag(stored, "invert")),
    )


def _bevel(stored: Record, settings: CompositionSettings) -> Parameters:
    bound = stored.get("useGlobalLight") is True
    return (
        ("size", max(1.0, number(stored, "size", 10.0))),
        ("depth", number(stored, "depth", 100.0)),
        ("direction", text(stored, "direction", "up")),
        ("angle", _angle(stored, settings, 135.0)),
        ("altitude", settings.global_light_altitude if bound else number(stored, "altitude", 45.0)),
        ("highlightColor", text(stored, "highlightColor", "#ffffff")),
        ("highlightOpacity", percent(stored, "highlightOpacity", 0.75)),
        ("shadowColor", text(stored, "shadowColor", "#000000")),
        ("shadowOpacity", percent(stored, "shadowOpacity", 0.75)),
    )


def _color_overlay(stored: Record, settings: CompositionSettings) -> Parameters:
    return (("color", text(stored, "color", "#ff2d55")), ("opacity", percent(stored, "opacity", 1.0)))


def _gradient_overlay(stored: Record, settings: CompositionSettings) -> Parameters:
    return (
        ("colorA", text(stored, "from", "#ffffff")),
        ("colorB", text(stored, "to", "#2b7eff")),
        ("angle", _angle(stored, settings, 90.0)),
        ("blend", percent(stored, "opacity", 1.0)),
    )


def _stroke(stored: Record, settings: CompositionSettings) -> Parameters:
    return (
        ("width", _positive(stored, "size", 4.0)),
        ("color", text(stored, "color", "#ffffff")),
        ("opacity", percent(stored, "opacity", 1.0)),
    )


def _casts(size: str, size_default: float, distance_default: float) -> Callable[[Record], bool]:
    return lambda stored: number(stored, size, size_default) > 0 or number(stored, "distance", distance_default) > 0


STYLES: dict[str, Style] = {
    "dropShadow": ("drop-shadow", _drop_shadow, _casts("blur", 8.0, 8.0)),
    "innerShadow": ("inner-shadow", _inner_shadow, _casts("size", 8.0, 6.0)),
    "outerGlow": ("glow", _outer_glow, lambda stored: number(stored, "size", 16.0) > 0),
    "innerGlow": ("inner-glow", _inner_glow, lambda stored: number(stored, "size", 14.0) > 0),
    "satin": (
        "satin",
        _satin,
        lambda stored: number(stored, "opacity", 0.45) > 0 and _casts("size", 16.0, 14.0)(stored),
    ),
    "bevel": (
        "bevel",
        _bevel,
        lambda stored: number(stored, "depth", 100.0) > 0 and number(stored, "size", 10.0) > 0,
    ),
    "colorOverlay": ("fill", _color_overlay, lambda stored: number(stored, "opacity", 1.0) > 0),
    "gradientOverlay": ("gradient-ramp", _gradient_overlay, lambda stored: number(stored, "opacity", 1.0) > 0),
    "stroke": (
        "stroke",
        _stroke,
        lambda stored: number(stored, "size", 4.0) > 0 and number(stored, "opacity", 1.0) > 0,
    ),
}
"""Styles in the order of their application, by name: effect type, parameters, whether the style draws."""
