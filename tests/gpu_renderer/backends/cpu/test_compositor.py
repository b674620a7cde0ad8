"""The CPU backend agrees with OpenGL within the golden tolerance, and uses OpenGL only for what its kernels cannot
composite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from gpu_renderer.backends.cpu.backdrop_cache import TEXTURE_FRAMES
from gpu_renderer.backends.cpu.kernel_texels import KernelTexels
from gpu_renderer.frame.renderer import FrameRenderer, Optimisations
from gpu_renderer.geometry.region import Region
from gpu_renderer.kernels.bindings import HALF_PATTERNS, Backdrop
from gpu_renderer.kernels.draw_ops import (
    BUFFER,
    CELLS,
    COVERAGE,
    ELLIPSE,
    GLOW,
    GLOWING_BUFFER,
    GROUP,
    HALF_CELLS,
    IMAGE,
    MODES_KNOWN,
    QUANTISE,
    RECTANGLE,
    Content,
    DrawOps,
    Texels,
    Variant,
    draw_op,
)
from gpu_renderer.kernels.loading import kernels
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target, TargetPool
from motion.snapshot import (
    ColorManagement,
    CompositionSource,
    EffectSnapshot,
    GradientStop,
    ImageSource,
    LayerSnapshot,
    MaskPath,
    MaskPoint,
    Matte,
    RadialGradient,
    Sample,
    ShapeSource,
    Snapshot,
    SolidPaint,
    Transform2D,
)
from tests.gpu_renderer.backends.cpu import kernel_agreement
from tests.gpu_renderer.drawing import gradient, is_close, pixels, rect, renderer, snapshot

pytestmark = [
    pytest.mark.gl,
    pytest.mark.skipif(kernels() is None, reason="the native kernels are not installed"),
]
SIZE = (320, 200)
SHAPES, CONTENTS = (RECTANGLE, ELLIPSE), (COVERAGE, IMAGE, CELLS, HALF_CELLS, GROUP)
VARIANTS = [
    *(Variant(kind, samples, is_projective) for kind, samples, is_projective in product((*SHAPES, *CONTENTS), (1, 4), (False, True))),
    *(Variant(kind) for kind in (*SHAPES, *CONTENTS)),
    *(Variant(kind, is_nearest=True) for kind in (COVERAGE, IMAGE)),
    *(Variant(kind, 4, gradient=way, ramp_count=ramps) for kind, way, ramps in product(SHAPES, (1, 2), (1, 3))),
    *(Variant(kind, 1, mode=mode) for kind, mode in product((ELLIPSE, COVERAGE, IMAGE), sorted(MODES_KNOWN - {0}))),
    *(Variant(kind, 4, is_masked=True) for kind in (COVERAGE, IMAGE)),
    *(Variant(kind, is_nearest=is_fine) for kind, is_fine in product((GLOW, GLOWING_BUFFER), (False, True))),
    *(Variant(kind, matte_mode=mode) for kind, mode in product((BUFFER, GLOWING_BUFFER, GLOW), (0, 1, 2, 3, 4))),
    Variant(QUANTISE),
]  # fmt: skip
BYTES, AFFINE, STAGE = (COVERAGE, IMAGE), ("MATRIX",), ("MATRIX", "TABLES")
GRADED = [
    *(Variant(kind, samples, is_projective, is_exact=kind in BYTES, grading=grading) for kind, (samples, is_projective), grading in product(CONTENTS, ((0, False), (1, False), (4, True)), (AFFINE, STAGE))),
    *(Variant(kind, is_nearest=True, grading=STAGE) for kind in BYTES),
    *(Variant(kind, 4, is_projective, is_exact=True) for kind, is_projective in product(BYTES, (False, True))),
    *(Variant(kind, 4, is_exact=True, is_masked=True, grading=AFFINE) for kind in BYTES),
    *(Variant(kind, 1, mode=mode, is_exact=kind in BYTES, grading=STAGE) for kind, mode in product((COVERAGE, IMAGE, GROUP), (2, 3, 10))),
    *(Variant(IMAGE, 4, grading=grading) for grading in (("GAIN",), ("ACES",), ("GAIN", "ACES"))),
    Variant(IMAGE, 4, is_exact=True, grading=("GAIN", "ACES", *STAGE)),
    *(Variant(kind, 4, gradient=way, ramp_count=3, grading=("GAIN", "ACES")) for kind, way in product(SHAPES, (1, 2))),
]  # fmt: skip
"""Contents with a colour stage, and images filtered in full precision."""
DRAWN = [
    one for one in (*VARIANTS, *GRADED) if (one.kind, one.samples) != (GROUP, 4)
]  # groups have one sample per pixel
Scene = Callable[[int], Snapshot]


@pytest.mark.parametrize("variant", DRAWN, ids=str)
def test_every_kind_of_content_comes_out_as_it_is_drawn(software: Painter, variant: Variant) -> None:
    native = kernels()
    assert native is not None
    assert kernel_agreement.agrees(software, native, variant)


@pytest.mark.parametrize("thread_count", [2, 3, 100])
def test_threads_share_a_large_part(thread_count: int) -> None:
    native, rng = kernels(), np.random.default_rng(3)
    assert native is not None
    part = Region(5, 3, 1100, 700)
    below = rng.integers(0, 0x3C00, (part.height, part.width, 4), dtype=np.uint16)
    texels = rng.integers(0, 0x3C00, (part.height, part.width, 4), dtype=np.uint16)
    content = Content(tuple(map(float, part)), texels=texels)
    draw_ops = DrawOps([draw_op(Variant(BUFFER), part, content)])
    levels = rng.integers(0, 256, HALF_PATTERNS, dtype=np.uint8)
    pictures = [np.zeros((part.bottom, part.right, 4), np.uint8) for _ in range(2)]
    for picture, count in zip(pictures, (1, thread_count), strict=True):
        native.composite(Backdrop(halves=below, at=part[:2]), draw_ops, levels, picture, (part,), count)
    assert np.array_equal(pictures[0], pictures[1])
    assert pictures[0][part.y :, part.x :].any(axis=-1).all()


# ------------------------------------------------------------------------------------------------------------------ frames

BLUR = EffectSnapshot("b", "blur", (("amount", 12.0),))
GLOW_EFFECT = EffectSnapshot("g", "glow", (("radius", 12.0),))
HARD_SHADOW = EffectSnapshot("s", "drop-shadow", (("distance", 7.0), ("softness", 2.0)))
STROKE = EffectSnapshot("o", "stroke", (("width", 3.0),))
BRIGHT = EffectSnapshot("m", "brightness", (("amount", 140.0),))
TONED = EffectSnapshot("t", "levels", (("inputBlack", 40.0), ("gamma", 1.7)))
GRADE = (BRIGHT, TONED, EffectSnapshot("h", "hue-rotate", (("amount", 70.0),)))
SQUARE = tuple(MaskPoint(x, y, x, y, x, y) for x, y in ((-20, -20), (25, -15), (20, 20), (-20, 20)))
NOISE = np.random.default_rng(5).integers(0, 256, (40, 60, 4), dtype=np.uint8)
NOISE[..., :3] = (NOISE[..., :3].astype(np.uint16) * NOISE[..., 3:] // 255).astype(np.uint8)


def striped(x: float) -> LayerSnapshot:
    """Return a rectangle that becomes a raster: its gradient has too many stops for a shader."""
    source = ShapeSource("rect", 60, 40, (gradient(*("#ff8800", "#0088ff") * 5),))
    return LayerSnapshot("striped", "striped", source, Transform2D(x, 100, 12))


def photo(x: float, y: float, turn: float = 0.0, **more: object) -> LayerSnapshot:
    return LayerSnapshot("photo", "photo", ImageSource("noise", 60, 40), Transform2D(x, y, turn), **more)  # type: ignore[arg-type]


def upright(x: float, y: float, across: float, down: float) -> LayerSnapshot:
    return replace(photo(x, y), transform=Transform2D(x, y, scale_x=across, scale_y=down))


def disc(x: float, y: float, **more: object) -> LayerSnapshot:
    stops = (GradientStop(0.0, "#ffee00"), GradientStop(1.0, "#3300ff"))
    source = ShapeSource("ellipse", 80, 60, (RadialGradient(0.5, 0.4, 0.6, stops),))
    return LayerSnapshot("disc", "disc", source, Transform2D(x, y, 30), **more)  # type: ignore[arg-type]


def wide(x: float, y: float, turn: float, **more: object) -> LayerSnapshot:
    """Return an ellipse whose quad has many undrawn pixels in its corners."""
    source = ShapeSource("ellipse", 210, 130, (SolidPaint("#7a40ff"),))
    return LayerSnapshot(f"wide{turn > 30}", "wide", source, Transform2D(x, y, turn), **more)  # type: ignore[arg-type]


def leaf(x: float, y: float, turn: float, **more: object) -> LayerSnapshot:
    """Return a shape of one colour that becomes a coverage raster: its corners differ."""
    source = ShapeSource("rect", 120, 80, (SolidPaint("#c05020"),), radii=(40, 0, 40, 0))
    return LayerSnapshot("leaf", "leaf", source, Transform2D(x, y, turn), **more)  # type: ignore[arg-type]


def scene(*layers: LayerSnapshot) -> Snapshot:
    return snapshot(*layers, width=SIZE[0], height=SIZE[1])


def inner(frame: int) -> Snapshot:
    return snapshot(rect("#ffcc00", 30 + 4 * frame, 30, 30, 20), rect("#00ccff", 60, 40, 20, 20, id="still"), width=100, height=80, background=None)  # fmt: skip


def group(frame: int, *, sealed: bool = True, **more: object) -> LayerSnapshot:
    source = CompositionSource(inner(frame), 100, 80, sealed=sealed)
    return LayerSnapshot("group", "group", source, Transform2D(160, 100, 20), **more)  # type: ignore[arg-type]


def on_gradient(frame: int, *layers: LayerSnapshot, turn: float = 0.0) -> Snapshot:
    """Return layers and a moving one over a background of two colours, whose gradient can rotate."""
    paint = gradient("#1e1b4b", "#0e7490", angle=35 + turn * frame)
    return replace(scene(*layers, rect("#ff8080", 60.3 + 9 * frame, 60, 50, 40)), background_paint=paint)


SCENES: dict[str, Scene] = {
    "on a gradient": on_gradient,
    "on a gradient that turns": lambda n: on_gradient(n, turn=11),
    "on a radial gradient": lambda n: replace(on_gradient(n), background_paint=RadialGradient(0.5, 0.4, 0.6, (GradientStop(0.0, "#ffee00"), GradientStop(1.0, "#3300ff80")))),
    "on a gradient in ACEScg": lambda n: replace(on_gradient(n, turn=5), color=ColorManagement(working_space="aces-cg")),
    "much that stands still on a gradient": lambda n: on_gradient(n, *(rect("#336699", 160, 100, 300 - 10 * i, 190, id=f"card{i}", opacity=0.5) for i in range(3))),
    "a mode that is drawn on a gradient": lambda n: on_gradient(n, disc(100, 100, blend="hue"), turn=3.0 * (n > 2)),
    "shapes": lambda n: scene(rect("#ff8080", 60.3 + 9 * n, 60, 50, 40), disc(200 - 7.5 * n, 90, opacity=0.6)),
    "large ellipses that turn": lambda n: scene(wide(150, 100, 11.0 * n), wide(40 + 9.5 * n, 60, 31, blend="screen", opacity=0.7)),
    "a turning photo": lambda n: scene(photo(150, 100, 7.0 * n), rect("#fff", 20 + n, 20, 10, 10)),
    "an upright photo": lambda n: scene(upright(150 + 2.3 * n, 100.4, 2.3, 1.7), rect("#fff", 20 + n, 20, 10, 10)),
    "a small upright photo": lambda n: scene(upright(150.3 - n, 100 + 1.1 * n, 0.4, -0.7)),
    "a photo on whole pixels": lambda n: scene(photo(150 + 2 * n, 100)),
    "a raster": lambda n: scene(striped(90 + 3.3 * n)),
    "a masked photo": lambda n: scene(photo(150 + n, 100, 5.0, masks=(MaskPath("m", "add", SQUARE, feather=6.0),))),
    "a rounded photo": lambda n: scene(replace(photo(150 + 3.3 * n, 100, 5.0), source=ImageSource("noise", 60, 40, radii=(9, 4, 0, 9)))),
    "glowing": lambda n: scene(rect("#80ff80", 140 + 5.3 * n, 100, 60, 30, effects=(GLOW_EFFECT,))),
    "blurred": lambda n: scene(rect("#80ff80", 140 + 5.3 * n, 100, 60, 30, effects=(BLUR,))),
    "a fading glow": lambda n: scene(rect("#80ff80", 140, 100, 60, 30, effects=(GLOW_EFFECT,), opacity=0.9 - 0.1 * n)),
    "a hard shadow": lambda n: scene(rect("#80ff80", 140 + n, 100, 60, 30, effects=(HARD_SHADOW,))),
    "outlined": lambda n: scene(rect("#80ff80", 140 + n, 100, 60, 30, effects=(STROKE, GLOW_EFFECT))),
    "a graded photo": lambda n: scene(photo(150, 100, 7.0 * n, effects=GRADE), rect("#fff", 20 + n, 20, 10, 10)),
    "an upright graded photo": lambda n: scene(replace(upright(150 + 2.3 * n, 100.4, 2.3, -1.7), effects=GRADE)),
    "a graded photo on whole pixels": lambda n: scene(photo(150 + 2 * n, 100, effects=GRADE)),
    "a graded raster": lambda n: scene(replace(striped(90 + 3.3 * n), effects=GRADE)),
    "a masked graded photo": lambda n: scene(photo(150 + n, 100, 5.0, effects=GRADE, masks=(MaskPath("m", "add", SQUARE, feather=6.0),))),
    "a graded shape": lambda n: scene(disc(150 + 3.1 * n, 100, effects=GRADE), rect("#80ff80", 60 + n, 60, 60, 30, effects=GRADE)),
    "a graded leaf": lambda n: scene(leaf(150, 100, 5.0 * n, effects=GRADE)),
    "a graded group": lambda n: scene(group(0, effects=GRADE, opacity=1 - 0.1 * n)),
    "graded in ACEScg": lambda n: replace(scene(photo(150 + n, 100, 5.0, effects=GRADE), photo(60, 60 + n, 9.0), disc(220 + n, 100), leaf(100 + n, 150, 3.0)), color=ColorManagement(working_space="aces-cg")),
    "a screened graded photo": lambda n: scene(rect("#336699", 150, 100, 200, 90), photo(150 + 3 * n, 100, 9.0, effects=GRADE, blend="screen")),
    "a photo below a mode that is drawn": lambda n: scene(upright(150, 100, 4.9 + 0.1 * n, 4.7), disc(100, 100, blend="hue")),
    "swept": lambda n: scene(rect("#fff", 150, 60, 40, 40, samples=tuple(Sample(Transform2D(50 + 9 * n + i, 60, 5), 1.0) for i in range(4)))),
    "a group that changes": lambda n: scene(group(n), rect("#fff", 160, 100, 10, 10)),
    "beyond all measure": lambda n: scene(rect("#f00", 60 + n, 50, 30, 20), rect("#fff", 100, 50, 40, 40, id="vast", opacity=0.5, transform=Transform2D(100.5 + n, 50, 10, scale_x=1e38, scale_y=1e38))),
    "beneath all measure": lambda n: scene(rect("#f00", 60 + n, 50, 30, 20), *(replace(photo(90, 70), id=f"tiny{scale}", transform=Transform2D(100.5 + n, 50, turn, scale_x=scale, scale_y=1 / scale)) for turn, scale in ((0, 1e-30), (10, 1e-38), (0, 1e-41), (30, 1e-7)))),
    "matted": lambda n: scene(rect("#fff", 150 + 9 * n, 100, 60, 60, id="matte", effects=(BLUR,)), rect("#f0f", 150, 100, 90, 60, id="matted", opacity=0.8, matte=Matte("luma", n % 2 == 0, "matte"))),
    "a matte of nothing": lambda n: scene(rect("#fff", 150, 100, 60, 60, id="matte", opacity=0), rect("#f0f", 150 + n, 100, 90, 60, id="matted", matte=Matte("alpha", n < 3, "matte"))),
    "a fading group": lambda n: scene(group(0, opacity=1 - 0.1 * n)),
    "a group that glows": lambda n: scene(group(n, effects=(GLOW_EFFECT,))),
    "screened": lambda n: scene(rect("#336699", 150, 100, 200, 90), disc(100 + 11 * n, 100, blend="screen"), rect("#fff", 100, 90, 30, 30)),
    "screened one after the other": lambda n: scene(rect("#336699", 150, 100, 200, 90), disc(60 + 4 * n, 90, blend="screen"), disc(230, 60 + 3 * n, blend="multiply"), rect("#fff8", 150 + n, 100, 90, 90), disc(150, 100, blend="screen")),
    "a screened group": lambda n: scene(rect("#336699", 150, 100, 200, 90), group(n, blend="screen")),
    "beneath a mode that is drawn": lambda n: scene(rect("#336699", 150 + n, 100, 200, 90), disc(100, 100, blend="hue"), rect("#fff", 100 + 5 * n, 90, 30, 30)),
}  # fmt: skip
FRAMES = (0, 1, 2, 3, 4, 2, 2, 0)


def frames(painter: Painter, *, by_kernels: bool) -> FrameRenderer:
    return renderer(painter, Optimisations(native_kernels=by_kernels), noise=NOISE)


@pytest.mark.parametrize("name", SCENES)
def test_frames_agree_with_those_of_opengl(software: Painter, name: str) -> None:
    acquired = software.pool.acquired_count
    composited, drawn = frames(software, by_kernels=True), frames(software, by_kernels=False)
    for frame in FRAMES:
        expected = pixels(drawn.draw(SCENES[name](frame), *SIZE)).copy()
        assert is_close(pixels(composited.draw(SCENES[name](frame), *SIZE)), expected), f"frame {frame}"
    composited.release()
    drawn.release()
    assert software.pool.acquired_count == acquired


@pytest.mark.parametrize("name", ["shapes", "an upright photo", "a raster", "glowing", "screened one after the other"])
def test_so_have_frames_of_several_strips(software: Painter, name: str) -> None:
    composited, drawn = frames(software, by_kernels=True), frames(software, by_kernels=False)
    for frame in (0, 1, 3):
        expected = pixels(drawn.draw(SCENES[name](frame), 1280, 800)).copy()
        assert is_close(pixels(composited.draw(SCENES[name](frame), 1280, 800)), expected), f"frame {frame}"
    composited.release()
    drawn.release()


def test_texels_that_have_no_neighbour_are_left_to_opengl(software: Painter) -> None:
    texels = KernelTexels(software)
    assert texels.bytes_of(np.zeros((2, 2), np.uint8)) is not None
    assert texels.bytes_of(np.zeros((1, 9), np.uint8)) is None
    assert texels.bytes_of(np.zeros((9, 1, 4), np.uint8)) is None
    with software.pool.acquired(Region(0, 0, 9, 1), "f1") as thin:
        assert texels.bytes_of(thin) is None


def test_a_target_that_stands_for_two_frames_is_kept_in_main_memory_alone(software: Painter) -> None:
    texels = KernelTexels(software)
    with software.pool.acquired(Region(0, 0, 9, 7), "f1") as target:
        target.framebuffer.clear(1.0, 0.2, 0.0, 1.0)
        for is_made in (True, False, False):
            texels.begin_frame()
            assert np.all(np.asarray(texels.of(target)) == (255, 51, 0, 255))
            assert target.is_made is is_made
        assert target.texture.read() == bytes((255, 51, 0, 255)) * 63


@pytest.mark.parametrize("size", [(320, 260), (420, 200), (1280, 1000)])
@pytest.mark.parametrize(
    "name", ["shapes", "glowing", "screened", "on a gradient that turns", "matted", "beneath a mode that is drawn"]
)
def test_so_have_frames_between_bars(
    software: Painter, shaders_drawn: list[str], name: str, size: tuple[int, int]
) -> None:
    composited, drawn = frames(software, by_kernels=True), frames(software, by_kernels=False)
    for frame in (0, 1, 2):
        expected = pixels(drawn.draw(SCENES[name](frame), *size)).copy()
        shaders_drawn.clear()
        assert is_close(pixels(composited.draw(SCENES[name](frame), *size)), expected), f"frame {frame}"
    assert not shaders_drawn or name in ("matted", "beneath a mode that is drawn")
    composited.release()
    drawn.release()


@pytest.mark.parametrize("name", ["shapes", "a turning photo", "a raster", "a masked photo", "a rounded photo", "glowing", "blurred", "screened", "on a gradient that turns", "on a gradient in ACEScg", *(name for name in SCENES if "graded" in name)])  # fmt: skip
def test_layers_that_move_are_not_drawn(software: Painter, shaders_drawn: list[str], name: str) -> None:
    kept = frames(software, by_kernels=True)
    for frame in (0, 1):
        kept.draw(SCENES[name](frame), *SIZE)
    shaders_drawn.clear()
    kept.draw(SCENES[name](2), *SIZE)
    assert not shaders_drawn
    kept.release()


def crowd(moving: float, at: float = 60.0) -> Snapshot:
    """Return many layers that cover the frame, of which one may move, and one that moves above all of them."""
    cards = [rect("#336699", 160, 100, 300 - 10 * i, 190 - 5 * i, id=f"card{i}", opacity=0.5) for i in range(6)]
    cards[3] = replace(cards[3], transform=Transform2D(at + 100, 100))
    return scene(*cards, disc(moving, 100, blend="hue"), rect("#fff", 160 + moving / 9, 100, 280, 180, id="top", opacity=0.3))  # fmt: skip


def test_static_layers_below_many_moving_ones_are_drawn_once(software: Painter, shaders_drawn: list[str]) -> None:
    def over(frame: int) -> Snapshot:
        still = crowd(0).layers[:6]
        return scene(*still, rect("#fff", 160 + frame, 100, 280, 180, id="top", opacity=0.3))

    kept, drawn = frames(software, by_kernels=True), frames(software, by_kernels=False)
    counts = []
    for frame in range(8):
        shaders_drawn.clear()
        shown = pixels(kept.draw(over(frame), *SIZE)).copy()
        counts.append(len(shaders_drawn))
        assert is_close(shown, pixels(drawn.draw(over(frame), *SIZE))), f"frame {frame}"
    assert counts[-3:] == [0, 0, 0]
    kept.release()
    drawn.release()


def test_a_static_layer_can_move_again(software: Painter) -> None:
    kept, drawn = frames(software, by_kernels=True), frames(software, by_kernels=False)
    places = [60.0] * 5 + [70.0, 80.0] + [90.0] * 5 + [60.0]
    for frame, at in enumerate(places):
        expected = pixels(drawn.draw(crowd(40.0 + 8 * frame, at), *SIZE)).copy()
        assert is_close(pixels(kept.draw(crowd(40.0 + 8 * frame, at), *SIZE)), expected), f"frame {frame}"
    kept.release()
    drawn.release()


def test_an_old_opengl_drawing_can_change_in_a_part(software: Painter, monkeypatch: pytest.MonkeyPatch) -> None:
    freed: list[tuple[int, int]] = []
    keep = TargetPool.keep_in_memory

    def kept_in_memory(pool: TargetPool, target: Target, texels: Texels) -> None:
        keep(pool, target, texels)
        freed.append(target.size)

    monkeypatch.setattr(TargetPool, "keep_in_memory", kept_in_memory)
    kept, drawn = frames(software, by_kernels=True), frames(software, by_kernels=False)
    places = [60.0] * (TEXTURE_FRAMES + 4) + [70.0] * 3 + [80.0, 60.0]
    for frame, at in enumerate(places):
        shown = scene(
            rect("#336699", 150, 100, 200, 90), disc(at, 100, blend="hue"), rect("#fff", 100 + 5 * frame, 90, 30, 30)
        )
        expected = pixels(drawn.draw(shown, *SIZE)).copy()
        assert is_close(pixels(kept.draw(shown, *SIZE)), expected), f"frame {frame}"
    assert SIZE in freed, "the texture of the backdrop is freed while it does not change"
    kept.release()
    drawn.release()


def test_another_output_size_begins_anew(software: Painter) -> None:
    kept = frames(software, by_kernels=True)
    for size in (SIZE, (160, 100), SIZE):
        alone = frames(software, by_kernels=False)
        assert is_close(pixels(kept.draw(crowd(50.0), *size)), pixels(alone.draw(crowd(50.0), *size)))
        alone.release()
    kept.release()
