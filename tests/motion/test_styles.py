"""Layer styles as effects (compositing.md 7, effects.md 1.5)."""

from __future__ import annotations

from typing import Any

import pytest

from motion.snapshot import EffectSnapshot
from tests.documents import Json, document, keys, node
from tests.motion.frames import layer

LIGHT = {"width": 400, "height": 300, "globalLightAngle": 30, "globalLightAltitude": 20}
BEVEL = {
    "size": 10, "depth": 100, "direction": "up", "angle": 135, "altitude": 45, "highlightColor": "#ffffff",
    "highlightOpacity": 75, "shadowColor": "#000000", "shadowOpacity": 75,
}  # fmt: skip
DEFAULTS: dict[str, tuple[str, Json]] = {
    "dropShadow": ("drop-shadow", {"distance": 8, "angle": 90, "softness": 8, "color": "#000000", "opacity": 50}),
    "innerShadow": ("inner-shadow", {"distance": 6, "angle": 135, "softness": 8, "color": "#000000", "opacity": 55}),
    "outerGlow": ("glow", {"radius": 16, "color": "#78b4ff", "intensity": 90}),
    "innerGlow": ("inner-glow", {"size": 14, "color": "#ffd070", "opacity": 80}),
    "satin": ("satin", {"distance": 14, "angle": 135, "size": 16, "color": "#000000", "opacity": 45, "invert": False}),
    "bevel": ("bevel", BEVEL),
    "colorOverlay": ("fill", {"color": "#ff2d55", "opacity": 100}),
    "gradientOverlay": ("gradient-ramp", {"colorA": "#ffffff", "colorB": "#2b7eff", "angle": 90, "blend": 100}),
    "stroke": ("stroke", {"width": 4, "color": "#ffffff", "opacity": 100}),
}
"""Effect and parameters of each style without fields, in the order in which they are applied."""


def effects(styles: Json, own: tuple[Json, ...] = (), tracks: Json | None = None) -> tuple[EffectSnapshot, ...]:
    stored = {name: {"enabled": True, **style} for name, style in styles.items()}
    made = node("a", fx={"effects": list(own), "layerStyles": stored})
    found = layer(document(made, composition=LIGHT, tracks={"a": tracks or {}}), "a")
    assert found is not None
    return found.effects


def parameters(name: str, **style: Any) -> Json:
    (effect,) = effects({name: style})
    return dict(effect.stored)


def test_styles_follow_the_own_effects_in_their_fixed_order_with_their_defaults() -> None:
    blur = {"id": "own", "type": "blur", "params": {"amount": 3}}
    own, *styles = effects({name: {} for name in reversed(DEFAULTS)}, own=(blur,))
    assert own.type == "blur"
    assert [(style.id, style.type, dict(style.stored)) for style in styles] == [
        (f"layerstyle:{name}", kind, values) for name, (kind, values) in DEFAULTS.items()
    ]


@pytest.mark.parametrize(
    ("name", "style"),
    [
        ("dropShadow", {"enabled": False}),
        ("dropShadow", {"enabled": 1}),
        ("dropShadow", {"distance": 0, "blur": 0}),
        ("innerShadow", {"distance": 0, "size": 0}),
        ("outerGlow", {"size": 0}),
        ("innerGlow", {"size": 0}),
        ("satin", {"opacity": 0}),
        ("satin", {"size": 0, "distance": 0}),
        ("bevel", {"depth": 0}),
        ("bevel", {"size": 0}),
        ("colorOverlay", {"opacity": 0}),
        ("gradientOverlay", {"opacity": 0}),
        ("stroke", {"size": 0}),
        ("stroke", {"opacity": 0}),
    ],
)
def test_a_style_that_draws_nothing_is_left_out_unless_it_has_a_track(name: str, style: Json) -> None:
    assert effects({name: style}) == ()
    if "enabled" not in style:
        path = f"effect.layerstyle:{name}.opacity"
        assert [effect.type for effect in effects({name: style}, tracks={path: keys((0, 50))})] == [DEFAULTS[name][0]]


@pytest.mark.parametrize(
    ("name", "style"), [("dropShadow", {"distance": 0}), ("dropShadow", {"blur": 0}), ("satin", {"size": 0})]
)
def test_a_shadow_needs_a_distance_or_a_size(name: str, style: Json) -> None:
    assert len(effects({name: style})) == 1


def test_the_light_of_the_composition_turns_styles_that_are_bound_to_it() -> None:
    for name in ("dropShadow", "innerShadow", "gradientOverlay", "bevel"):
        assert parameters(name, angle=77, useGlobalLight=True)["angle"] == 30
        assert parameters(name, angle=77)["angle"] == 77
    assert parameters("bevel", altitude=66, useGlobalLight=True)["altitude"] == 20
    assert parameters("bevel", altitude=66)["altitude"] == 66
    assert parameters("satin", angle=77, useGlobalLight=True)["angle"] == 77


def test_negative_lengths_are_none_and_opacities_whole_percent() -> None:
    shadow = parameters("dropShadow", distance=-3, blur=5, opacity=0.256)
    assert (shadow["distance"], shadow["softness"], shadow["opacity"]) == (0, 5, 26)
    assert parameters("innerShadow", distance=3, size=-5)["softness"] == 0
    assert parameters("bevel", size=0.25)["size"] == 1
