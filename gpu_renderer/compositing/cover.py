"""A lowest layer that hides all below it and is shown as it is: its pixels are the picture's."""

from __future__ import annotations

import moderngl

from gpu_renderer.area import area
from gpu_renderer.compositing import quads, reach
from gpu_renderer.compositing.inks import Inks, has_passes
from gpu_renderer.compositing.quads import Picture
from gpu_renderer.graph import Draw, RenderGraph
from gpu_renderer.region import Parts, pixels, shared

COVERED_SHARE_MAX = 0.6
"""Where other layers touch more of the frame than this, copying the picture under them is not worth while."""


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


def touched(graph: RenderGraph, inks: Inks, parts: Parts) -> Parts | None:
    """Where layers above the lowest one touch the parts; None where that is most of them."""
    regions = (reach.of_step(step, graph.scene, inks) for step in graph.steps[1:])
    found = tuple(piece for region in area(graph.scene.frame, regions).parts() for piece in shared(parts, region))
    return found if pixels(found) <= COVERED_SHARE_MAX * pixels(parts) else None


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
