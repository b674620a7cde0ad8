"""Drawing surface of effects on either route: passes replace its current picture."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import ClassVar

import moderngl

import shaders
from gpu_renderer.effects.values import Defines, EffectValues
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.programs import UniformValue
from gpu_renderer.opengl.targets import Format, Target, new_texture

Textures = Mapping[str, "Target | moderngl.Texture"]
Uniforms = Mapping[str, UniformValue]
_UNIFORM = re.compile(r"^uniform \w+ ([^;]+);", re.MULTILINE)


@cache
def uniforms_of(shader: str, defines: Defines = ()) -> frozenset[str]:
    """Return the names of all uniforms that a shader's text declares, includes expanded."""
    lists = _UNIFORM.findall(shaders.source(shader, defines))
    return frozenset(re.sub(r"\[.*?\]", "", name).strip() for names in lists for name in names.split(","))


@cache
def is_pointwise(shader: str) -> bool:
    """Return True if a pass of the GPU route computes each pixel from the same pixel alone, so that it can run in place.

    A shader that reads other pixels has to include around.glsl, or it does not compile.
    """
    return shaders.text("include/around.glsl") not in shaders.source(shader)


class Surface:
    """A picture and the painter that works on it. `target` is always the result of the last pass."""

    defines: ClassVar[Defines] = ()

    def __init__(self, painter: Painter, target: Target) -> None:
        self.painter = painter
        self._target = target

    @property
    def target(self) -> Target:
        """Picture after all passes so far."""
        self.flush()
        return self._target

    @target.setter
    def target(self, target: Target) -> None:
        self._target = target

    def flush(self) -> None:
        """Run the passes that are queued to be joined with later ones."""

    def apply(
        self,
        shader: str,
        values: EffectValues | None = None,
        *,
        uniforms: Uniforms | None = None,
        textures: Textures | None = None,
        spent: Textures | None = None,
        defines: Defines = (),
    ) -> None:
        """Replace the picture by the output of a shader. `spent`: textures to free after this pass."""
        read = {**(textures or {}), **(spent or {})}
        self.run_pass(shader, values, uniforms=uniforms, textures=read, defines=defines)
        if spent:
            self.flush()
        for texture in (spent or {}).values():
            if isinstance(texture, Target):
                self.painter.pool.give_back(texture)
            else:
                texture.release()

    def run_pass(
        self,
        shader: str,
        values: EffectValues | None,
        *,
        uniforms: Uniforms | None,
        textures: Textures,
        defines: Defines,
    ) -> None:
        """Run a pass of `apply`: into a new target."""
        self.replace(self.passed(shader, values, uniforms=uniforms, textures=textures, defines=defines))

    def passed(
        self,
        shader: str,
        values: EffectValues | None = None,
        *,
        uniforms: Uniforms | None = None,
        textures: Textures | None = None,
        defines: Defines = (),
        region: Region | None = None,
        format: Format | None = None,
    ) -> Target:
        """Return a new target with the output of a shader. The caller owns it."""
        return self.painter.applied(
            shader,
            self.target,
            region=region,
            format=format,
            textures=textures,
            defines=dict((*self.variant(values), *defines)),
            uniforms=self.uniforms(shader, values, uniforms, defines),
        )

    def variant(self, values: EffectValues | None) -> Defines:
        """Return the variant of an effect's shader for this route and the effect's values."""
        return self.defines if values is None else (*self.defines, *values.effect.variant(values))

    def uniforms(
        self, shader: str, values: EffectValues | None, more: Uniforms | None, defines: Defines = ()
    ) -> dict[str, UniformValue]:
        """Return the known uniforms that the shader declares."""
        known = uniforms_of(shader, (*self.variant(values), *defines))
        found = {**self.common(), **(self.parameters(values) if values else {}), **(more or {})}
        return {name: value for name, value in found.items() if name in known}

    def replace(self, target: Target) -> None:
        """Make a target the picture, and give back the old one."""
        self.painter.pool.give_back(self.target)
        self.target = target

    def texture(
        self, pixels: bytes | memoryview, width: int, height: int, format: Format = "f1", channels: int = 4
    ) -> moderngl.Texture:
        """Return a texture of computed values, with linear filtering and clamped addressing. The caller releases it."""
        return new_texture(self.painter.context, (width, height), channels, pixels, format)

    def common(self) -> dict[str, UniformValue]:
        """Return the uniforms that every pass of the route may declare."""
        return {}

    def parameters(self, values: EffectValues) -> dict[str, UniformValue]:
        """Return the effect's parameters and what it derives from them, as uniforms."""
        return dict(values.uniforms())
