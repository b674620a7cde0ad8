"""Cache of compiled shader programs, identified by everything that defines their text."""

from __future__ import annotations

from collections.abc import Mapping

import moderngl

import shaders
from gpu_renderer.errors import ShaderError
from gpu_renderer.opengl.shader_errors import explained
from gpu_renderer.opengl.varyings import handed_over

UniformValue = float | int | bool | tuple[float, ...] | bytes
"""A number, a flat vector or column-major matrix, or packed bytes for arrays."""

Layout = tuple[tuple[str, int], ...]
"""Attributes of an instance: name and number of floats."""


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
    """Cache of the programs of one context."""

    def __init__(self, context: moderngl.Context, *, flat_uniforms: bool) -> None:
        """`flat_uniforms`: fragment shaders get uniforms from the vertex shader, see `varyings`."""
        self._context = context
        self._flat_uniforms = flat_uniforms
        self._programs: dict[tuple[str, str, tuple[tuple[str, str], ...]], Program] = {}
        self._asked: dict[tuple[object, ...], Program] = {}
        """Programs by the arguments of a call."""

    def get(self, fragment: str, vertex: str = "fullscreen.vert", **defines: object) -> Program:
        """Return the program of a fragment and a vertex file under `shaders/`, with #defines. Raises ShaderError."""
        asked = (fragment, vertex, *defines.items())
        found = self._asked.get(asked)
        if found is None:
            found = self._asked[asked] = self._made(fragment, vertex, defines)
        return found

    def _made(self, fragment: str, vertex: str, defines: Mapping[str, object]) -> Program:
        key = (fragment, vertex, tuple(sorted((name, str(value)) for name, value in defines.items())))
        if key not in self._programs:
            texts = shaders.source(vertex, key[2]), shaders.source(fragment, key[2])
            handed = handed_over(*texts, with_uniforms=self._flat_uniforms)
            try:
                self._programs[key] = Program(self._context, fragment, handed)
            except moderngl.Error as error:
                stages = {
                    "vertex_shader": shaders.lines(vertex, key[2]),
                    "fragment_shader": shaders.lines(fragment, key[2]),
                }
                raise ShaderError(f"{fragment}: {explained(str(error), stages)}") from error
        return self._programs[key]
