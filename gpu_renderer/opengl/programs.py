"""Compiled shader programs: uniforms as flat varyings, and errors that name the shader's own files.

A software rasteriser fetches a uniform for every pixel, but a varying only once. A flat varying is a vertex's unchanged
value, so both ways give the same bytes. A uniform that the vertex shader declares as an instance attribute is always
passed this way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import moderngl

import shaders
from gpu_renderer.errors import ShaderError
from shaders import joining
from shaders.joining import Joined

UniformValue = float | int | bool | tuple[float, ...] | bytes
"""A number, a flat vector or column-major matrix, or packed bytes for arrays."""
Layout = tuple[tuple[str, int], ...]
"""Attributes of an instance: name and number of floats."""
COMPONENTS_MAX = 60
"""Limit of the components of all varyings of a program: OpenGL 3.3 guarantees 64, and the position needs four."""
_COMPONENTS = {"float": 1, "vec2": 2, "vec3": 3, "vec4": 4, "mat3": 9}
_ELEMENT_COMPONENTS = 4
"""Components of an array element of any type."""
_UNIFORMS = re.compile(r"^uniform (float|vec[234]|mat3) (u_\w+)(\[(\w+) ([+-]) (\d+)\])?((?:, u_\w+)*);", re.MULTILINE)
_ATTRIBUTES = re.compile(r"^in \w+ (u_\w+);", re.MULTILINE)
_NAMES = re.compile(r"\bu_\w+\b")
PROGRAMS_MAX = 96
"""Number of cached programs. In Mesa a program takes 0.7 to 1.5 MB, and documents combine effects and lights in any order."""
PROGRAMS_IN_USE_MAX = 256
"""The same limit while this frame and the last one use all of them. Otherwise each frame would compile them again."""
CONTEXT_LINES: Final = 5
"""Number of lines shown before and after the line of an error."""
Stages = Mapping[str, Sequence[shaders.Line]]
"""Lines of each stage's text, by the stage as moderngl names it: `vertex_shader`, `fragment_shader`."""
_PLACE = re.compile(r"^(?:ERROR: |WARNING: )?0(?::(\d+)|\((\d+)\))(?:\(\d+\))?[\s:]*")
"""Position at the start of a message: `0:12(5): ` (Mesa), `0(12) : ` (NVIDIA), `ERROR: 0:12: ` (AMD, Intel, ANGLE)."""


class Program:
    """A compiled program with its vertex arrays. Unknown uniforms are errors, unused ones are skipped."""

    def __init__(self, context: moderngl.Context, name: str, texts: tuple[str, str]) -> None:
        """Compile the texts of a vertex and a fragment shader. Raises moderngl.Error."""
        self.name = name
        self._declared = texts[0] + texts[1]
        self.gl = context.program(vertex_shader=texts[0], fragment_shader=texts[1])
        self._context = context
        members = {name: self.gl[name] for name in self.gl}
        self._uniforms = {name: m for name, m in members.items() if isinstance(m, moderngl.Uniform)}
        self._arrays: dict[int, moderngl.VertexArray] = {}
        self._last: dict[str, UniformValue] = {}
        self.used = 0
        """Number of the last `Programs.get` that returned the program."""

    def array(self, buffer: moderngl.Buffer, layout: Layout) -> moderngl.VertexArray:
        """Return the vertex array that reads the instances' attributes from a buffer. Unread attributes are skipped."""
        found = self._arrays.get(buffer.glo)
        if found is None:
            read = [name for name, _ in layout if name in self.gl]
            parts = (f"{count}f" if name in read else f"{4 * count}x" for name, count in layout)
            content = [(buffer, f"{' '.join(parts)} /i", *read)] if read else []
            found = self._arrays[buffer.glo] = self._context.vertex_array(self.gl, content)
        return found

    def set(self, name: str, value: UniformValue) -> None:
        """Set a uniform. A uniform that the compiler removed is skipped; an undeclared one is an error."""
        if self._last.get(name) == value and name in self._last:
            return
        member = self._uniforms.get(name)
        if member is None:
            assert name in self._declared, f"{self.name} declares no uniform {name}"
            return
        if isinstance(value, bytes):
            # A compiler cuts an array down to the elements that it reads.
            member.write(value[: 4 * member.array_length * member.dimension])
        else:
            member.value = value
        self._last[name] = value


