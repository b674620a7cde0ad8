"""Quads of one kind that follow each other, drawn in one call, in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import moderngl

from gpu_renderer.painter import INSTANCE_BYTES, Blend, Instances, Painter
from gpu_renderer.programs import Layout, UniformValue
from gpu_renderer.targets import Target

_PLACED: Layout = (("i_upper", 4), ("i_lower", 4), ("u_to_unit", 9), ("u_opacity", 1), ("u_color", 4))
SHAPES: Layout = (*_PLACED, ("u_size", 2), ("u_radius", 1), ("u_hard", 1))
PICTURES: Layout = (*_PLACED, ("u_crop", 4))
_COUNT_MAX = INSTANCE_BYTES // (4 * sum(count for _, count in SHAPES))


class Kind(NamedTuple):
    """What the quads of a call have in common."""

    into: Target
    layout: Layout
    defines: Mapping[str, object]
    textures: Mapping[str, Target | moderngl.Texture]
    blend: Blend
    uniforms: Mapping[str, UniformValue]


class Batch:
    """Quads that wait to be drawn with the next ones; whoever adds some flushes before what they read is changed."""

    def __init__(self, painter: Painter) -> None:
        self._painter = painter
        self._kind: Kind | None = None
        self._waiting: list[bytes] = []

    def add(self, kind: Kind, instances: Sequence[bytes]) -> None:
        """Adds quads, as 32-bit floats by the kind's layout; those of another kind are drawn first."""
        if kind != self._kind or len(self._waiting) + len(instances) > _COUNT_MAX:
            self.flush()
            self._kind = kind
        self._waiting += instances

    def flush(self) -> None:
        """Draws what waits."""
        kind, waiting = self._kind, self._waiting
        self._kind, self._waiting = None, []
        if kind is None:
            return
        while waiting:
            self._draw(kind, waiting[:_COUNT_MAX])
            waiting = waiting[_COUNT_MAX:]

    def _draw(self, kind: Kind, instances: list[bytes]) -> None:
        self._painter.draw(
            "compositing/quad.frag",
            kind.into,
            textures=kind.textures,
            blend=kind.blend,
            defines=kind.defines,
            vertex="compositing/quads.vert",
            instances=Instances(kind.layout, b"".join(instances), len(instances)),
            uniforms=kind.uniforms,
        )
