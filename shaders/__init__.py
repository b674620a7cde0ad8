"""GLSL files. One stage a file; shared functions in `include/`; `source` reads them with includes expanded.

`joining.py` makes one shader of several that follow one another.
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
"""`EXACT float x` keeps the order and the rounding of its operations where the driver can; hashes hang on it."""
PACKING = "#extension GL_ARB_shading_language_packing : enable"
"""`packHalf2x16` of include/stored.glsl: strict drivers do not know it in this version of GLSL."""
IN_PLACE = """#ifdef IN_PLACE
#extension GL_EXT_shader_framebuffer_fetch : require
#endif"""
"""With IN_PLACE a shader reads the pixel that it is about to write: it declares that as an `inout`."""
Defines = tuple[tuple[str, str], ...]
"""#defines of a shader, by name."""
_INCLUDE = re.compile(r'^#include "([\w./-]+)"\s*$')


@cache
def text(name: str) -> str:
    """A shader file's own text, by its path below this folder."""
    return (FOLDER / name).read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a shader's full text and its place: the file below this folder ("" for what the farm adds) and its number."""

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
    added = "\n".join([VERSION, EXACT, PACKING, *(f"#define {key} {value}" for key, value in defines), IN_PLACE])
    return (Line("", 0, line) for line in added.splitlines())


def expanded(file: str, seen: set[str]) -> Iterator[Line]:
    """Yield the lines of a file with those of its includes in place, except includes in `seen`, which gains what was included."""
    for number, line in enumerate(text(file).splitlines(), start=1):
        include = _INCLUDE.match(line)
        inner = f"include/{include[1]}" if include else ""
        if not include:
            yield Line(file, number, line)
        elif inner not in seen:
            seen.add(inner)
            yield from expanded(inner, seen)


def files(suffix: str = ".frag") -> list[str]:
    """Every shader file with the suffix, by its path below this folder."""
    return sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob(f"*{suffix}"))
