"""Content that stays the same object from frame to frame."""

from __future__ import annotations

import math
from dataclasses import replace

from gpu_renderer.content.contents import Contents
from gpu_renderer.display_list.compile import compiled
from gpu_renderer.display_list.layer_contents import LayerContents
from gpu_renderer.display_list.lower import lowered
from gpu_renderer.display_list.operations import DrawQuad, Operation
from gpu_renderer.display_list.paint import Image, Paint
from motion.snapshot import (
    CompositionSource,
    GradientStop,
    LayerSnapshot,
    LinearGradient,
    ShapeSource,
    Snapshot,
    Source,
    Transform2D,
)
from tests.gpu_renderer.drawing import Pictures
from tests.gpu_renderer.fonts import reference_fonts, text


def paints(source: Source, *transforms: Transform2D) -> list[Paint | None]:
    """Return the paint of a layer in successive frames."""
    rasters = Contents(reference_fonts(), Pictures())
    contents, found = LayerContents(rasters), []
    for transform in transforms:
        layer = LayerSnapshot("layer", "Layer", source, transform)
        (operation,) = lowered(
            compiled(Snapshot(200, 100, (layer,)), 200, 100, rasters.box, records=contents.records), contents
        ).operations
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
    source = ShapeSource("rect", 800, 600, (LinearGradient(90.0, stops),), radii=(10.0,) * 4)
    level, turned = Transform2D(100, 50), Transform2D(100, 50, 30)
    assert isinstance(paints(source, turned)[0], Image)
    assert isinstance(paints(source, level, turned)[1], Image)
    assert not isinstance(paints(source, turned, level)[1], Image)


def test_a_layer_that_stands_still_keeps_its_operation_while_others_move_and_no_longer() -> None:
    rasters = Contents(reference_fonts(), Pictures())
    contents = LayerContents(rasters)
    still = LayerSnapshot("still", "Still", text("HELLO"), Transform2D(100, 50))

    def shown(width: int, x: float, *, opacity: float = 1.0, layer: LayerSnapshot = still) -> Operation:
        """Return the operation of the layer in the next frame, in a group that is drawn into the composition."""
        moving = LayerSnapshot("moving", "Moving", text("A"), Transform2D(x, 50))
        group = CompositionSource(Snapshot(200, 100, (layer,)), 200, 100, sealed=False)
        around = LayerSnapshot("group", "Group", group, Transform2D(100, 50), opacity=opacity)
        graph = compiled(Snapshot(200, 100, (moving, around)), width, 100, rasters.box, known=contents.steps)
        _, found = lowered(graph, contents).operations
        contents.end_frame()
        return found

    first = shown(200, 20)
    assert shown(200, 30) is first
    assert shown(200, 40, opacity=0.5) != first
    assert shown(100, 40) != first
    assert shown(200, 40, layer=replace(still, opacity=0.5)) != first
    assert shown(200, 40) == first
