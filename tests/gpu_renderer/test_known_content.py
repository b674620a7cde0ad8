"""Content that stays the same object from frame to frame."""

from __future__ import annotations

import math

from gpu_renderer.content.contents import Contents
from gpu_renderer.display_list.compile import compiled
from gpu_renderer.display_list.contents import LayerContents
from gpu_renderer.display_list.lower import lowered
from gpu_renderer.display_list.operations import DrawQuad
from gpu_renderer.display_list.paint import Paint
from motion.snapshot import LayerSnapshot, Snapshot, Transform2D
from tests.gpu_renderer.drawing import Pictures
from tests.gpu_renderer.fonts import reference_fonts, text


def test_a_text_that_changes_between_two_rasters_keeps_both() -> None:
    """The scale of a turning layer is 1 in some frames and a rounding error above 1 in others."""
    rasters, source = Contents(reference_fonts(), Pictures()), text("HELLO")
    contents = LayerContents(rasters)

    def paint(scale: float) -> Paint | None:
        layer = LayerSnapshot("words", "Words", source, Transform2D(100, 50, 30, scale, scale))
        graph = compiled(Snapshot(200, 100, (layer,)), 200, 100, rasters.box)
        (operation,) = lowered(graph, contents).operations
        contents.end_frame()
        assert isinstance(operation, DrawQuad)
        return operation.layer.paint

    coarse, fine, *later = (paint(scale) for scale in (1.0, math.nextafter(1.0, 2.0), 1.0, math.nextafter(1.0, 2.0)))
    assert coarse != fine
    assert later[0] is coarse
    assert later[1] is fine
