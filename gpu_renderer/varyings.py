"""Uniforms handed over as flat varyings: a software rasteriser fetches a uniform for every pixel, and a varying once.

A flat varying is a vertex's value unchanged, so that the bytes of a pass are the same either way.
"""

from __future__ import annotations

import re

COMPONENTS_MAX = 60
"""Of all varyings of a program: every OpenGL 3.3 has 64, and the position takes four."""
_COMPONENTS = {"float": 1, "vec2": 2, "vec3": 3, "vec4": 4, "mat3": 9}
_UNIFORMS = re.compile(r"^uniform (float|vec[234]|mat3) (u_\w+(?:, u_\w+)*);", re.MULTILINE)
_NAMES = re.compile(r"\bu_\w+\b")


def handed_over(vertex: str, fragment: str) -> tuple[str, str]:
    """Both texts with the fragment shader's uniforms read by the vertex shader; arrays, switches and samplers stay."""
    kinds = _fitting(_uniforms(fragment))
    return _handing(vertex, kinds), _receiving(fragment, kinds)


def _uniforms(text: str) -> dict[str, str]:
    """The types by name, of every variant that the text has."""
    return {name: match[1] for match in _UNIFORMS.finditer(text) for name in match[2].split(", ")}


def _fitting(kinds: dict[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, kind in kinds.items():
        if sum(_COMPONENTS[taken] for taken in found.values()) + _COMPONENTS[kind] <= COMPONENTS_MAX:
            found[name] = kind
    return found


def _handing(vertex: str, kinds: dict[str, str]) -> str:
    own = _uniforms(vertex)
    lines = [vertex.replace("void main()", "void place()")]
    lines += [f"uniform {kind} {name};" for name, kind in kinds.items() if name not in own]
    lines += [f"flat out {kind} flat_{name};" for name, kind in kinds.items()]
    lines += ["void main() {", "    place();", *(f"    flat_{name} = {name};" for name in kinds), "}", ""]
    return "\n".join(lines)


def _receiving(fragment: str, kinds: dict[str, str]) -> str:
    def declared(match: re.Match[str]) -> str:
        how = [(name, "flat in" if name in kinds else "uniform") for name in match[2].split(", ")]
        return " ".join(f"{qualifier} {match[1]} {name};" for name, qualifier in how)

    return _NAMES.sub(
        lambda name: f"flat_{name[0]}" if name[0] in kinds else name[0], _UNIFORMS.sub(declared, fragment)
    )
