"""What the layers that move are drawn over: the bottom of a graph kept as one texture, or a picture that hides all below it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import moderngl

from gpu_renderer.compositing import quads, reach
from gpu_renderer.compositing.inks import Inks, has_passes
from gpu_renderer.compositing.quads import Picture
from gpu_renderer.graph import Draw, RenderGraph
from gpu_renderer.painter import Painter
from gpu_renderer.region import Region
from gpu_renderer.targets import Format, Target

DrawPart = Callable[[RenderGraph, Target, Region], None]
COVERED_SHARE_MAX = 0.6
"""Where other layers touch more of the frame than this, copying the picture under them is not worth while."""


@dataclass(frozen=True, slots=True)
class _Kept:
    bottom: RenderGraph
    target: Target


class StaticBase:
    """The steps at the bottom that stay the same, drawn once. Made when they have stayed for three frames."""

    def __init__(self, painter: Painter) -> None:
        self._painter = painter
        self._kept: _Kept | None = None
        self._candidate: RenderGraph | None = None

    @property
    def count(self) -> int:
        """Targets on loan."""
        return 0 if self._kept is None else 1

    def watch(self, old: RenderGraph, new: RenderGraph, format: Format, draw: DrawPart) -> None:
        """Learns from two frames in a row; draws the base where it has become worth keeping."""
        if self._kept is not None and (_above(self._kept, new) is not None and self._kept.target.format == format):
            return
        self.release()
        count = reach.common_bottom(old, new)
        bottom = replace(new, steps=new.steps[:count]) if count >= 0 else None
        is_worth = bottom is not None and (bottom.background_paint is not None or count > 0)
        if is_worth and bottom == self._candidate:
            assert bottom is not None, "a worthy bottom is one"
            target = self._painter.pool.take(new.scene.frame, format)
            draw(bottom, target, new.scene.frame)
            self._kept = _Kept(bottom, target)
        self._candidate = bottom if is_worth else None

    def draw(self, graph: RenderGraph, into: Target, part: Region) -> RenderGraph | None:
        """Copies the base into a part; returns what is still to be drawn over it, None where there is no base."""
        rest = None if self._kept is None else _above(self._kept, graph)
        if rest is None or self._kept is None:
            return None
        self._painter.draw("copy.frag", into, textures={"u_source": self._kept.target}, scissor=part)
        return rest

    def release(self) -> None:
        """Gives the target back."""
        if self._kept is not None:
            self._painter.pool.give_back(self._kept.target)
        self._kept = None


def _above(kept: _Kept, graph: RenderGraph) -> RenderGraph | None:
    """The graph without the steps that the base holds; None where it does not begin with them."""
    count = len(kept.bottom.steps)
    if graph.steps[:count] != kept.bottom.steps or replace(graph, steps=kept.bottom.steps) != kept.bottom:
        return None
    return replace(graph, steps=graph.steps[count:], background=None, background_paint=None)


def covering_picture(graph: RenderGraph, inks: Inks) -> moderngl.Texture | None:
    """The texture of a lowest layer that shows its opaque pixels one to one over the whole frame, untouched.

    Such pixels come out of the linear scene as they went in: half floats hold each of the 256 values apart.
    """
    scene = graph.scene
    step = graph.steps[0] if graph.steps else None
    if not isinstance(step, Draw) or not _is_plain(step) or scene.clip != scene.frame:
        return None
    if scene.color.display_transform != "srgb" or scene.color.working_space != "srgb-linear":
        return None
    ink = inks.ink(step, scene)
    if not isinstance(ink, Picture) or not ink.is_opaque or inks.look(step, scene) != quads.PLAIN:
        return None
    quad = step.placement.quad(ink.width, ink.height, ink.padding)
    frame = scene.frame
    covers = quads.is_one_to_one(ink, quad) and (round(quad[2]), round(quad[5])) == (frame.x, frame.y)
    return ink.texture if covers and ink.texture.size == (frame.width, frame.height) else None


def touched(graph: RenderGraph, inks: Inks, part: Region) -> tuple[Region, ...] | None:
    """Where layers above the lowest one touch a part; None where that is most of it."""
    regions = [reach.of_step(step, graph.scene, inks).intersection(part) for step in graph.steps[1:]]
    found = reach.apart(regions)
    share = sum(region.width * region.height for region in found) / max(1, part.width * part.height)
    return found if share <= COVERED_SHARE_MAX else None


def _is_plain(step: Draw) -> bool:
    layer = step.layer
    return (
        step.opacity == 1.0
        and step.blend == "normal"
        and step.group is None
        and step.matte is None
        and step.plane is None
        and not step.samples
        and not has_passes(layer)
        and not layer.preserve_transparency
        and layer.glass is None
        and layer.backdrop_blur == 0
    )
