"""Glows of moving layers: computed once, composited at the new position."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpu_renderer.opengl.painter import Painter
from motion.snapshot import EffectSnapshot, LayerSnapshot, Snapshot, Transform2D
from tests.gpu_renderer.drawing import Picture, drawn, pixels, rect, renderer, snapshot

pytestmark = pytest.mark.gl
SIZE = (320, 200)
GLOW = EffectSnapshot("g", "glow", (("radius", 14.0),))
SHADOW = EffectSnapshot("s", "drop-shadow", (("distance", 9.0), ("softness", 8.0), ("angle", 70.0)))
HAZE = EffectSnapshot("z", "blur", (("amount", 12.0),))
BESIDE = np.ones(SIZE[::-1], bool)
"""Pixels around a layer that stands at (120, 90)."""
BESIDE[70:110, 92:150] = BESIDE[:, 240:] = False
STACKS = pytest.mark.parametrize("effects", [(GLOW,), (SHADOW,), (GLOW, SHADOW), (HAZE,), (HAZE, GLOW), (SHADOW, HAZE)])
"""Each effect alone, one behind another, and one that is blurred with the other."""


def at(x: float, y: float, effects: tuple[EffectSnapshot, ...], **more: Any) -> Snapshot:
    layer = rect("#ff3030", x, y, 50, 34, effects=effects, **more)
    return snapshot(layer, width=SIZE[0], height=SIZE[1], background="#406080")


def levels(picture: Picture) -> np.ndarray[Any, np.dtype[np.int16]]:
    return picture[..., :3].astype(np.int16)


@STACKS
def test_a_layer_some_pixels_farther_on_is_the_same_picture_there(
    painter: Painter, effects: tuple[EffectSnapshot, ...]
) -> None:
    here, there = (levels(drawn(painter, at(x, y, effects))) for x, y in ((120, 90), (157, 101)))
    here, there = here[BESIDE], np.roll(there, (-11, -37), (0, 1))[BESIDE]
    assert np.abs(here - there).max() <= 1  # positions are 32-bit numbers


@STACKS
def test_light_moves_by_parts_of_a_pixel(painter: Painter, effects: tuple[EffectSnapshot, ...]) -> None:
    left, middle, right = (levels(drawn(painter, at(x, 90, effects))) for x in (120.0, 120.5, 121.0))
    assert np.abs(middle - (left + right) / 2)[BESIDE].max() <= 1.5
    assert np.abs(left - right)[BESIDE].max() > 1, "there is light that moves"


@STACKS
def test_a_frame_does_not_depend_on_the_frames_before_it(painter: Painter, effects: tuple[EffectSnapshot, ...]) -> None:
    frames = renderer(painter)
    for x in (100.0, 117.3, 131.9, 20.0, 140.4, 318.0, 150.1):
        moved = pixels(frames.draw(at(x, 90, effects), *SIZE)).copy()
        assert np.array_equal(moved, drawn(painter, at(x, 90, effects)))
    frames.release()


@STACKS
def test_light_is_worked_out_again_when_what_casts_it_changes(
    painter: Painter, effects: tuple[EffectSnapshot, ...]
) -> None:
    frames = renderer(painter)
    base = at(120, 90, effects)
    for layer in (
        base.layers[0],
        replace(base.layers[0], transform=Transform2D(120, 90, 30)),
        replace(base.layers[0], transform=Transform2D(120, 90, scale_x=1.4)),
        rect("#ff3030", 120, 90, 90, 34, effects=effects),
        rect("#30ff30", 120, 90, 90, 34, effects=effects),
        rect("#30ff30", 120, 90, 90, 34, effects=(replace(effects[0], stored=()), *effects[1:])),
    ):
        now = replace(base, layers=(layer,))
        assert np.array_equal(pixels(frames.draw(now, *SIZE)), drawn(painter, now))
    frames.release()


@STACKS
def test_a_faded_layer_fades_with_its_light_as_one(painter: Painter, effects: tuple[EffectSnapshot, ...]) -> None:
    whole, nearly = (levels(drawn(painter, at(120.3, 90, effects, opacity=opacity))) for opacity in (1.0, 0.9999))
    assert np.abs(whole - nearly).max() <= 1


def test_a_layer_that_fades_keeps_its_light_whatever_else_is_kept(painter: Painter) -> None:
    frames = renderer(painter)
    for opacity in (0.2, 0.5, 1.0, 0.7, 0.3):
        now = at(120.3, 90, (GLOW, SHADOW), opacity=opacity)
        assert np.array_equal(pixels(frames.draw(now, *SIZE)), drawn(painter, now))
    frames.release()


def test_layers_beyond_the_frame_cast_no_light_into_it(painter: Painter) -> None:
    """As in the reference, where layers have the size of the frame."""
    half_outside = at(0, 90, (GLOW,))
    cut = replace(half_outside, layers=(rect("#ff3030", 12.5, 90, 25, 34, effects=(GLOW,)),))
    difference = levels(drawn(painter, half_outside)) - levels(drawn(painter, cut))
    assert np.abs(difference[:, 40:]).max() <= 2


def test_a_layer_that_only_moves_takes_few_passes(painter: Painter, monkeypatch: pytest.MonkeyPatch) -> None:
    drew: list[str] = []
    draw = painter.draw

    def counted(shader: str, *arguments: Any, **more: Any) -> None:
        drew.append(shader)
        draw(shader, *arguments, **more)

    monkeypatch.setattr(painter, "draw", counted)
    frames = renderer(painter)
    for x in (100.0, 117.3, 131.9):
        drew.clear()
        frames.draw(at(x, 100, (GLOW, SHADOW)), *SIZE)
    assert not [shader for shader in drew if shader.startswith("effects/")]
    frames.release()


def test_blended_layers_are_drawn_with_their_light_where_they_are(painter: Painter) -> None:
    lit = rect("#ff3030", 120.3, 90, 50, 34, effects=(GLOW,), id="lit")
    frames = renderer(painter)
    for x in (120.3, 133.8):
        layers: tuple[LayerSnapshot, ...] = (
            replace(lit, transform=Transform2D(x, 90), blend="multiply"),
            replace(lit, transform=Transform2D(x + 60, 90), id="add", blend="add"),
        )
        now = snapshot(*layers, width=SIZE[0], height=SIZE[1], background="#406080")
        assert np.array_equal(pixels(frames.draw(now, *SIZE)), drawn(painter, now))
    frames.release()
