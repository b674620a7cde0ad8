"""Layers that move together are one operation, whose rows have the numbers of each layer's own operation."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_renderer.backends.gl.quads import sampled_on
from gpu_renderer.content.contents import Contents
from gpu_renderer.display_list.changes import changed
from gpu_renderer.display_list.compile import compiled
from gpu_renderer.display_list.layer_contents import LayerContents
from gpu_renderer.display_list.lower import lowered
from gpu_renderer.display_list.moved import RUN_MIN
from gpu_renderer.display_list.operations import DisplayList, DrawMoved
from gpu_renderer.frame.renderer import FrameRenderer, Optimisations
from gpu_renderer.geometry import matrix
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import (
    GradientStop,
    LayerSnapshot,
    LinearGradient,
    ShapeSource,
    Snapshot,
    SolidPaint,
    Source,
    Transform2D,
)
from tests.gpu_renderer.drawing import Pictures
from tests.gpu_renderer.fonts import reference_fonts, text

WIDTH, HEIGHT = 200, 100
RED = (SolidPaint("#ff0000"),)
FADE = (LinearGradient(30.0, (GradientStop(0.0, "#ff8000"), GradientStop(1.0, "#0000ff"))),)
SOURCES: tuple[Source, ...] = (
    ShapeSource("rect", 40, 20, RED),
    ShapeSource("ellipse", 30, 30, (SolidPaint("#00ff0080"),)),
    text("HELLO"),
    ShapeSource("rect", 30, 24, FADE, radii=(6.0,) * 4),
    ShapeSource("rect", 16, 16, RED, radii=(4.0,) * 4),
)
numbers = st.one_of(st.sampled_from((0.0, 0.5, 40.0, 90.0)), st.floats(-120, 320, width=32))
angles = st.one_of(st.sampled_from((0.0, 90.0, -180.0)), st.floats(-400, 400))
scales = st.one_of(st.sampled_from((0.0, 1.0, -1.0, math.nextafter(1.0, 2.0))), st.floats(-3, 3))
transforms = st.builds(
    Transform2D, numbers, numbers, angles, scales, scales, st.sampled_from((0.0, 20.0)), angles, numbers
)


class Frames:
    """Display lists of the frames of one composition."""

    def __init__(self) -> None:
        self._rasters = Contents(reference_fonts(), Pictures())
        self._contents = LayerContents(self._rasters)

    def next(self, *layers: LayerSnapshot) -> DisplayList:
        """Return the list of the next frame."""
        shown = Snapshot(WIDTH, HEIGHT, layers, "#000000")
        graph = compiled(shown, WIDTH, HEIGHT, self._rasters.box, records=self._contents.records)
        found = lowered(graph, self._contents)
        self._contents.end_frame()
        return found


def moving(places: tuple[Transform2D, ...], opacity: float = 0.5) -> list[LayerSnapshot]:
    """Return a layer for each place."""
    sources = [SOURCES[index % len(SOURCES)] for index in range(len(places))]
    pairs = enumerate(zip(sources, places, strict=True))
    return [LayerSnapshot(f"l{index}", "L", source, place, opacity) for index, (source, place) in pairs]


def at(*places: tuple[float, float]) -> tuple[Transform2D, ...]:
    return tuple(Transform2D(x, y) for x, y in places)


@pytest.mark.thorough
@settings(max_examples=40, deadline=None)
@given(st.lists(transforms, min_size=RUN_MIN, max_size=RUN_MIN + 4))
def test_rows_have_the_numbers_of_single_operations(places: list[Transform2D]) -> None:
    frames, shown = Frames(), (*places, *at(*[(50, 50)] * len(SOURCES)))
    frames.next(*moving(at(*[(50, 50)] * len(shown))))
    operations = frames.next(*moving(shown)).operations
    moved = [operation for operation in operations if isinstance(operation, DrawMoved)]
    assert len(moved) == len(operations)
    for one in moved:
        singles = [single for single in one.quads() if not single.layer.content_bounds.is_empty]
        assert [single.bounds for single in singles] == list(one.regions)
        for row, single in enumerate(singles):
            placed, paint, rows = single.layer.placed, single.layer.paint, one.rows
            assert placed is not None
            assert paint is not None
            sampled = sampled_on(paint, placed.quad, single.layer.scene.clip, is_smooth=True, known=placed)
            assert sampled is not None
            assert tuple(rows.to_unit[:, row]) == matrix.folded_columns(placed.quad, placed.to_unit)
            assert rows.samples[row] == sampled.samples
            assert rows.is_one_to_one[row] == (sampled.shown is not paint)
            left, top, right, bottom = rows.touched[:, row].tolist()
            assert (left, top, right - left, bottom - top) == tuple(placed.touched)


def test_only_the_layers_of_an_operation_that_moved_are_damaged() -> None:
    frames, start = Frames(), (*[(20, 20)] * (RUN_MIN - 1), (180, 20))
    frames.next(*moving(at(*start)))
    before = frames.next(*moving(at(*start)))
    after = frames.next(*moving(at(*start[:-1], (180, 60))))
    assert [type(operation) for operation in (*before.operations, *after.operations)] == [DrawMoved] * 2
    damaged = changed(before, after).bounds
    assert damaged.x > 140
    assert damaged.bottom > 60
    assert changed(after, frames.next(*moving(at(*start[:-1], (180, 60))))).is_empty
    assert not changed(after, frames.next(*moving(at(*start[:-1], (180, 60)), opacity=0.6))).is_empty


def test_pixels_between_moved_layers_stay_those_of_a_video_below() -> None:
    frames, start = Frames(), tuple((10 * index, 20 + 40 * (index % 2)) for index in range(RUN_MIN))
    still = LayerSnapshot("still", "Still", SOURCES[0], Transform2D(5, 5))
    frames.next(still, *moving(at(*start)))
    found = frames.next(still, *moving(at(*start))).above_base
    assert len(found) == len(start)


@pytest.mark.gl
@pytest.mark.parametrize("native_kernels", [True, False])
def test_frames_of_moved_layers_equal_frames_drawn_alone(painter: Painter, native_kernels: bool) -> None:
    """Layers come, go, stand still, turn and lie below a blend; each frame is also drawn by a renderer of its own."""
    still = LayerSnapshot("still", "Still", SOURCES[0], Transform2D(100, 50))
    blended = LayerSnapshot("blend", "Blend", SOURCES[3], Transform2D(90, 60, 20), blend="multiply")

    def snapshot(frame: int) -> Snapshot:
        places = tuple(
            Transform2D(20 + 5 * index + 3.3 * frame, 30 + index, 7.0 * frame * (index % 3), 1 + 0.1 * (index % 2))
            for index in range(2 * RUN_MIN)
        )
        layers = moving(places, opacity=0.4 + 0.1 * frame)
        shown = [still, *layers[: len(layers) - frame % 3]]
        if frame >= 3:
            shown = [*shown, replace(blended, transform=Transform2D(90, 60, 4.0 * frame))]
        return Snapshot(WIDTH, HEIGHT, tuple(shown), "#202020")

    def renderer() -> FrameRenderer:
        options = Optimisations(native_kernels=native_kernels)
        return FrameRenderer(painter, Contents(reference_fonts(), Pictures()), options)

    in_turn = renderer()
    for frame in range(6):
        shown = np.array(in_turn.draw(snapshot(frame), WIDTH, HEIGHT).frame.read())
        alone = renderer()
        assert np.array_equal(shown, np.array(alone.draw(snapshot(frame), WIDTH, HEIGHT).frame.read()))
        alone.release()
    in_turn.release()
