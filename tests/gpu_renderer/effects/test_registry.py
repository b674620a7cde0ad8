"""The registry has every effect of the format and can draw it (effects.md 2 and 7)."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

import shaders
from gpu_renderer.display_list.graph import FIXED_BLENDS, MODES
from gpu_renderer.effects import Effect, Route, every_effect, find
from gpu_renderer.effects.parameters import Kind
from gpu_renderer.effects.passes import EffectChain
from gpu_renderer.effects.registry import CATALOG, read_catalog
from gpu_renderer.effects.stage import MatrixEffect, TableEffect
from gpu_renderer.effects.surface import uniforms_of
from motion import vocabulary

FORMAT = Path(__file__).parents[3] / "docs" / "format" / "effects.md"
EFFECTS = every_effect()
BY_ID = pytest.mark.parametrize("effect", EFFECTS, ids=lambda effect: effect.id)
# Uniforms that passes set in addition to an effect's parameters.
PASS_UNIFORMS = {
    "u_region", "u_source", "u_source_region", "u_frame_size", "u_pixel_size", "u_box", "u_layer_size", "u_mirrored",
    "u_length_scale", "u_canvas_size", "u_is_image",
}  # fmt: skip


@BY_ID
def test_an_effect_is_drawn_in_every_form_of_its_route(effect: Effect) -> None:
    match effect.route:
        case Route.MATRIX:
            assert isinstance(effect, MatrixEffect)
        case Route.TABLE:
            assert isinstance(effect, TableEffect)
        case Route.TIME:
            assert not effect.shader
        case Route.RASTER:
            assert effect.shader or type(effect).bake is not Effect.bake
        case Route.GPU:
            assert effect.shader or (type(effect).draw, type(effect).bake) != (Effect.draw, Effect.bake)
        case Route.GPU_ONLY:
            assert effect.shader


@BY_ID
def test_a_summary_is_a_sentence_and_parameters_are_named_once(effect: Effect) -> None:
    assert effect.summary.endswith(".")
    keys = [parameter.key for parameter in effect.parameters]
    assert len(keys) == len(set(keys))
    assert effect.parameters or effect.id == "posterize-time"


@pytest.mark.parametrize("effect", [e for e in EFFECTS if e.shader], ids=lambda effect: effect.id)
def test_a_shader_declares_only_what_the_effect_gives_it(effect: Effect) -> None:
    text = shaders.text(effect.shader)
    declared = uniforms_of(effect.shader, (("BAKED", "1"),)) | uniforms_of(effect.shader)
    # The effect's code names a sampler and its region.
    samplers = set(re.findall(r"uniform sampler2D (\w+);", text))
    given = {parameter.uniform for parameter in effect.parameters} | PASS_UNIFORMS
    given |= samplers | {f"{name}_region" for name in samplers}
    assert declared - given <= _passed_in_code(effect)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('tier = "core"', 'tier = "often"', "blur in blur.toml: .*often"),
        ('route = "gpu"', 'route = "sideways"', "blur in blur.toml: .*SIDEWAYS"),
        ("is_soft = true", "is_loud = true", "blur in blur.toml: .*is_loud"),
        ('amount = "<= 0"', 'strength = "<= 0"', "blur in blur.toml: .*strength"),
        ('["amount", "px", 6, 0, 40]', '["amount", "miles", 6, 0, 40]', "blur in blur.toml: .*amount cannot be miles"),
        ("[blur]", "[fuzz]", "code without an entry: .*blur"),
        ("[sharpen]", "[gaussian-blur]", "gaussian-blur in blur.toml: declared twice"),
    ],
)
def test_a_wrong_entry_of_the_catalogue_is_refused_by_name(tmp_path: Path, old: str, new: str, fault: str) -> None:
    folder = Path(shutil.copytree(CATALOG, tmp_path / "catalog"))
    file = folder / "blur.toml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ValueError, match=fault):
        read_catalog(folder)


def test_documents_are_checked_for_the_names_that_are_drawn() -> None:
    assert {effect.id for effect in EFFECTS} == vocabulary.EFFECTS
    assert {effect.id for effect in EFFECTS if effect.route is Route.RASTER} == vocabulary.CANVAS_EFFECTS
    assert {*FIXED_BLENDS, *MODES} == vocabulary.BLEND_MODES
    assert find("acme.sparkle") is None


def test_a_chain_has_the_colour_with_its_opacity_only_where_the_effect_says_so() -> None:
    for effect in EFFECTS:
        for key, opacity in effect.folded.items():
            assert effect.by_key[key].kind is Kind.COLOR
            assert effect.by_key[opacity].unit == "%"
    assert EffectChain.defines == ()


def test_ids_tiers_routes_and_defaults_are_those_of_the_formats_table() -> None:
    text = FORMAT.read_text(encoding="utf-8")
    table = text[text.index("## 7. Master table") : text.index("## 8. Algorithms")]
    rows = re.findall(r"^\| `([\w-]+)` \| (core|common|rare) \| (\w+) \|[^|]*\| (.*) \|$", table, re.MULTILINE)
    assert len(rows) == 174
    for effect_id, tier, route, parameters in rows:
        effect = find(effect_id)
        assert effect is not None
        assert (effect.tier.value, effect.route.value) == (tier, route)
        stored = re.findall(r"`(\w+)` ([NCBEKLX]) (?:(?:px|°|%|s|x|fps|Hz|stops) )?([^\s\[;]+)", parameters)
        for key, kind, default in stored if effect_id not in _LISTED_TOGETHER else []:
            declared = effect.by_key[key]
            assert declared.kind.value == kind, (effect_id, key)
            assert _default_text(declared.default) == _default_text(_read(kind, default)), (effect_id, key)


_LISTED_TOGETHER = {
    "channel-mixer",
    "color-balance",
    "gamma-pedestal-gain",
    "corner-pin",
    "bezier-warp",
    "mesh-warp",
    "curves",
}


def _read(kind: str, text: str) -> object:
    if kind in "NE":
        return float(text)
    if kind == "B":
        return text == "true"
    return {"''": "", "[]": (), "0": 0}.get(text, text) if kind in "LX" else text


def _default_text(value: object) -> str:
    return f"{value:g}" if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def _passed_in_code(effect: Effect) -> set[str]:
    """Return uniform names in the module of the effect's code and in the functions that it draws with."""
    module = Path(str(sys.modules[type(effect).__module__].__file__))
    paths = (module, module.with_name("canvas.py"), module.with_name("canvas_filters.py"))
    texts = [path.read_text(encoding="utf-8") for path in paths]
    names = set(re.findall(r'"(u_\w+)"', "".join(texts)))
    return names | {f"{name}_region" for name in names}
