"""A shader error is reported with its file, its line and the surrounding lines."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import shaders
from gpu_renderer.errors import ShaderError
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.programs import Programs, explained

FRAGMENT = """// Purpose: a shader with a mistake in line 9.
#include "{include}"

uniform float u_amount;
out vec4 o_color;

void main() {{
    float here = twice(u_amount);
    o_color = vec4(here, {mistake}, 0.0, 1.0);
    // line 10
    // line 11
    // line 12
}}
// line 14
// line 15
"""
INCLUDE = "// Twice a number.\nfloat twice(float x) {{\n    return 2.0 * {word};\n}}\n"
MESSAGES = {
    "Mesa": "GLSL Compiler failed\n\nfragment_shader\n===============\n0:{n}(12): error: `x' undeclared\n",
    "NVIDIA": "GLSL Compiler failed\n\nfragment_shader\n===============\n0({n}) : error C1503: undefined variable `x'\n",
    "others": "GLSL Compiler failed\n\nfragment_shader\n===============\nERROR: 0:{n}: 'x' : undeclared identifier\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the shaders that a test can add files to."""
    copy = tmp_path / "shaders"
    shutil.copytree(shaders.FOLDER, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(shaders, "FOLDER", copy)
    return copy


@pytest.mark.gl
@pytest.mark.parametrize("flat_uniforms", [False, True])
def test_a_mistake_is_shown_in_its_file_with_five_lines_around_it(
    painter: Painter, folder: Path, flat_uniforms: bool
) -> None:
    message = compile_error(painter, folder, f"own{flat_uniforms}", flat_uniforms, mistake="missing_name")
    file = f"own{flat_uniforms}.frag"
    assert f"shaders/{file}:9: " in message
    shown = [line for line in message.splitlines() if " | " in line]
    assert [int(line[1:].split("|")[0]) for line in shown] == list(range(4, 15))
    assert [line for line in shown if line.startswith(">")] == [
        ">    9 |     o_color = vec4(here, missing_name, 0.0, 1.0);"
    ]


@pytest.mark.gl
def test_a_mistake_in_an_include_is_shown_in_the_include(painter: Painter, folder: Path) -> None:
    message = compile_error(painter, folder, "nested", flat_uniforms=False, word="missing_name")
    assert "shaders/include/nested.glsl:3: " in message
    assert ">    3 |     return 2.0 * missing_name;" in message


@pytest.mark.parametrize("driver", MESSAGES)
def test_the_places_of_every_driver_are_understood(driver: str) -> None:
    lines = shaders.lines("effects/vignette.frag", (("BAKED", "1"),))
    index = next(n for n, line in enumerate(lines) if line.file == "effects/vignette.frag" and "void main" in line.text)
    report = explained(MESSAGES[driver].format(n=index + 1), {"fragment_shader": lines})
    assert f"shaders/effects/vignette.frag:{lines[index].number}: " in report
    assert f"> {lines[index].number:4d} | void main() {{" in report


def test_a_line_that_the_farm_wrote_itself_is_called_generated() -> None:
    message = MESSAGES["Mesa"].format(n=1)
    assert "generated line 1: " in explained(message, {"fragment_shader": shaders.lines("copy.frag")})


def compile_error(
    painter: Painter, folder: Path, name: str, flat_uniforms: bool, mistake: str = "1.0", word: str = "x"
) -> str:
    (folder / "include" / f"{name}.glsl").write_text(INCLUDE.format(word=word))
    (folder / f"{name}.frag").write_text(FRAGMENT.format(include=f"{name}.glsl", mistake=mistake))
    with pytest.raises(ShaderError) as caught:
        Programs(painter.context, flat_uniforms=flat_uniforms).get(f"{name}.frag")
    return str(caught.value)
