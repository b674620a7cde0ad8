"""Batches of quads of one kind, drawn in one call. Quads that share a pixel keep their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import moderngl

from gpu_renderer.geometry.region import Region, meets
from gpu_renderer.opengl.painter import INSTANCE_BYTES, Blend, Instances, Painter
from gpu_renderer.opengl.programs import Layout, UniformValue
from gpu_renderer.opengl.targets import Target

_PLACED: Layout = (("i_upper", 4), ("i_lower", 4), ("u_to_unit", 9), ("u_opacity", 1), ("u_color", 4))
SHAPES: Layout = (*_PLACED, ("u_size", 2), ("u_radius", 1), ("u_hard", 1))
PICTURES: Layout = (*_PLACED, ("u_crop", 4))
LOOKED_BACK = 4
"""Number of waiting kinds that a new quad is compared with. Comparing more costs more than the saved calls."""
_COUNT_MAX = INSTANCE_BYTES // (4 * sum(count for _, count in SHAPES))


class Kind(NamedTuple):
    """Properties that the quads of one call share."""

    into: Target
    layout: Layout
    defines: Mapping[str, object]
    textures: Mapping[str, Target | moderngl.Texture]
    blend: Blend
    uniforms: Mapping[str, UniformValue]


@dataclass(slots=True)
class _Waiting:
    """Quads of one kind, packed, and the regions that they touch."""

    kind: Kind
    instances: list[bytes] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)


class Batch:
    """Quads that wait to be drawn with later ones. Flush the batch before changing anything that its quads read."""

    def __init__(self, painter: Painter) -> None:
        self._painter = painter
        self._waiting: list[_Waiting] = []

    def add(self, kind: Kind, instances: Sequence[bytes], region: Region) -> None:
        """Add quads that touch no pixel outside a region, as 32-bit floats in the kind's layout."""
        found = self._of_kind(kind, region)
        if found is None:
            found = _Waiting(kind)
            self._waiting.append(found)
        found.instances += instances
        found.regions.append(region)

    def flush(self) -> None:
        """Draw all waiting quads."""
        waiting, self._waiting = self._waiting, []
        for quads in waiting:
            for first in range(0, len(quads.instances), _COUNT_MAX):
                self._draw(quads.kind, quads.instances[first : first + _COUNT_MAX])

    def _of_kind(self, kind: Kind, region: Region) -> _Waiting | None:
        """Return the waiting quads of a kind, or None if quads to be drawn after them touch the region."""
        later: list[_Waiting] = []
        for found in reversed(self._waiting[-LOOKED_BACK:]):
            if found.kind == kind:
                return None if any(meets(other.regions, region) for other in later) else found
            later.append(found)
        return None

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
