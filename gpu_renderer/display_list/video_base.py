"""Choice of a list's opaque video base: a lowest video layer that fills the frame, upright and unchanged."""

from __future__ import annotations

from gpu_renderer.display_list import bounds
from gpu_renderer.display_list.contents import LayerContents, has_passes, part_shown
from gpu_renderer.display_list.graph import Draw, RenderGraph, Scene
from gpu_renderer.display_list.operations import DisplayList, DrawVideo
from gpu_renderer.geometry import damage, matrix, placement
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.geometry.region import Rects, Region
from motion.snapshot import VideoSource

CONVERSION_MARGIN_PX = 8
"""Upper bound of the distance between a changed pixel and the samples that it changes, and back."""


def found(graph: RenderGraph, contents: LayerContents) -> DrawVideo | None:
    """Return the operation of the lowest layer if it is such a video and shows one decoded frame."""
    scene, step = graph.scene, graph.steps[0] if graph.steps else None
    if not isinstance(step, Draw) or not isinstance(step.layer.source, VideoSource) or not _is_unchanged(step, scene):
        return None
    source, frame = step.layer.source, scene.frame
    quad = step.placement.quad(source.width, source.height)
    if not _covers(quad, frame):
        return None
    shown = contents.source.footage(source)
    if shown is None or not shown.is_opaque:
        return None
    is_exact = placement.pixel_aligned(quad) and (quad[0], quad[4]) == frame[2:]
    is_own_size = is_exact and shown.size == frame[2:] and shown.has_samples
    layer = bounds.layer_of(step, scene, (source.width, source.height), None, None, None)
    return DrawVideo(layer, frame, shown, quad, part_shown(source, *shown.upright_size), is_own_size)


def layers_above(shown: DisplayList) -> Rects:
    """Return the bounds of the operations above the base, each without those inside the one before.

    They can overlap.
    """
    found: list[Region] = []
    for operation in shown.operations[1:]:
        region = operation.bounds
        if not region.is_empty and not (found and region.intersection(found[-1]) == region):
            found.append(region)
    return tuple(found)


def surroundings(frame: Region, above: Rects) -> Rects:
    """Return all pixels that the samples of the layers above the base depend on, as disjoint rectangles."""
    return damage.area(frame, (region.grown(CONVERSION_MARGIN_PX) for region in above)).rects()


def _covers(quad: Matrix3, frame: Region) -> bool:
    """Return True if an upright quad contains every sample of every pixel of the frame."""
    width, turned, left, leaning, height, top, *_ = quad
    is_upright = matrix.is_affine(quad) and not (turned or leaning) and width > 0 and height > 0
    is_around = left <= frame.x and top <= frame.y and left + width >= frame.right and top + height >= frame.bottom
    return is_upright and (is_around or (placement.pixel_aligned(quad) and placement.bounds(quad, frame) == frame))


def _is_unchanged(step: Draw, scene: Scene) -> bool:
    """Return True if the layer is shown without changes, in a frame that keeps colours."""
    keeps_colors = scene.color.display_transform == "srgb" and scene.color.working_space == "srgb-linear"
    is_whole = scene.clip == scene.frame and step.opacity == 1.0 and step.blend == "normal"
    return keeps_colors and is_whole and step.is_bare and not has_passes(step.layer)
