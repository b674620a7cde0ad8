"""Background of a composition: its extent and its opacity (format/compositing.md 1.6)."""

from __future__ import annotations

from gpu_renderer.display_list.operations import DisplayList
from gpu_renderer.geometry import color, matrix, placement
from gpu_renderer.geometry.color import Rgba
from gpu_renderer.geometry.region import Region


def fills(shown: DisplayList, frame: Region) -> bool:
    """Return True if the background colour replaces the former content of the whole target."""
    scene = shown.scene
    quad = matrix.product(scene.view, matrix.scaling(scene.width, scene.height))
    is_whole = placement.pixel_aligned(quad) and scene.clip == frame == placement.bounds(quad, frame)
    return shown.background is not None and is_whole


def hides_all(shown: DisplayList, frame: Region) -> bool:
    """Return True if the background colour fills the target and is opaque."""
    return fills(shown, frame) and color.parse(shown.background or "").alpha == 1.0


def color_of(shown: DisplayList) -> Rgba | None:
    """Return the linear premultiplied background colour, or None if the background is not one colour."""
    if shown.background is None or shown.background_paint is not None:
        return None
    r, g, b, a = color.linear(color.parse(shown.background), aces_cg=shown.scene.color.working_space == "aces-cg")
    return Rgba(r * a, g * a, b * a, a)
