"""Every optimisation flag keeps the pixels unchanged, and releases its targets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, replace

import numpy as np
import pytest

from gpu_renderer.frame.renderer import Optimisations
from gpu_renderer.geometry.region import pixels as pixel_count
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import (
    AdjustmentSource,
    CompositionSource,
    EffectSnapshot,
    LayerSnapshot,
    MaskPath,
    MaskPoint,
    Matte,
    Sample,
    Snapshot,
    Transform2D,
)
from tests.gpu_renderer.drawing import drawn, gradient, paper, pixels, rect, renderer, snapshot

pytestmark = pytest.mark.gl
SIZE = (320, 200)
NAMES = [field.name for field in fields(Optimisations)]
ALL_OFF = Optimisations(**dict.fromkeys(NAMES, False))
Scene = Callable[[int], Snapshot]
"""Function that returns the snapshot of a frame."""
BLUR = EffectSnapshot("b", "blur", (("amount", 5.0),))
SHADOW = EffectSnapshot("s", "drop-shadow", (("distance", 10.0), ("softness", 6.0)))


def only(flag: str) -> Optimisations:
    """Enable only one optimisation."""
    return replace(ALL_OFF, **{flag: True})


def assert_same_bytes(painter: Painter, scene: Scene, frames: Iterable[int], *optimised: Optimisations | None) -> None:
    """Draw frames in order, without optimisations and with each set of them. Assert equal pixels."""
    plain, others = renderer(painter, ALL_OFF), [renderer(painter, options) for options in optimised]
    for frame in frames:
        expected = pixels(plain.draw(scene(frame), *SIZE)).copy()
        for other in others:
            assert np.array_equal(pixels(other.draw(scene(frame), *SIZE)), expected), f"frame {frame}"
    for each in (plain, *others):
        each.release()


def assert_drawn_as_afresh(
    painter: Painter, scene: Scene, frames: Iterable[int], options: Optimisations | None = None
) -> None:
    """Draw frames in order with one renderer. Assert that each equals the frame of a new renderer."""
    kept = renderer(painter, options)
    for frame in frames:
        shown = pixels(kept.draw(scene(frame), *SIZE))
        assert np.array_equal(shown, drawn(painter, scene(frame), options=options)), f"frame {frame}"
    kept.release()


def busy(frame: int) -> Snapshot:
    """Return two frames with all kinds of content: most of it is static, one layer in the middle moves."""
    x = 100.0 + 40 * frame
    inner = snapshot(rect("#ffcc00", 30 + 4 * frame, 30, 30, 20), rect("#00ccff", 60, 40, 20, 20, id="still"), width=100, height=80, background=None)  # fmt: skip
    turned = Transform2D(240, 120, 20)
    samples = tuple(Sample(Transform2D(x + i, 60, 5), 1.0) for i in range(4))
    square = tuple(MaskPoint(px, py, px, py, px, py) for px, py in ((-20, -20), (20, -20), (20, 20), (-20, 20)))
    return snapshot(
        paper(gradient("#203040", "#80a0ff", angle=30), *SIZE),
        rect("#336699", 100.3, 90, 120.5, 90, id="card", transform=Transform2D(100.3, 90, scale_x=-1.1, scale_y=0.9)),
        rect("#ff8080", 60, 60, 50, 40, id="shadowed", effects=(SHADOW,)),
        rect("#80ff80", x, 150, 60, 30, id="moving", effects=(BLUR,)),
        rect("#4040ff", 180, 60, 90, 90, id="masked", masks=(MaskPath("m", "add", square, feather=10.0),)),
        rect("#ffffff", 150, 60, 40, 40, id="swept", samples=samples),
        rect("#a0a0a0", 150, 100, 80, 80, id="multiplied", blend="multiply", transform=Transform2D(150, 100, 30)),
        LayerSnapshot("placed", "placed", CompositionSource(inner, 100, 80, sealed=True), turned, opacity=0.8),
        rect("#ffffff", 260, 60, 60, 60, id="matte"),
        rect("#ff00ff", 280, 60, 60, 60, id="matted", matte=Matte("luma", False, "matte")),
        width=SIZE[0],
        height=SIZE[1],
    )


def glowing(frame: int) -> Snapshot:
    """Return wide soft effects on static layers and on layers that cross the frame's edge, in every way of
    compositing."""
    glow = EffectSnapshot("g", "glow", (("radius", 30.0),))
    shadow = EffectSnapshot("d", "drop-shadow", (("distance", 13.0), ("softness", 20.0), ("angle", 70.0)))
    hard = EffectSnapshot("h", "drop-shadow", (("distance", 9.0), ("softness", 0.0)))
    haze = EffectSnapshot("z", "blur", (("amount", 18.0),))
    stroke = EffectSnapshot("o", "stroke", (("width", 3.0),))
    x = 20.3 + 17 * frame
    return snapshot(
        paper(gradient("#203040", "#80a0ff", angle=30), *SIZE),
        rect("#ffcc00", x, 60, 50, 30, id="both", effects=(glow, shadow)),
        rect("#ff8080", 300, 100 + x / 4, 70, 60, id="hazy", effects=(haze, glow), opacity=0.7),
        rect("#80ff80", x, 150, 60, 30, id="multiplied", effects=(shadow,), blend="multiply"),
        rect("#8080ff", 200, 150, 60, 30, id="outlined", effects=(glow, stroke, hard, shadow)),
        rect("#ffffff", 200, 60, 60, 60, id="matte", effects=(haze,)),
        rect("#ff00ff", x, 70, 90, 60, id="matted", effects=(hard, glow), matte=Matte("alpha", False, "matte")),
        width=SIZE[0],
        height=SIZE[1],
    )


@pytest.mark.parametrize("flag", ["layer_cache", "damage", "static_prefix"])
def test_soft_light_is_the_same_whatever_is_kept_and_whatever_part_of_the_frame_is_drawn(
    painter: Painter, flag: str
) -> None:
    assert_same_bytes(painter, glowing, (0, 1, 1, 4, 9, 3, 6, 13), only(flag))


def test_a_group_over_a_blurred_backdrop_shows_what_moves_near_it_though_it_adjusts_its_own_layers(
    painter: Painter,
) -> None:
    graded = LayerSnapshot("grade", "grade", AdjustmentSource(), Transform2D(0, 0), effects=(BLUR,))
    inner = snapshot(rect("#ffcc00", 50, 40, 30, 20), graded, width=100, height=80, background=None)
    source = CompositionSource(inner, 100, 80, sealed=True)
    frosted = LayerSnapshot("frosted", "frosted", source, Transform2D(160, 100), backdrop_blur=25.0)

    def scene(frame: int) -> Snapshot:
        below = rect("#ff0000", 90 + 6 * frame, 100, 30, 60, id="below")
        return snapshot(below, frosted, width=SIZE[0], height=SIZE[1], background="#ffffff")

    assert_drawn_as_afresh(painter, scene, range(4))


def test_a_layer_that_stands_still_follows_the_layer_that_its_effect_reads(painter: Painter) -> None:
    def scene(frame: int) -> Snapshot:
        bent = EffectSnapshot("d", "displacement-map", (("amount", 40.0), ("mapLayerId", "map")))
        chart = rect("#ff8000", 60 + 40 * frame, 100, 80, 120, id="map", opacity=0.01)
        return snapshot(
            chart, rect("#80ff80", 150, 100, 120, 80, id="bent", effects=(bent,)), width=SIZE[0], height=SIZE[1]
        )

    kept, shown = renderer(painter), []
    for frame in range(3):
        shown.append(pixels(kept.draw(scene(frame), *SIZE)).copy())
        assert np.array_equal(shown[-1], drawn(painter, scene(frame))), f"frame {frame}"
    assert not np.array_equal(shown[0][60:140, 100:200], shown[1][60:140, 100:200])
    kept.release()


@pytest.mark.parametrize("reads_as", ["layer", "adjustment", "group"])
@pytest.mark.parametrize("options", [None, Optimisations(native_kernels=False)], ids=["as chosen", "opengl"])
def test_a_static_layer_follows_the_layer_above_that_its_effect_reads(
    painter: Painter, options: Optimisations | None, reads_as: str
) -> None:
    """The stable operations at the bottom are cached as pixels, but only while the maps of their effects are stable."""
    bent = EffectSnapshot("d", "displacement-map", (("amount", 40.0), ("mapLayerId", "map")))

    def scene(frame: int) -> Snapshot:
        below = paper(gradient("#203040", "#80a0ff", angle=30), *SIZE)
        still = rect("#80ff80", 150, 100, 120, 80, id="bent", effects=(bent,))
        if reads_as == "adjustment":
            still = LayerSnapshot("bent", "bent", AdjustmentSource(), Transform2D(0, 0), effects=(bent,))
        if reads_as == "group":
            inner = snapshot(still, width=SIZE[0], height=SIZE[1], background=None)
            still = LayerSnapshot(
                "group", "group", CompositionSource(inner, *SIZE, sealed=False), Transform2D(160, 100), blend="add"
            )
        chart = rect("#ff8000", 60 + 15 * frame, 100, 80, 120, id="map", opacity=0.01)
        return snapshot(below, still, chart, width=SIZE[0], height=SIZE[1])

    assert_drawn_as_afresh(painter, scene, (0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3, 8), options)


@pytest.mark.parametrize("flag", [name for name in NAMES if name != "native_kernels"])
def test_a_flag_leaves_the_bytes_of_a_sequence_unchanged(painter: Painter, flag: str) -> None:
    assert_same_bytes(painter, busy, (0, 0, 1, 2, 3, 4, 5, 2, 2, 1), only(flag))


def test_all_flags_together_leave_the_bytes_unchanged(painter: Painter) -> None:
    assert_drawn_as_afresh(painter, busy, (0, 1, 2, 2, 5, 3, 7, 8, 9, 4))


def test_uniforms_handed_over_as_varyings_leave_the_bytes_unchanged(painter: Painter) -> None:
    plain, flat = (renderer(Painter(painter.context, flat_uniforms=is_flat)) for is_flat in (False, True))
    for frame in (0, 1, 2):
        expected = pixels(plain.draw(busy(frame), *SIZE)).copy()
        assert np.array_equal(pixels(flat.draw(busy(frame), *SIZE)), expected), f"frame {frame}"
    plain.release()
    flat.release()


def test_without_optimisations_only_the_picture_stays_acquired(painter: Painter) -> None:
    before = painter.pool.acquired_count
    frames = renderer(painter, ALL_OFF)
    frames.draw(busy(0), *SIZE)
    assert painter.pool.acquired_count - before == 2
    frames.release()
    assert painter.pool.acquired_count == before


def test_release_gives_back_the_targets_that_outlived_frames(painter: Painter) -> None:
    before = painter.pool.acquired_count
    frames = renderer(painter)
    for frame in range(4):
        frames.draw(busy(frame), *SIZE)
    assert painter.pool.acquired_count > before
    frames.release()
    assert painter.pool.acquired_count == before


def test_an_unchanged_snapshot_is_not_drawn_again(painter: Painter) -> None:
    frames = renderer(painter)
    first = frames.draw(busy(0), *SIZE)
    again = frames.draw(busy(0), *SIZE)
    assert again.frame is first.frame
    assert again.changed.is_empty
    frames.release()


def test_a_moving_layer_changes_only_the_pixels_around_it(painter: Painter) -> None:
    frames = renderer(painter)
    frames.draw(snapshot(rect("#fff", 20, 20, 10, 10), width=640, height=480), 640, 480)
    shown = frames.draw(snapshot(rect("#fff", 30, 20, 10, 10), width=640, height=480), 640, 480)
    assert pixel_count(shown.changed.rects()) <= 25 * 15
    frames.release()


def test_layers_that_move_far_apart_leave_out_what_lies_between_them(painter: Painter) -> None:
    frames = renderer(painter)
    for shift in (0, 10):
        near, far = (rect("#fff", at + shift, at, 10, 10, id=f"at {at}") for at in (20, 400))
        shown = frames.draw(snapshot(near, far, width=640, height=480), 640, 480)
    assert pixel_count(shown.changed.rects()) <= 4 * 64 * 64
    frames.release()


@pytest.mark.parametrize("mode", ["multiply", "overlay", "dissolve"])
def test_a_large_shape_blends_with_the_backdrop_however_that_is_read(
    painter: Painter, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = paper(gradient("#203040", "#80a0ff", angle=30), *SIZE)
    large = rect("#c06040a0", 160, 100, 260, 160, id="large", blend=mode)
    scene = snapshot(below, large, width=SIZE[0], height=SIZE[1])
    found = []
    for in_place in {painter.can_read_in_place, False}:
        monkeypatch.setattr(painter, "can_read_in_place", in_place)
        frames = renderer(painter, Optimisations(native_kernels=False))
        found.append(pixels(frames.draw(scene, *SIZE)).copy())
        frames.release()
    assert np.array_equal(found[0], found[-1])


def adjusted(frame: int, *stack: EffectSnapshot) -> Snapshot:
    """Return layers below and above an adjustment layer, without an opaque background."""
    layer = LayerSnapshot("adjust", "adjust", AdjustmentSource(), Transform2D(0, 0), effects=stack)
    return snapshot(
        paper(gradient("#203040", "#80a0ff30", angle=30), *SIZE),
        rect("#ffcc00c0", 60 + 9 * frame, 60, 80, 50, id="moving", blend="add"),
        rect("#c06040", 220, 90, 90, 60, id="blended", blend="screen"),
        layer,
        rect("#40ff40", 250 - 7 * frame, 150, 60, 30, id="above", opacity=0.6),
        width=SIZE[0],
        height=SIZE[1],
        background=None,
    )


NOISE = EffectSnapshot("n", "noise", (("amount", 30.0),))
RAMP = EffectSnapshot("r", "gradient-ramp", (("blend", 30.0), ("angle", 70.0)))
HUE = EffectSnapshot("h", "hue-rotate", (("amount", 60.0),))
CURVE = EffectSnapshot("c", "posterize", (("levels", 5.0),))


@pytest.mark.parametrize("flag", ["damage", "static_prefix", "layer_cache"])
@pytest.mark.parametrize("stack", [(NOISE, RAMP), (HUE,), (CURVE, RAMP, HUE), (NOISE, BLUR, HUE), (RAMP, SHADOW)])
def test_an_adjustment_layer_gives_the_same_bytes_however_it_is_drawn(
    painter: Painter, flag: str, stack: tuple[EffectSnapshot, ...]
) -> None:
    assert_same_bytes(painter, lambda frame: adjusted(frame, *stack), (0, 0, 0, 0, 1, 2, 5, 3), only(flag), None)


def test_under_an_adjustment_layer_of_single_pixels_only_what_changed_is_drawn_again(painter: Painter) -> None:
    frames = renderer(painter)
    for shift in (0, 10):
        layer = LayerSnapshot("adjust", "adjust", AdjustmentSource(), Transform2D(0, 0), effects=(RAMP, HUE))
        shown = frames.draw(snapshot(rect("#fff", 20 + shift, 20, 10, 10), layer, width=640, height=480), 640, 480)
    assert pixel_count(shown.changed.rects()) <= 2 * 64 * 64
    frames.release()


def swarm(frame: int) -> Snapshot:
    """Return many small layers that move independently, over static ones and below one that blends with everything
    under it."""
    moving = [
        rect(
            "#ffcc00", (37 * i + 9 * frame * (i % 3)) % 320, (53 * i + 5 * frame) % 200, 14, 9, id=f"m{i}", opacity=0.7
        )
        for i in range(20)
    ]
    still = [rect("#3366ff", 30 + 60 * i, 100, 40, 150, id=f"s{i}", opacity=0.5) for i in range(5)]
    light = rect("#ff8800", 250, 40, 60, 30, id="screen", blend="screen")
    return snapshot(*still, *moving, light, width=SIZE[0], height=SIZE[1])


def test_many_moving_layers_give_the_same_bytes_drawn_in_parts(painter: Painter) -> None:
    assert_drawn_as_afresh(painter, swarm, range(8))


def test_a_layer_that_moves_over_a_still_blurred_backdrop_leaves_the_backdrop_as_it_is(painter: Painter) -> None:
    def scene(frame: int) -> Snapshot:
        return snapshot(
            paper(gradient("#203040", "#80a0ff", angle=30), *SIZE),
            rect("#ffffff44", 160, 100, 200, 120, id="frosted", backdrop_blur=12.0),
            rect("#ff0000", 100 + 20 * frame, 100, 60, 60, id="moving"),
            width=SIZE[0],
            height=SIZE[1],
        )

    assert_drawn_as_afresh(painter, scene, range(6))


def crowd(frame: int) -> Snapshot:
    """Return more layers over a blended one than are quantised one by one, and another blended layer above them."""
    still = [rect("#60708040", 12 + 16 * (i % 20), 20 + 40 * (i // 20), 9, 13, id=f"c{i}") for i in range(80)]
    below = rect("#2080ff", 100, 90, 160, 110, id="below", blend="overlay", transform=Transform2D(100, 90, 12))
    above = rect("#ff8800", 160 + 8 * frame, 110, 90, 70, id="above", blend="screen", opacity=0.8)
    over = rect("#40ff40", 200 - 7 * frame, 60, 50, 40, id="over", opacity=0.6)
    return snapshot(
        paper(gradient("#203040", "#80a0ff", angle=30), *SIZE),
        below,
        *still,
        above,
        over,
        width=SIZE[0],
        height=SIZE[1],
    )


@pytest.mark.parametrize("flag", ["damage", "static_prefix", "layer_cache"])
def test_layers_over_a_blended_one_give_the_same_bytes_however_they_are_drawn(painter: Painter, flag: str) -> None:
    assert_same_bytes(painter, crowd, range(8), only(flag))


def test_a_blended_layer_that_moves_leaves_what_lies_beyond_it_as_it_is(painter: Painter) -> None:
    frames = renderer(painter)
    for shift in (0, 10):
        light = rect("#ff8800", 40 + shift, 40, 10, 10, id="light", blend="screen")
        shown = frames.draw(snapshot(paper("#203040", 640, 480), light, width=640, height=480), 640, 480)
    assert pixel_count(shown.changed.rects()) <= 2 * 64 * 64
    frames.release()


@pytest.mark.parametrize("modes", [("screen", "multiply"), ("stencil-alpha", "screen"), ("normal", "screen")])
def test_a_layer_whose_blend_mode_changes_gives_the_same_bytes_drawn_in_parts(
    painter: Painter, modes: tuple[str, str]
) -> None:
    below = paper(gradient("#203040", "#80a0ff80", angle=30), *SIZE)

    def scene(frame: int) -> Snapshot:
        light = rect("#ff8800", 150, 90, 80, 60, id="light", blend=modes[frame % 2])
        return snapshot(below, light, width=SIZE[0], height=SIZE[1])

    assert_drawn_as_afresh(painter, scene, range(4))


STACKS = [
    ("screen", "normal", "screen", "multiply"),
    ("overlay", "overlay", "stencil-alpha", "screen"),
    ("luminescent-premul", "difference", "normal", "difference"),
    ("dissolve", "hue", "add", "silhouette-luma", "color-dodge"),
]


@pytest.mark.parametrize("background", ["#26482f", None])
@pytest.mark.parametrize("stack", STACKS)
def test_layers_that_quantise_their_backdrop_give_the_same_bytes_within_their_bounds(
    painter: Painter, stack: tuple[str, ...], background: str | None
) -> None:
    blended = (
        rect("#c06040a0", 70 + 45 * i, 80 + 12 * i, 110, 90, id=f"l{i}", blend=mode, transform=Transform2D(70 + 45 * i, 90, 9 * i))
        for i, mode in enumerate(stack)
    )  # fmt: skip
    below = paper(gradient("#203040", "#80a0ff80", angle=30), 200, 200)
    scene = snapshot(below, *blended, width=SIZE[0], height=SIZE[1], background=background)
    assert_same_bytes(painter, lambda _: scene, (0,), None)
