"""GLSL files only. One stage a file; shared functions in `include/`; `source` reads them with includes expanded."""

from __future__ import annotations

import re
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
IN_PLACE = """#ifdef IN_PLACE
#extension GL_EXT_shader_framebuffer_fetch : require
#endif"""
"""With IN_PLACE a shader reads the pixel that it is about to write: it declares that as an `inout`."""
_INCLUDE = re.compile(r'^#include "([\w./-]+)"\s*$', re.MULTILINE)


@cache
def text(name: str) -> str:
    """A shader file's own text, by its path below this folder."""
    return (FOLDER / name).read_text(encoding="utf-8")


@cache
def source(name: str, defines: tuple[tuple[str, str], ...] = ()) -> str:
    """The full text of a shader: version line, defines, the file with each include expanded once."""
    seen: set[str] = set()

    def expanded(file: str) -> str:
        def include(match: re.Match[str]) -> str:
            inner = f"include/{match[1]}"
            if inner in seen:
                return ""
            seen.add(inner)
            return expanded(inner)

        return _INCLUDE.sub(include, text(file))

    head = [VERSION, EXACT, *(f"#define {key} {value}" for key, value in defines), IN_PLACE]
    return "\n".join(head) + "\n" + expanded(name)


def files(suffix: str = ".frag") -> list[str]:
    """Every shader file with the suffix, by its path below this folder."""
    return sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob(f"*{suffix}"))
