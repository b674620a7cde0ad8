"""Content that stays the same object from frame to frame."""

from __future__ import annotations

import math

from gpu_renderer.content.contents import Contents
from gpu_renderer.display_list.compile import compiled
from gpu_renderer.display_list.layer_contents import LayerContents
from gpu_renderer.display_list.lower import lowered
from gpu_renderer.display_list.operations import DrawQuad
from gpu_renderer.display_list.paint import Image, Paint
from motion.snapshot import GradientStop, LayerSnapshot, LinearGradient, ShapeSource, Snapshot, Source, Transform2D
from tests.gpu_renderer.drawing import Pictures
from tests.gpu_renderer.fonts import reference_fonts, text


def paints(source: Source, *transforms: Transform2D) -> list[Paint | None]:
    """Return the paint of a layer in successive frames."""
    rasters = Contents(reference_fonts(), Pictures())
    contents, found = LayerContents(rasters), []
    for transform in transforms:
        layer = LayerSnapshot("layer", "Layer", source, transform)
        (operation,) = lowered(compiled(Snapshot(200, 100, (layer,)), 200, 100, rasters.box), contents).operations
        contents.end_frame()
        assert isinstance(operation, DrawQuad)
        found.append(operation.layer.paint)
    return found


def test_a_text_that_changes_between_two_rasters_keeps_both() -> None:
    """The scale of a turning layer is 1 in some frames and a rounding error above 1 in others."""
    one, more = (Transform2D(100, 50, 30, scale, scale) for scale in (1.0, math.nextafter(1.0, 2.0)))
    coarse, fine, *later = paints(text("HELLO"), one, more, one, more)
    assert coarse != fine
    assert later[0] is coarse
    assert later[1] is fine


def test_a_rounded_gradient_that_begins_to_turn_is_drawn_as_if_it_had_always_turned() -> None:
    """The frames before must not decide: a segment can begin at any frame."""
    stops = GradientStop(0.0, "#ff0000"), GradientStop(1.0, "#0000ff")
    source = ShapeSource("rect", 80, 60, (LinearGradient(90.0, stops),), radii=(10.0,) * 4)
    level, turned = Transform2D(100, 50), Transform2D(100, 50, 30)
    assert isinstance(paints(source, turned)[0], Image)
    assert isinstance(paints(source, level, turned)[1], Image)
    assert not isinstance(paints(source, turned, level)[1], Image)
