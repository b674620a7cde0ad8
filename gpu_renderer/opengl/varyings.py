"""Pass uniforms as flat varyings: a software rasteriser fetches a uniform for every pixel, but a varying only once.

A flat varying is a vertex's unchanged value, so the bytes of a pass are the same either way. A uniform that the vertex
shader declares as an instance attribute is always passed this way.
"""

from __future__ import annotations

import re

COMPONENTS_MAX = 60
"""Components of all varyings of a program: every OpenGL 3.3 has 64, and the position needs four."""
_COMPONENTS = {"float": 1, "vec2": 2, "vec3": 3, "vec4": 4, "mat3": 9}
_ELEMENT_COMPONENTS = 4
"""Components of an array element of any type."""
_UNIFORMS = re.compile(r"^uniform (float|vec[234]|mat3) (u_\w+)(\[(\w+) ([+-]) (\d+)\])?((?:, u_\w+)*);", re.MULTILINE)
_ATTRIBUTES = re.compile(r"^in \w+ (u_\w+);", re.MULTILINE)
_NAMES = re.compile(r"\bu_\w+\b")


def handed_over(vertex: str, fragment: str, *, with_uniforms: bool) -> tuple[str, str]:
    """Return both texts with the fragment shader's uniforms read by the vertex shader.

    Samplers, integers and switches remain uniforms. Without `with_uniforms` only attributes are passed. Arrays are
    passed only if a #define gives their length, as in `[STOPS - 1]`: their loops are unrolled.
    """
    attributes = set(_ATTRIBUTES.findall(vertex))
    handed = _fitting(fragment, attributes, with_uniforms=with_uniforms)
    return (_handing(vertex, handed, attributes), _receiving(fragment, handed)) if handed else (vertex, fragment)


def _fitting(fragment: str, attributes: set[str], *, with_uniforms: bool) -> dict[str, str]:
    """Return name (with array length) and type of the uniforms of all variants, as many as fit."""
    found: dict[str, str] = {}
    room = COMPONENTS_MAX
    declared = [(name, match) for match in _UNIFORMS.finditer(fragment) for name in _declared(match)]
    for name, match in sorted(declared, key=lambda each: each[0] not in attributes):
        size = _size(match, fragment)
        if size <= room and name not in found and (with_uniforms or name in attributes):
            found[name], room = match[1], room - size
    return found


def _size(match: re.Match[str], text: str) -> int:
    """Return the number of components of each name of a declaration."""
    if match[3] is None:
        return _COMPONENTS[match[1]]
    define = re.search(rf"^#define {match[4]} (\d+)$", text, re.MULTILINE)
    return _ELEMENT_COMPONENTS * (int(define[1]) + int(match[5] + match[6])) if define else COMPONENTS_MAX + 1


def _declared(match: re.Match[str]) -> list[str]:
    """Return the names of a declaration. An array has a declaration of its own."""
    return [match[2] + (match[3] or ""), *filter(None, match[7].split(", "))]


def _handing(vertex: str, handed: dict[str, str], attributes: set[str]) -> str:
    own = attributes.union(name for match in _UNIFORMS.finditer(vertex) for name in _declared(match))
    bare = [name.partition("[")[0] for name in handed]
    lines = [vertex.replace("void main()", "void place()")]
    lines += [f"uniform {kind} {name};" for name, kind in handed.items() if name not in own]
    lines += [f"flat out {kind} flat_{name};" for name, kind in handed.items()]
    lines += ["void main() {", "    place();", *(f"    flat_{name} = {name};" for name in bare), "}", ""]
    return "\n".join(lines)


def _receiving(fragment: str, handed: dict[str, str]) -> str:
    def declared(match: re.Match[str]) -> str:
        how = [(name, "flat in" if name in handed else "uniform") for name in _declared(match)]
        return " ".join(f"{qualifier} {match[1]} {name};" for name, qualifier in how)

    bare = {name.partition("[")[0] for name in handed}
    return _NAMES.sub(lambda name: f"flat_{name[0]}" if name[0] in bare else name[0], _UNIFORMS.sub(declared, fragment))
