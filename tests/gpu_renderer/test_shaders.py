"""Every shader file compiles in every variant that is used."""

from __future__ import annotations

from itertools import product

import moderngl
import numpy as np
import pytest

import shaders
from gpu_renderer.display_list.graph import MODES
from gpu_renderer.geometry.samples import weights
from gpu_renderer.opengl.painter import FULLSCREEN, Painter
from gpu_renderer.opengl.programs import PROGRAMS_IN_USE_MAX, PROGRAMS_MAX, Program, Programs

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
    for flags in ((), ("PROJECTIVE",), ("FOLDED",), ("MASK", "MATRIX", "TABLES", "ACES", "GAIN"), ("CELLS",))
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
    "effects/baked/bezier_warp.frag": [{"BAKED": 1}, {"BAKED": 1, "DOUBLES": 1}],
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
    serves_both_routes = any(line.file == "include/effect.glsl" for line in shaders.lines(file))
    return [{}, {"BAKED": 1}] if serves_both_routes else [{}]


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


@pytest.mark.parametrize("flat_uniforms", [False, True])
def test_the_shader_of_planes_compiles(painter: Painter, flat_uniforms: bool) -> None:
    programs = Programs(painter.context, flat_uniforms=flat_uniforms)
    for defines in ({}, {"SAMPLE_DEPTH": 1}) if painter.can_place_samples else ({},):
        programs.get("compositing/quad.frag", "space/plane.vert", CONTENT=1, SAMPLES=0, FLIPPED=1, **defines)


@pytest.mark.parametrize("flat_uniforms", [False, True])
def test_the_shader_of_quads_compiles(painter: Painter, flat_uniforms: bool) -> None:
    programs = Programs(painter.context, flat_uniforms=flat_uniforms)
    for defines in variants("compositing/quad.frag"):
        program = programs.get("compositing/quad.frag", "compositing/quads.vert", **defines)
        assert "u_to_unit" not in program.gl or isinstance(program.gl["u_to_unit"], moderngl.Attribute)


def test_programs_of_recent_frames_stay_and_all_others_are_bounded(painter: Painter) -> None:
    """A worker kept every program that it had compiled: after 900 segments they took half a gigabyte."""
    programs = Programs(painter.context, flat_uniforms=False)

    def frame(first: int, count: int) -> list[Program]:
        made = [programs.get("copy.frag", NUMBER=number) for number in range(first, first + count)]
        programs.end_frame()
        return made

    busy = frame(0, PROGRAMS_MAX + 8)
    assert frame(0, PROGRAMS_MAX + 8) == busy, "a frame of many programs does not compile them again"
    used = frame(0, 1), frame(0, 1)
    others = frame(1000, 20)
    assert frame(1000, 20) == others
    assert frame(0, 1) == used[0] == used[1] == busy[:1]
    assert frame(1, 1) != busy[1:2], "the least recently used program is dropped"
    first = programs.get("copy.frag", NUMBER=2000)
    for number in range(PROGRAMS_IN_USE_MAX):
        programs.get("copy.frag", NUMBER=3000 + number)
    assert programs.get("copy.frag", NUMBER=2000) is not first


@pytest.mark.parametrize("file", [*shaders.files(), *shaders.files(".vert"), *shaders.files(".glsl")])
def test_a_shader_says_what_it_is_for(file: str) -> None:
    assert shaders.text(file).startswith("//"), f"{file} begins without a comment"


@pytest.mark.parametrize("file", [*shaders.files(), *shaders.files(".vert"), *shaders.files(".glsl")])
def test_a_shader_has_no_line_continuation(file: str) -> None:
    """GLSL has them from version 4.20 on. Some drivers accept them in older versions, others do not."""
    assert not any(line.endswith("\\") for line in shaders.text(file).splitlines())


@pytest.mark.parametrize("error", ["", " * (1.0 - 1.2e-7)", " * (1.0 + 1.2e-7)"])
def test_a_multiple_has_a_whole_quotient_on_drivers_that_round_quotients(painter: Painter, error: str) -> None:
    formulas = shaders.text("include/formulas.glsl")
    assert "= floor(a / b);" in formulas
    rounding = formulas.replace("= floor(a / b);", f"= floor((a / b){error});")
    side = 256
    program = painter.context.program(
        vertex_shader=f"{shaders.VERSION}\n{shaders.text(FULLSCREEN)}",
        fragment_shader=f"{shaders.VERSION}\n{rounding}\nout vec4 o; void main() {{ vec2 p = floor(gl_FragCoord.xy) + 1.0;"
        "vec2 a = p.x * p.y - vec2(0.0, 0.25); o = vec4(quotient(a, p.xx), remainder(a, p.xx)); }",
    )
    target = painter.context.framebuffer([painter.context.texture((side, side), 4, dtype="f4")])
    whole = painter.context.buffer(np.array([0.0, 0.0, 2.0, 2.0], np.float32).tobytes())
    target.use()
    painter.context.disable(moderngl.BLEND)
    painter.context.vertex_array(program, [(whole, "4f /i", "i_part")]).render(moderngl.TRIANGLES, vertices=3)
    found = np.frombuffer(target.read(components=4, dtype="f4"), np.float32).reshape(side, side, 4)
    painter.pool.bind_lasting()
    divisors, quotients = np.meshgrid(np.arange(1, side + 1), np.arange(1, side + 1))
    assert np.array_equal(found[..., 0], quotients)
    assert np.array_equal(found[..., 1], quotients - 1)
    assert np.array_equal(found[..., 2], np.zeros((side, side)))
    assert np.array_equal(found[..., 3], divisors - 0.25)


def test_the_full_screen_triangle_is_there() -> None:
    assert FULLSCREEN in shaders.files(".vert")
