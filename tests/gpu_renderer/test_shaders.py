"""Every shader file compiles in every variant that is used."""

from __future__ import annotations

from itertools import product

import moderngl
import pytest

import shaders
from gpu_renderer.display_list.graph import MODES
from gpu_renderer.geometry.samples import weights
from gpu_renderer.opengl.painter import FULLSCREEN, Painter
from gpu_renderer.opengl.programs import Programs

pytestmark = pytest.mark.gl
Defines = dict[str, object]
UNIFORM_COMPONENTS_MAX = 1024
"""Number of uniform components that every OpenGL 3.3 driver supports."""
CONVOLVE: list[Defines] = [
    {"MARGIN": 1},
    {"MARGIN": 7},
    {"MARGIN": 32, "FAR": 64},
    {"MARGIN": 8, "CLEAR_OUTSIDE": 1},
    {"MARGIN": 32, "FAR": 4, "ALPHA": 1},
    {"MARGIN": 4, "ALPHA": 1},
]
QUADS: list[Defines] = [
    {"CONTENT": content, "SAMPLES": samples, **dict.fromkeys(flags, 1)}
    for content, samples in product(range(5), (0, 1, 4))
    for flags in ((), ("PROJECTIVE",), ("MASK", "MATRIX", "TABLES", "ACES", "GAIN"))
]
LIT: list[Defines] = [
    {"CONTENT": content, "SAMPLES": 4, "PROJECTIVE": 1, "LIT": max(1, len(kinds)), "LIGHTS": lights, **more}
    for content, kinds, more in product(range(5), ("", "0", "0123", "01230123"), ({}, {"SPECULAR": 1}))
    for lights in (" ".join(f"LIGHT({index}, {kind}, {index % 3})" for index, kind in enumerate(kinds)),)
]
BLENDED: list[Defines] = [
    {"CONTENT": content, "SAMPLES": 1, "MODE": mode, **dict.fromkeys(flags, 1)}
    for content, mode, flags in product((0, 2, 3, 5), (2, 9, 12, 31, 36), ((), ("BELOW",)))
]
RANKED: list[Defines] = [{"BAKED": 1}, {"BAKED": 1, "RANKED": 1}]
MEANS: list[Defines] = [{}, {"BAKED": 1}, {"CELLS": 1}, {"MEANS": 1}, {"BAKED": 1, "MEANS": 1}]
VARIANTS: dict[str, list[Defines]] = {
    "compositing/quad.frag": QUADS + LIT + BLENDED,
    "compositing/grade.frag": [{}, {"MATRIX": 1}, {"TABLES": 1}, {"MATRIX": 1, "TABLES": 1}],
    "effects/baked/median.frag": RANKED,
    "effects/baked/radial_blur.frag": [{}, {"ZOOM": 1}],
    "effects/baked/mip.frag": [{"COLUMNS": across, "ROWS": down} for across, down in product((1, 2, 3), repeat=2)],
    "effects/baked/dust_scratches.frag": RANKED,
    "effects/mosaic.frag": MEANS,
    "effects/halftone.frag": MEANS,
    "effects/baked/noise_alpha.frag": [{"BAKED": 1}, {"BAKED": 1, "HASHED": 1}],
    "effects/noise.frag": [{}, {"MONOCHROME": 1}, {"BAKED": 1}, {"BAKED": 1, "MONOCHROME": 1}],
    "compositing/layer.frag": [{"MATTE": matte} for matte in range(5)],
    "compositing/combine.frag": [{"MODE": mode, **kept} for mode in MODES.values() for kept in ({}, {"PRESERVE": 1})],
    "effects/convolve.frag": CONVOLVE,
    "convert/samples.frag": [
        {"WEIGHTS": ", ".join(f"{number}u" for number in weights("bt709", full_range=False).tolist())}
    ],
    "effects/halve.frag": [{}, {"ALPHA": 1}],
    "compositing/blit.frag": [
        {"DISPLAY": d, **dict.fromkeys(flags, 1)}
        for d, flags in product(range(4), ((), ("ACES",), ("ACES", "QUANTISE"), ("OPAQUE",), ("OPAQUE", "QUANTISE")))
    ],
}


def variants(file: str) -> list[dict[str, object]]:
    if file in VARIANTS:
        return VARIANTS[file]
    if file.startswith("effects/baked/"):
        return [{"BAKED": 1}]
    return [{}, {"BAKED": 1}] if '"effect.glsl"' in shaders.text(file) else [{}]


@pytest.mark.parametrize("file", shaders.files())
@pytest.mark.parametrize("flat_uniforms", [False, True])
def test_a_shader_compiles(painter: Painter, file: str, flat_uniforms: bool) -> None:
    programs = Programs(painter.context, flat_uniforms=flat_uniforms)
    for defines in variants(file):
        program = programs.get(file, FULLSCREEN, **defines)
        members = [program.gl[name] for name in program.gl]
        uniforms = [member for member in members if isinstance(member, moderngl.Uniform)]
        assert sum(each.array_length * each.dimension for each in uniforms) <= UNIFORM_COMPONENTS_MAX


@pytest.mark.parametrize("file", [file for file in shaders.files() if "IN_PLACE" in shaders.text(file)])
def test_a_shader_that_reads_in_place_compiles_where_the_driver_can(painter: Painter, file: str) -> None:
    for defines in variants(file) if painter.can_read_in_place else []:
        painter.programs.get(file, FULLSCREEN, IN_PLACE=1, **defines)


def test_the_shader_of_planes_compiles(painter: Painter) -> None:
    painter.programs.get("compositing/quad.frag", "space/plane.vert", CONTENT=1, SAMPLES=0)


@pytest.mark.parametrize("flat_uniforms", [False, True])
def test_the_shader_of_quads_compiles(painter: Painter, flat_uniforms: bool) -> None:
    programs = Programs(painter.context, flat_uniforms=flat_uniforms)
    for defines in variants("compositing/quad.frag"):
        program = programs.get("compositing/quad.frag", "compositing/quads.vert", **defines)
        assert "u_to_unit" not in program.gl or isinstance(program.gl["u_to_unit"], moderngl.Attribute)


@pytest.mark.parametrize("file", [*shaders.files(), *shaders.files(".vert"), *shaders.files(".glsl")])
def test_a_shader_says_what_it_is_for(file: str) -> None:
    assert shaders.text(file).startswith("//"), f"{file} begins without a comment"


def test_the_full_screen_triangle_is_there() -> None:
    assert FULLSCREEN in shaders.files(".vert")
