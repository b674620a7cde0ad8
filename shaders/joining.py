"""Join several pointwise shaders into one that runs them in order on each pixel.

Between two passes the value is rounded as a store into the target and the next load round it (`include/stored.glsl`),
so that the bytes equal those of separate passes. Names that a shader declares at file scope get the shader's number,
because two shaders can declare the same name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from shaders import Defines, Line, expanded, head

_COMMON = ("include/chain.glsl", "include/stored.glsl")
"""Files that every joined shader includes once, in front of its passes."""
_TYPE = r"(?:void|bool|u?int|float|[biu]?vec[234]|mat[234]|[iu]?sampler\w+)"
_DECLARED = re.compile(rf"^(?:(?:const|uniform|flat|in) )*{_TYPE} (\w+[^;(={{]*)")
_DEFINED = re.compile(r"^#define (\w+)|^struct (\w+)")
_NAME = re.compile(r"(?<![.\w])[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Joined:
    """Shader files that run in this order as one pass, each with its #defines.

    Each shader computes a pixel from the same pixel alone, and reads it through include/chain.glsl.
    """

    passes: tuple[tuple[str, Defines], ...]

    def __str__(self) -> str:
        return " + ".join(file for file, _ in self.passes)


@cache
def _common() -> tuple[Line, ...]:
    seen: set[str] = set()
    return tuple(line for file in _COMMON for line in expanded(file, seen))


@cache
def _common_names() -> frozenset[str]:
    return frozenset(_names(_common()))


def name_in(index: int, name: str) -> str:
    """Return the name of a pass's uniform in the joined shader."""
    return name if name in _common_names() else _numbered(index, name)


def _numbered(index: int, name: str) -> str:
    return f"u_{index}_{name[2:]}" if name.startswith("u_") else f"pass_{index}_{name}"


def lines(joined: Joined, defines: Defines) -> tuple[Line, ...]:
    """Return the lines of the joined shader, each with its place.

    `defines`: STORE, and IN_PLACE if it runs in place.
    """
    found = [*head((("JOINED", "1"), *defines)), *_common()]
    main = ["void main() {", "    begin();"]
    for index, (file, given) in enumerate(joined.passes):
        found += _renamed(index, file, given)
        main += ["    f_color = stored(f_color);"] * (index > 0) + [f"    {_numbered(index, 'main')}();"]
    return (*found, *(Line("", 0, line) for line in (*main, "}")))


def _renamed(index: int, file: str, defines: Defines) -> list[Line]:
    """Return the lines of a pass without the common files. Its names get its number."""
    seen = {"include/effect.glsl", *(line.file for line in _common())}  # the chain's part of effect.glsl is common
    own = [Line("", 0, f"#define {key} {value}") for key, value in defines] + list(expanded(file, seen))
    names = {name: _numbered(index, name) for name in _names(own)}

    def renamed(match: re.Match[str]) -> str:
        return names.get(match[0], match[0])

    return [Line(line.file, line.number, _NAME.sub(renamed, line.text)) for line in own]


def _names(lines: tuple[Line, ...] | list[Line]) -> set[str]:
    """Return the names declared at file scope. Such a declaration starts at the beginning of a line."""
    found: set[str] = set()
    for line in lines:
        if defined := _DEFINED.match(line.text):
            found.add(defined[1] or defined[2])
        elif declared := _DECLARED.match(line.text):
            found.update(re.sub(r"\[.*?\]", "", name).strip() for name in declared[1].split(","))
    return found
