"""The composition's background: what it covers, and whether anything shows through it (format/compositing.md 1.6)."""

from __future__ import annotations

from gpu_renderer.display_list.operations import DisplayList
from gpu_renderer.geometry import color, matrix, placement
from gpu_renderer.geometry.color import Rgba
from gpu_renderer.geometry.region import Region


def fills(shown: DisplayList, frame: Region) -> bool:
    """Whether the background colour replaces everything that a target over the frame held before."""
    scene = shown.scene
    quad = matrix.product(scene.view, matrix.scaling(scene.width, scene.height))
    is_whole = placement.pixel_aligned(quad) and scene.clip == frame == placement.bounds(quad, frame)
    return shown.background is not None and is_whole


def hides_all(shown: DisplayList, frame: Region) -> bool:
    """Whether it is opaque as well."""
    return fills(shown, frame) and color.parse(shown.background or "").a == 1.0


def color_of(shown: DisplayList) -> Rgba | None:
    """The linear premultiplied colour under all operations, if it is one."""
    if shown.background is None or shown.background_paint is not None:
        return None
    r, g, b, a = color.linear(color.parse(shown.background), aces_cg=shown.scene.color.working_space == "aces-cg")
    return Rgba(r * a, g * a, b * a, a)
