"""Kernels composite everything below an operation of OpenGL: close to OpenGL's pixels, and the same bytes in any
order of frames."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpu_renderer.frame.renderer import FrameRenderer, Optimisations
from gpu_renderer.geometry.region import Region
from gpu_renderer.kernels.bindings import HALF_PATTERNS, Backdrop
from gpu_renderer.kernels.draw_ops import BUFFER, Content, DrawOps, Variant, draw_op
from gpu_renderer.kernels.loading import kernels
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import AdjustmentSource, EffectSnapshot, ImageSource, LayerSnapshot, Snapshot, Transform2D
from tests.gpu_renderer.drawing import is_close, pixels, rect, renderer, snapshot

pytestmark = [
    pytest.mark.gl,
    pytest.mark.skipif(kernels() is None, reason="the native kernels are not installed"),
]
SIZE = (320, 200)
GRADE = (EffectSnapshot("r", "gradient-ramp", (("blend", 30.0),)), EffectSnapshot("v", "vignette", (("amount", 40.0),)))
"""Effects for OpenGL: the kernels have no vignette."""
NOISE = np.random.default_rng(7).integers(0, 256, (38, 60, 4), dtype=np.uint8) | np.array([0, 0, 0, 255], np.uint8)
SOFT = (EffectSnapshot("b", "blur", (("amount", 4.0),)),)


def adjustment(*effects: EffectSnapshot) -> LayerSnapshot:
    return LayerSnapshot("grade", "grade", AdjustmentSource(), Transform2D(160, 100), effects=effects)


def cards(first: float, last: float) -> list[LayerSnapshot]:
    """Return layers that cover the frame several times. The lowest and the highest one can move."""
    return [
        rect("#884422", 160 + first, 100, 320, 200, id="low"),
        rect("#336699", 150, 100, 280, 180, id="middle", opacity=0.6, transform=Transform2D(150, 100, 7)),
        rect("#99ff66", 100 + last, 90, 120, 90, id="high", opacity=0.7),
    ]


def frame(number: int, *, first: float = 0.0, last: float | None = None, soft: bool = False) -> Snapshot:
    """Return a frame of cards below an adjustment layer, and a card above it."""
    below = cards(first, 9.0 * number if last is None else last)
    corners = replace(GRADE[1], stored=(("amount", 30.0 + number),))
    effects = SOFT if soft else (GRADE[0], corners)
    above = rect("#ffffff", 60 + 11 * number, 150, 40, 30, id="above")
    return snapshot(*below, adjustment(*effects), above, width=SIZE[0], height=SIZE[1])


def frames(painter: Painter, *, by_kernels: bool = True) -> FrameRenderer:
    return renderer(painter, Optimisations(native_kernels=by_kernels))


SEQUENCES = {
    "all layers move": [frame(n, first=3.0 * n) for n in range(5)],
    "low layers stand still": [frame(n) for n in range(9)],
    "only the adjustment changes": [frame(n, last=0.0) for n in range(9)],
    "layers start and stop": [frame(n, first=max(0.0, n - 5.0), last=min(n, 9) * 4.0) for n in range(14)],
    "below a blur": [frame(n, soft=True) for n in range(4)],
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_frames_agree_with_those_of_opengl(software: Painter, name: str) -> None:
    acquired = software.pool.acquired_count
    composited, drawn = frames(software), frames(software, by_kernels=False)
    for shown in SEQUENCES[name]:
        expected = pixels(drawn.draw(shown, *SIZE)).copy()
        assert is_close(pixels(composited.draw(shown, *SIZE)), expected)
    composited.release()
    drawn.release()
    assert software.pool.acquired_count == acquired


@pytest.mark.parametrize("name", SEQUENCES)
def test_earlier_frames_do_not_change_the_bytes(software: Painter, name: str) -> None:
    along = frames(software)
    for shown in SEQUENCES[name]:
        alone = frames(software)
        expected = pixels(alone.draw(shown, *SIZE)).copy()
        alone.release()
        assert np.array_equal(pixels(along.draw(shown, *SIZE)), expected)
    along.release()


def test_layers_below_an_adjustment_are_not_drawn_with_opengl(software: Painter, shaders_drawn: list[str]) -> None:
    kept = frames(software)
    kept.draw(frame(0, first=1.0), *SIZE)
    shaders_drawn.clear()
    kept.draw(frame(1, first=2.0), *SIZE)
    assert shaders_drawn == ["compositing/grade.frag + effects/gradient_ramp.frag + effects/vignette.frag"]
    kept.release()


def test_a_picture_below_a_blended_layer_is_not_drawn_with_opengl(software: Painter, shaders_drawn: list[str]) -> None:
    """Images below an OpenGL operation that amplifies differences are filtered in full precision."""

    def shown(number: int) -> Snapshot:
        photo = LayerSnapshot("photo", "photo", ImageSource("noise", 300, 190), Transform2D(160 + number, 100, 3))
        return snapshot(photo, rect("#88ff44", 90, 90, 60, 60, blend="hue"), width=SIZE[0], height=SIZE[1])

    kept, drawn = (
        renderer(software, Optimisations(native_kernels=by_kernels), noise=NOISE) for by_kernels in (True, False)
    )
    for number in range(3):
        expected = pixels(drawn.draw(shown(number), *SIZE)).copy()
        shaders_drawn.clear()
        assert is_close(pixels(kept.draw(shown(number), *SIZE)), expected)
    assert shaders_drawn.count("compositing/quad.frag") == 1
    kept.release()
    drawn.release()


def test_a_small_layer_is_left_to_opengl(software: Painter) -> None:
    small = [rect("#336699", 50, 50, 30, 20)]
    shown = snapshot(*small, adjustment(*GRADE), width=SIZE[0], height=SIZE[1])
    by_kernels, drawn = frames(software), frames(software, by_kernels=False)
    assert np.array_equal(pixels(by_kernels.draw(shown, *SIZE)), pixels(drawn.draw(shown, *SIZE)))
    by_kernels.release()
    drawn.release()


@pytest.mark.parametrize("thread_count", [1, 3])
def test_half_floats_hold_what_is_display_encoded(thread_count: int) -> None:
    native, chance = kernels(), np.random.default_rng(3)
    assert native is not None
    part = Region(5, 3, 700, 400)
    below, texels = (chance.integers(0, 0x3C00, (part.height, part.width, 4), dtype=np.uint16) for _ in range(2))
    content = Content(tuple(map(float, part)), texels=texels)
    draw_ops = DrawOps([draw_op(Variant(BUFFER), part, content)])
    halves = np.zeros((part.height, part.width, 4), np.uint16)
    native.composite_linear(Backdrop(halves=below, at=part[:2]), draw_ops, halves, part, thread_count)
    levels = chance.integers(0, 256, HALF_PATTERNS, dtype=np.uint8)
    picture = np.zeros((part.bottom, part.right, 4), np.uint8)
    native.composite(Backdrop(halves=below, at=part[:2]), draw_ops, levels, picture, (part,))
    assert np.array_equal(levels[halves[..., :3]], picture[part.y :, part.x :, :3])
    assert np.all(halves[..., 3] == 0x3C00)
