"""Light that travels with its layer: worked out once, in a place of its own, and shown wherever the layer goes.

What glows, shadows and wide blurs make of a layer has no detail: moved by a part of a pixel and enlarged in the same step,
it is the same picture. So it depends on the content alone, and every frame shows the same light, kept or not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from gpu_renderer import effects
from gpu_renderer.backends.gl import layers
from gpu_renderer.cache.targets import KeptTargets
from gpu_renderer.display_list.graph import Draw, Scene
from gpu_renderer.display_list.paint import Ink, Layered, Look, inked, quad_of
from gpu_renderer.effects import Box, EffectScene, Light
from gpu_renderer.geometry import matrix, placement
from gpu_renderer.geometry.placement import Placement
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import ColorManagement, LayerSnapshot, Transform2D

BYTES_MAX = 16 << 20
RIM_PX = 3
"""Transparent pixels around content: what blurs read beyond its edge."""
_HOME = Transform2D(0.0, 0.0)
_UNBOUNDED = Region(-(1 << 20), -(1 << 20), 1 << 21, 1 << 21)


class Shone(NamedTuple):
    """A layer's light where the layer stands, its target belonging to who keeps it."""

    light: Light
    is_alone: bool
    """Whether the light is all that shows of the layer."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """All that the light depends on: not on where the layer is."""

    layer: LayerSnapshot
    ink: Ink
    linear: tuple[float, float, float, float]
    opacity: float
    view_scale: float
    color: ColorManagement


class KeptLights:
    """Keeps the light of layers by their place in the tree of compositions."""

    def __init__(self, painter: Painter, *, keep: bool) -> None:
        self._painter = painter
        self._kept: KeptTargets[tuple[_Wanted, Shone]] = KeptTargets(painter.pool, BYTES_MAX if keep else 0)

    @property
    def count(self) -> int:
        """How many targets are held."""
        return self._kept.count

    def find(self, place: str, step: Draw, ink: Ink, look: Look, scene: Scene, *, split_edges: bool) -> Shone | None:
        """The light of a step that `travels`, until the end of the frame."""
        a, b, right, c, d, down, *_ = step.placement.matrix
        layer = replace(step.layer, transform=_HOME, opacity=1.0, matte=None, samples=(), ghosts=())
        wanted = _Wanted(layer, ink, (a, b, c, d), step.opacity, scene.view_scale, scene.color)
        kept = self._kept.find(place)
        if kept is not None and kept[0][0] == wanted:
            shone = kept[0][1]
        else:
            home = replace(step, placement=replace(step.placement, matrix=(a, b, 0.0, c, d, 0.0, 0.0, 0.0, 1.0)))
            shone = self._made(home, ink, look, scene, split_edges=split_edges)
            self._kept.put(place, (wanted, shone), shone.light.target)
        return shone._replace(light=shone.light.moved(right, down, scene.frame))

    def _made(self, home: Draw, ink: Ink, look: Look, scene: Scene, *, split_edges: bool) -> Shone:
        """The light of content whose origin lies in the frame's corner. The caller owns its target."""
        layer, baked = home.layer, effects.needs_baking(home.layer)
        target = self._painter.pool.take(_bounds(ink, home.placement).grown(RIM_PX).snapped(_UNBOUNDED))
        layers.content(self._painter, target, ink, home, look, split_edges=split_edges)
        where = EffectScene(
            _UNBOUNDED,
            Box(*placement.extent(quad_of(ink, home.placement))),
            ink.width,
            ink.height,
            output_scale=scene.view_scale,
        )
        lit = effects.lit_chain(self._painter, target, layer.effects, where, after_baking=baked)
        assert lit.light is not None, "soft effects make light"
        self._painter.pool.give_back(lit.sharp)
        return Shone(lit.light, lit.is_light_alone)

    def end_frame(self) -> None:
        """Gives back what is over the budget."""
        self._kept.trim()

    def clear(self) -> None:
        """Gives everything back."""
        self._kept.clear()


def travels(step: Draw, ink: Ink, scene: Scene) -> bool:
    """Whether a step's effects only make light, so soft that it can be moved, of content that no edge of the frame cuts."""
    placed, layer = step.placement, step.layer
    if step.samples or step.plane is not None or isinstance(ink, Layered):
        return False
    if not matrix.is_affine(placed.matrix) or not matrix.finite(placed.matrix):
        return False
    where = EffectScene(scene.frame, Box(0.0, 0.0, 1.0, 1.0), ink.width, ink.height, output_scale=scene.view_scale)
    if not effects.is_movable_light(layer.effects, where, after_baking=effects.needs_baking(layer)):
        return False
    held = _bounds(ink, placed).grown(RIM_PX)
    return not held.is_empty and held.intersection(scene.frame) == held


def _bounds(ink: Ink, placed: Placement) -> Region:
    """The pixels that content touches, within the frame or not."""
    return placement.bounds(inked(ink, quad_of(ink, placed)), _UNBOUNDED)
