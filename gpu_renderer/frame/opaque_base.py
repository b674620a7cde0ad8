"""A lowest layer that hides all below it and is shown as it is: its pixels, or a video's own samples, are the picture's."""

from __future__ import annotations

from typing import NamedTuple

import moderngl

from gpu_renderer.backends.gl.layer_contents import Inks, has_passes, part_shown
from gpu_renderer.content.media.video_frame import DecodedFrame
from gpu_renderer.content.raster import Share
from gpu_renderer.content.source import ContentSource
from gpu_renderer.display_list import bounds
from gpu_renderer.display_list.graph import Draw, RenderGraph, Scene
from gpu_renderer.display_list.paint import PLAIN, Picture, is_one_to_one
from gpu_renderer.geometry import matrix, placement
from gpu_renderer.geometry.damage import area
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.geometry.region import Parts, Region, pixels, shared
from motion.snapshot import VideoSource

COVERED_SHARE_MAX = 0.6
"""Where other layers touch more of the frame than this, copying the picture under them is not worth while."""


def covering_picture(graph: RenderGraph, inks: Inks) -> moderngl.Texture | None:
    """The texture of a lowest layer that shows its opaque pixels one to one over the whole frame, untouched.

    Such pixels come out of the linear scene as they went in: half floats hold each of the 256 values apart.
    """
    scene = graph.scene
    step = _lowest(graph)
    ink = None if step is None else inks.ink(step, scene)
    if step is None or not isinstance(ink, Picture) or not ink.is_opaque or inks.look(step, scene) != PLAIN:
        return None
    quad = step.placement.quad(ink.width, ink.height, ink.padding)
    covers = is_one_to_one(ink, quad) and placement.bounds(quad, scene.frame) == scene.frame
    return ink.texture if covers and ink.texture.size == scene.frame[2:] else None


class Covering(NamedTuple):
    """A lowest video layer that covers the frame, upright, and as it is."""

    shown: DecodedFrame
    quad: Matrix3
    crop: Share
    is_own_size: bool
    """Whether it covers the output pixel for pixel, and its samples are such as an encoder could take."""


def covering_footage(graph: RenderGraph, contents: ContentSource, inks: Inks) -> Covering | None:
    """The frame of a lowest video layer that hides all below it, if that is one frame as it was decoded."""
    step = _lowest(graph)
    if step is None or not isinstance(step.layer.source, VideoSource) or not step.is_bare:
        return None
    source, frame = step.layer.source, graph.scene.frame
    quad = step.placement.quad(source.width, source.height)
    if not _holds(quad, frame) or inks.look(step, graph.scene) != PLAIN:
        return None
    shown = contents.footage(source)
    if shown is None or not shown.is_opaque:
        return None
    is_exact = placement.pixel_aligned(quad) and (quad[0], quad[4]) == frame[2:]
    fits = is_exact and shown.size == frame[2:] and shown.has_samples
    return Covering(shown, quad, part_shown(source, *shown.upright_size), fits)


def _holds(quad: Matrix3, frame: Region) -> bool:
    """Whether an upright quad holds every sample of every pixel of the frame."""
    width, turned, left, leaning, height, top, *_ = quad
    is_upright = matrix.is_affine(quad) and not (turned or leaning) and width > 0 and height > 0
    reaches = left <= frame.x and top <= frame.y and left + width >= frame.right and top + height >= frame.bottom
    return is_upright and (reaches or (placement.pixel_aligned(quad) and placement.bounds(quad, frame) == frame))


def layers_above(graph: RenderGraph, inks: Inks) -> Parts:
    """What layers above the lowest one may touch, but for regions within the one before; they may overlap."""
    found: list[Region] = []
    for step in graph.steps[1:]:
        region = bounds.of_step(step, graph.scene, inks)
        if not region.is_empty and not (found and region.intersection(found[-1]) == region):
            found.append(region)
    return tuple(found)


def touched(graph: RenderGraph, inks: Inks, parts: Parts) -> Parts | None:
    """Where layers above the lowest one touch the parts; None where that is most of them."""
    regions = area(graph.scene.frame, layers_above(graph, inks)).parts()
    found = tuple(piece for region in regions for piece in shared(parts, region))
    return found if pixels(found) <= COVERED_SHARE_MAX * pixels(parts) else None


def _lowest(graph: RenderGraph) -> Draw | None:
    """The lowest layer, where it is shown as it is in a frame that keeps colours as they are."""
    scene, step = graph.scene, graph.steps[0] if graph.steps else None
    is_kept = scene.clip == scene.frame and _keeps_colours(scene)
    return step if is_kept and isinstance(step, Draw) and _is_plain(step) else None


def _keeps_colours(scene: Scene) -> bool:
    return scene.color.display_transform == "srgb" and scene.color.working_space == "srgb-linear"


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