class Programs:
    """Cache of the programs of one context, identified by everything that defines their text.

    Above PROGRAMS_MAX programs, the least recently used ones are dropped.
    """

    def __init__(self, context: moderngl.Context, *, flat_uniforms: bool) -> None:
        """`flat_uniforms`: fragment shaders get uniforms from the vertex shader, see `handed_over`."""
        self._context = context
        self._flat_uniforms = flat_uniforms
        self._programs: dict[tuple[str | Joined, str, shaders.Defines], Program] = {}
        self._uses = 0
        self._uses_before = (0, 0)
        """Uses before the last frame, and before this frame."""

    def get(self, fragment: str | Joined, vertex: str = "fullscreen.vert", **defines: object) -> Program:
        """Return the program of a fragment and a vertex file under `shaders/`, with #defines. Raises ShaderError.

        The fragment can also be several files, joined to one shader.
        """
        given = tuple(sorted((name, str(value)) for name, value in defines.items()))
        key = (fragment, vertex, given)
        if key not in self._programs:
            fragment_lines = (
                shaders.lines(fragment, given) if isinstance(fragment, str) else joining.lines(fragment, given)
            )
            stages = {"vertex_shader": shaders.lines(vertex, given), "fragment_shader": fragment_lines}
            texts = ["\n".join(line.text for line in stage) + "\n" for stage in stages.values()]
            handed = handed_over(*texts, with_uniforms=self._flat_uniforms)
            try:
                made = Program(self._context, str(fragment), handed)
            except moderngl.Error as error:
                raise ShaderError(f"{fragment}: {explained(str(error), stages)}") from error
            self._make_room()
            self._programs[key] = made
        found = self._programs[key]
        self._uses += 1
        found.used = self._uses
        return found

    def end_frame(self) -> None:
        """Begin another frame. Programs that neither it nor the one before uses can be dropped."""
        self._uses_before = (self._uses_before[1], self._uses)

    def _make_room(self) -> None:
        """Drop the least recently used programs if there are too many for one more."""
        while len(self._programs) >= PROGRAMS_MAX:
            key, oldest = min(self._programs.items(), key=lambda item: item[1].used)
            if oldest.used > self._uses_before[0] and len(self._programs) < PROGRAMS_IN_USE_MAX:
                return
            del self._programs[key]


def handed_over(vertex: str, fragment: str, *, with_uniforms: bool) -> tuple[str, str]:
    """Return both texts, changed so that the vertex shader reads the fragment shader's uniforms and passes them on.

    Samplers, integers and switches remain uniforms. Without `with_uniforms` only attributes are passed. An array is
    passed only if a #define gives its length, as in `[STOPS - 1]`, because its loops are unrolled.
    """
    attributes = set(_ATTRIBUTES.findall(vertex))
    handed = _fitting(fragment, attributes, with_uniforms=with_uniforms)
    if not handed:
        return vertex, fragment
    own = attributes.union(name for match in _UNIFORMS.finditer(vertex) for name in _declared(match))
    bare = [name.partition("[")[0] for name in handed]
    lines = [vertex.replace("void main()", "void place()")]
    lines += [f"uniform {kind} {name};" for name, kind in handed.items() if name not in own]
    lines += [f"flat out {kind} flat_{name};" for name, kind in handed.items()]
    lines += ["void main() {", "    place();", *(f"    flat_{name} = {name};" for name in bare), "}", ""]

    def received(match: re.Match[str]) -> str:
        how = [(name, "flat in" if name in handed else "uniform") for name in _declared(match)]
        return " ".join(f"{qualifier} {match[1]} {name};" for name, qualifier in how)

    renamed = _NAMES.sub(
        lambda name: f"flat_{name[0]}" if name[0] in bare else name[0], _UNIFORMS.sub(received, fragment)
    )
    return "\n".join(lines), renamed


def _fitting(fragment: str, attributes: set[str], *, with_uniforms: bool) -> dict[str, str]:
    """Return name (with array length) and type of uniforms of all variants, as many as fit into the varyings."""
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


def explained(message: str, stages: Stages) -> str:
    """Replace the line numbers of a compiler's message by file and line, and show the lines around each place once.

    Lines of the message that name no place stay as they are.
    """
    report: list[str] = []
    shown: set[tuple[str, int]] = set()
    stage: Sequence[shaders.Line] = ()
    for line in message.splitlines():
        stage = stages.get(line.strip(), stage)
        place = _PLACE.match(line)
        report += [line] if place is None else _placed(line[place.end() :], int(place[1] or place[2]), stage, shown)
    return "\n".join(report)


def _placed(error: str, number: int, stage: Sequence[shaders.Line], shown: set[tuple[str, int]]) -> Iterable[str]:
    """Yield an error with its file, its line and, the first time that the line is named, the lines around it."""
    line = stage[number - 1] if 0 < number <= len(stage) else None
    if line is None or not line.file:
        yield f"generated line {number}: {error}"
        return
    yield f"shaders/{line.file}:{line.number}: {error}"
    if (line.file, line.number) not in shown:
        shown.add((line.file, line.number))
        text, first = shaders.text(line.file).splitlines(), max(line.number - CONTEXT_LINES, 1)
        for each, content in enumerate(text[first - 1 : line.number + CONTEXT_LINES], start=first):
            yield f"{'>' if each == line.number else ' '} {each:4d} | {content}"
