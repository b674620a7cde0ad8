"""Isolated groups (compositing.md 2.3, 2.4): effects in a group reach as far as in the frame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpu_renderer.display_list.compile import compiled
from gpu_renderer.display_list.graph import Draw
from gpu_renderer.frame.renderer import Optimisations
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import (
    AdjustmentSource,
    Camera,
    ColorManagement,
    CompositionSource,
    EffectSnapshot,
    Extrusion,
    LayerSnapshot,
    Light,
    Material,
    Matte,
    Sample,
    Snapshot,
    Transform2D,
    Transform3D,
)
from tests.gpu_renderer.drawing import at, drawn, rect, snapshot
from tests.gpu_renderer.test_space import camera, plane, world

pytestmark = pytest.mark.gl
MIDDLE = Transform2D(32, 24)
BLUR = EffectSnapshot("blur", "blur", (("amount", 5.0),))


def group(*layers: LayerSnapshot, size: tuple[int, int] = (64, 48), sealed: bool = True, **more: object) -> LayerSnapshot:  # fmt: skip
    """Return a group of this size, in px, in the middle of the frame."""
    inner = snapshot(*layers, width=size[0], height=size[1], background=None)
    return LayerSnapshot("group", "group", CompositionSource(inner, *size, sealed), MIDDLE, **more)  # type: ignore[arg-type]


def adjustment(effect: EffectSnapshot) -> LayerSnapshot:
    return LayerSnapshot("adjustment", "adjustment", AdjustmentSource(), Transform2D(0, 0), effects=(effect,))


def test_sharp_blocks_of_an_adjustment_layer_show_the_corner_of_the_frame(painter: Painter) -> None:
    """All blocks take the last one's centre, half a layer px from the inner corner of the frame's first pixel."""
    mosaic = EffectSnapshot("blocks", "mosaic", (("sharpColors", True),))
    layer = LayerSnapshot("grade", "grade", AdjustmentSource(64.0, 48.0), Transform2D(0, 0), effects=(mosaic,))
    bright = rect("#ffffff", 32.5, 23.5, 63, 47)  # everything except the left column and the bottom row
    picture = drawn(painter, snapshot(bright, layer, background="#000000"))
    share = (0.5 - 0.5 / 64) * (0.5 - 0.5 / 48)
    white = share * 0.844**2  # in the corner of an analytic shape, whose edges are softer than whole pixels
    assert at(picture, 40, 20)[0] == pytest.approx(255 * (1.055 * white ** (1 / 2.4) - 0.055), abs=4)


def test_an_adjustment_layer_blurs_a_group_as_far_as_it_blurs_the_frame(painter: Painter) -> None:
    square = rect("#ffffff", 32, 24, 16, 16)
    alone = drawn(painter, snapshot(square, adjustment(BLUR), background="#000000"))
    grouped = drawn(painter, snapshot(group(square, adjustment(BLUR)), background="#000000"))
    seen = alone[..., 0] > 40  # fainter tails vanish as a group is composited
    assert np.abs(grouped.astype(int) - alone)[seen].max() <= 2
    assert at(grouped, 17, 24)[0] > 40


def test_an_adjustment_layer_sees_what_lies_beyond_the_frame_of_its_composition(painter: Painter) -> None:
    beyond = rect("#ffffff", 45, 15, 30, 60)
    picture = drawn(painter, snapshot(group(beyond, adjustment(BLUR), size=(30, 30)), background="#000000"))
    assert at(picture, 46, 24)[0] == pytest.approx(181, abs=6)  # half a pixel from the blurred edge
    assert at(picture, 47, 24) == (0, 0, 0)


@pytest.mark.parametrize("sealed", [False, True])
def test_effects_put_what_a_group_shows_anywhere_in_its_box(painter: Painter, sealed: bool) -> None:
    mirror = EffectSnapshot("mirror", "mirror", ())
    left = rect("#ffffff", 12, 24, 12, 12)
    picture = drawn(painter, snapshot(group(left, sealed=sealed, effects=(mirror,)), background="#000000"))
    assert at(picture, 12, 24)[0] > 250
    assert at(picture, 51, 24)[0] > 250


@pytest.mark.parametrize("blend", ["normal", "screen"])
def test_a_layer_that_moves_fast_fades_with_its_group(painter: Painter, blend: str) -> None:
    swept = rect("#ffffff", 32, 24, 40, 40, blend=blend, samples=(Sample(MIDDLE, 1.0),) * 2)
    picture = drawn(painter, snapshot(group(swept, sealed=False, opacity=0.5), background="#000000"))
    assert at(picture, 32, 24) == (188, 188, 188)


def test_a_matte_that_moves_fast_counts_whole_however_faint_it_is(painter: Painter) -> None:
    source = rect("#ffffff", 32, 24, 40, 40, id="matte", opacity=0.5, samples=(Sample(MIDDLE, 0.5),) * 2)
    matted = rect("#ffffff", 32, 24, 40, 40, matte=Matte("alpha", False, "matte"))
    assert at(drawn(painter, snapshot(matted, source, background="#000000")), 32, 24) == (255, 255, 255)


PLAIN = EffectSnapshot("plain", "brightness", (("amount", 100.0),))
"""An effect that does not change a group but draws it into a buffer."""


def in_space() -> Snapshot:
    """Return a plane under a red light, out of focus of a camera to its side."""
    turned = (0.8, 0, 0.6, 32, 0, 1, 0, 24, -0.6, 0, 0.8, 20, 0, 0, 0, 1)
    place = Transform3D(turned, 0, 0, Transform2D(0, 0), Material(accepts_lights=True))
    view = (1, 0, 0, -20, 0, 1, 0, -24, 0, 0, 1, 80, 0, 0, 0, 1)
    eye = Camera(view, 80, (20, 24, -80), True, focus_distance=60, aperture=40, strength=3)
    light = Light("light", "ambient", "#ff0000", 0.5, (0, 0, 0), (0, 0, 1), 45, 0.5, 500, "none", 500, False, 1, 0)
    card = replace(rect("#ffffff", 0, 0, 30, 30), transform=place)
    return replace(snapshot(card, background="#000000"), camera=eye, lights=(light,))


@pytest.mark.parametrize("number", [1, 2])
def test_planes_of_a_group_and_those_around_it_hide_one_another_in_order(painter: Painter, number: int) -> None:
    """A 2D layer between 3D layers ends the group; groups never occlude each other by depth (three-d.md 4)."""

    def card(color: str, x: float, z: float) -> LayerSnapshot:
        return plane(color, world(x, 24, z), 30, 30, id=color)

    inner = [card("#0000ff", 32, 20.0), card("#00ffff", 60, 20.0)][:number]
    layers = card("#ff0000", 22, -20.0), group(*inner, sealed=False), card("#00ff00", 42, 40.0)
    picture = drawn(painter, replace(snapshot(*layers, background="#000000"), camera=camera(32, 24, -200, 200)))
    assert at(picture, 25, 24) == (0, 0, 255)
    assert at(picture, 38, 24) == (0, 255, 0)


@pytest.mark.parametrize("effects", [(), (PLAIN,)])
def test_a_group_is_in_the_light_and_under_the_camera_of_its_composition(
    painter: Painter, effects: tuple[EffectSnapshot, ...]
) -> None:
    scene = in_space()
    grouped = replace(scene, layers=(group(*scene.layers, sealed=False, effects=effects),))
    picture = drawn(painter, scene)
    assert picture[..., 0].max() > 150
    assert np.abs(drawn(painter, grouped).astype(int) - picture).max() <= 12  # tails below 1/255 vanish


@pytest.mark.parametrize("sealed", [False, True])
def test_a_group_is_drawn_in_the_working_space_of_the_document(painter: Painter, sealed: bool) -> None:
    square = rect("#ff8040", 32, 24, 30, 30)
    aces = ColorManagement(working_space="aces-cg")
    grouped = snapshot(group(square, sealed=sealed, effects=(PLAIN,)), background="#000000")
    expected = at(drawn(painter, replace(snapshot(square, background="#000000"), color=aces)), 32, 24)
    assert at(drawn(painter, replace(grouped, color=aces)), 32, 24) == expected


def test_a_group_dissolves_by_the_frame_of_its_composition(painter: Painter) -> None:
    faint = rect("#ffffff", 32, 24, 60, 40, blend="dancing-dissolve", opacity=0.5)
    scene = replace(snapshot(group(faint, sealed=False, effects=(PLAIN,)), background="#000000"), dissolve_seed=5)
    alone = replace(snapshot(faint, background="#000000"), dissolve_seed=5)
    assert np.array_equal(drawn(painter, scene)[10:40, 5:60], drawn(painter, alone)[10:40, 5:60])


@pytest.mark.parametrize("effects", [(), (PLAIN,)])
@pytest.mark.parametrize("inside", ["map", "cut", "both"])
def test_an_effect_may_read_a_layer_of_its_composition_from_within_a_group(
    painter: Painter, effects: tuple[EffectSnapshot, ...], inside: str
) -> None:
    matte = EffectSnapshot("matte", "set-matte", (("matteLayerId", "map"),))
    layers = [rect("#00ff00", 16, 24, 20, 40, id="map"), rect("#ff0000", 32, 24, 60, 20, id="cut", effects=(matte,))]
    grouped = [layer for layer in layers if inside in (layer.id, "both")]
    beside = [layer for layer in layers if layer not in grouped]
    shown = [group(*grouped, sealed=False, effects=effects), *beside]
    picture = drawn(painter, snapshot(*(shown if inside != "cut" else reversed(shown)), background="#000000"))
    assert at(picture, 16, 24) == (255, 0, 0)
    assert at(picture, 50, 24) == (0, 0, 0)


SET_MATTE = EffectSnapshot("m", "set-matte", (("matteLayerId", "group"),))


def test_a_group_that_an_effect_reads_as_a_map_is_drawn_whole(painter: Painter) -> None:
    left, right = rect("#ffffff", 16, 24, 8, 48, id="left"), rect("#ffffff", 48, 24, 8, 48, id="right")
    cut = rect("#ff0000", 32, 24, 64, 48, id="cut", effects=(SET_MATTE,))
    picture = drawn(painter, snapshot(group(left, right, sealed=False), cut, background="#000000"))
    assert [tuple(at(picture, x, 24)[:3]) for x in (16, 32, 48)] == [(255, 0, 0), (0, 0, 0), (255, 0, 0)]


@pytest.mark.parametrize(
    ("blend", "effects"),
    [("normal", ()), ("screen", ()), ("normal", (BLUR,))],
    ids=["spliced", "blended", "blurred"],
)
def test_an_effect_that_reads_the_group_around_its_layer_ends(
    painter: Painter, blend: str, effects: tuple[EffectSnapshot, ...]
) -> None:
    """Inside the map, the effect has no map of its own and does nothing."""
    inner = rect("#ffffff", 32, 24, 20, 20, id="inner", effects=(SET_MATTE,))
    other = rect("#ff0000", 10, 24, 8, 8, id="other")
    around = group(inner, other, sealed=False, blend=blend, effects=effects)
    picture = drawn(painter, snapshot(around, background="#000000"))
    assert at(picture, 32, 24)[1] > 200
    assert at(picture, 10, 24)[0] > 60


def test_groups_whose_layers_read_one_another_are_drawn(painter: Painter) -> None:
    names = [f"group {index}" for index in range(12)]
    stack = tuple(EffectSnapshot(name, "set-matte", (("matteLayerId", name),)) for name in names)
    layers = [
        replace(group(rect("#ffffff", 32, 24, 20, 20, id=f"in {name}", effects=stack), sealed=False), id=name)
        for name in names
    ]
    picture = drawn(painter, snapshot(*layers, background="#000000"))
    assert at(picture, 32, 24)[0] == 255


def test_a_body_that_an_effect_reads_as_a_map_shows_its_front(painter: Painter) -> None:
    turned = Transform3D(world(32, 24, 0), 0, 0, MIDDLE, extrusion=Extrusion(20, 0, back_fill="#000000"))
    body = rect("#ffffff", 0, 0, 40, 40, id="group", transform=turned)
    luma = replace(SET_MATTE, stored=(*SET_MATTE.stored, ("useLuminance", True)))
    cut = rect("#ff0000", 32, 24, 64, 48, id="cut", effects=(luma,))
    assert tuple(at(drawn(painter, snapshot(body, cut, background="#000000")), 32, 24)[:3]) == (255, 0, 0)


@pytest.mark.parametrize("native_kernels", [True, False])
def test_the_edge_of_a_turned_composition_is_as_hard_as_that_of_a_buffer(
    painter: Painter, native_kernels: bool
) -> None:
    """Its crop has one sample a pixel, where a layer drawn straight into the frame has four (compositing.md 9)."""
    turned = replace(MIDDLE, rotation=10.0)
    placed = replace(group(rect("#ffffff", 20, 15, 200, 200), size=(40, 30)), transform=turned)
    layer = rect("#ffffff", 32, 24, 40, 30, transform=turned)
    flags = Optimisations(native_kernels=native_kernels)
    hard, soft = (
        drawn(painter, snapshot(shown, background="#000000"), options=flags)[..., 0] for shown in (placed, layer)
    )
    assert set(np.unique(hard)) == {0, 255}
    assert len(np.unique(soft)) > 3
    assert np.count_nonzero(hard) == pytest.approx(40 * 30, rel=0.02)


@pytest.mark.parametrize("native_kernels", [True, False])
def test_a_composition_that_is_placed_larger_casts_shadows_no_farther(painter: Painter, native_kernels: bool) -> None:
    """The offset of a shadow follows the scale of the output, not that of the composition around it (compositing.md 1.6)."""
    stored = (("distance", 9.0), ("angle", 0.0), ("softness", 1.0), ("color", "#ffffff"), ("opacity", 100.0))
    shadow = EffectSnapshot("shadow", "drop-shadow", stored)
    placed = replace(group(rect("#ff0000", 32, 24, 16, 12, effects=(shadow,))), transform=Transform2D(32, 24, 0, 2, 2))
    flags = Optimisations(native_kernels=native_kernels)
    nested, alone = (
        drawn(painter, snapshot(shown, background="#000000"), options=flags)[..., 1].astype(int)
        for shown in (placed, rect("#ff0000", 32, 24, 32, 24, effects=(shadow,)))
    )
    assert alone.max() > 200
    assert np.abs(nested - alone).max() <= 40  # faint tails vanish as a group is composited


@pytest.mark.parametrize(("own", "placed", "wanted"), [(1.0, 3.0, 1.0), (3.0, 0.5, 3.0)])
def test_the_raster_of_a_layer_follows_its_own_scale_and_not_that_of_its_composition(
    own: float, placed: float, wanted: float
) -> None:
    inner = rect("#ffffff", 32, 24, 16, 12, transform=Transform2D(32, 24, 0, own, own))
    layer = replace(group(inner), transform=Transform2D(32, 24, 0, placed, placed))
    (step,) = compiled(snapshot(layer), 64, 48, lambda source: (16.0, 12.0)).steps
    assert isinstance(step, Draw)
    assert step.group is not None
    assert [child.raster_scale for child in step.group.steps if isinstance(child, Draw)] == [wanted]
