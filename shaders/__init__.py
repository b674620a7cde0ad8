"""GLSL files, one stage a file. `include/` has shared functions. `source` returns a file with its includes expanded.

A uniform of an effect has the name of the effect's parameter, whose unit and range are in effects.md 7: `u_wave_height` is
`waveHeight`. `joining.py` makes one shader of several consecutive ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
VERSION = "#version 330 core"
EXACT = """#extension GL_ARB_gpu_shader5 : enable
#ifdef GL_ARB_gpu_shader5
#define EXACT precise
#else
#define EXACT
#endif"""
"""`EXACT float x` keeps the order and the rounding of its operations if the driver can. Hashes need this."""
DOUBLES = """#ifdef DOUBLES
#extension GL_ARB_gpu_shader_fp64 : enable
#endif
#if defined(DOUBLES) && defined(GL_ARB_gpu_shader_fp64)
#define REAL double
#define REAL2 dvec2
#else
#define REAL float
#define REAL2 vec2
#endif"""
"""With DOUBLES, `REAL` and `REAL2` are doubles if the driver has them: iterations that need not converge depend on the last digits.
Other shaders do not enable them, because that adds implicit conversions."""
PACKING = "#extension GL_ARB_shading_language_packing : enable"
"""Extension for `packHalf2x16` of include/stored.glsl, which strict drivers lack in this version of GLSL."""
SAMPLE_DEPTH = """#ifdef SAMPLE_DEPTH
#extension GL_ARB_sample_shading : require
#endif"""
"""Extension for SAMPLE_DEPTH: a shader reads its sample's position."""
IN_PLACE = """#ifdef IN_PLACE
#extension GL_EXT_shader_framebuffer_fetch : require
#endif"""
"""Extension for IN_PLACE: a shader reads the pixel that it will write, through an `inout` that it declares."""
Defines = tuple[tuple[str, str], ...]
"""#defines of a shader, by name."""
_INCLUDE = re.compile(r'^#include "([\w./-]+)"\s*$')


@cache
def text(name: str) -> str:
    """Return a shader file's own text, by its path below this folder."""
    return (FOLDER / name).read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a shader's full text, with its place.

    `file`: path below this folder, or "" for a line that the farm adds. `number`: line in that file.
    """

    file: str
    number: int
    text: str


@cache
def source(name: str, defines: Defines = ()) -> str:
    """Return the full text of a shader: version line, defines, the file with each include expanded once."""
    return "\n".join(line.text for line in lines(name, defines)) + "\n"


def lines(name: str, defines: Defines = ()) -> tuple[Line, ...]:
    """Return the lines of `source`, each with the place that it comes from."""
    return (*head(defines), *expanded(name, set()))


def head(defines: Defines) -> Iterator[Line]:
    """Yield the lines in front of a shader's files."""
    defined = [f"#define {key} {value}" for key, value in defines]
    added = "\n".join([VERSION, EXACT, PACKING, *defined, DOUBLES, SAMPLE_DEPTH, IN_PLACE])
    return (Line("", 0, line) for line in added.splitlines())


def expanded(file: str, seen: set[str]) -> Iterator[Line]:
    """Yield the lines of a file with its includes expanded.

    Includes in `seen` are skipped, new ones are added to it.
    """
    for number, line in enumerate(text(file).splitlines(), start=1):
        include = _INCLUDE.match(line)
        inner = f"include/{include[1]}" if include else ""
        if not include:
            yield Line(file, number, line)
        elif inner not in seen:
            seen.add(inner)
            yield from expanded(inner, seen)


def files(suffix: str = ".frag") -> list[str]:
    """Return every shader file with the suffix, by its path below this folder."""
    return sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob(f"*{suffix}"))
