"""The pool keeps targets that are requested again, and frees the others."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import IDLE_FRAMES_MAX, TargetPool

pytestmark = pytest.mark.gl
SMALL, LARGE = Region(0, 0, 8, 8), Region(0, 0, 64, 64)


def test_a_target_that_frames_ask_for_is_the_same_one_each_time(painter: Painter) -> None:
    pool = TargetPool(painter.context)
    first = pool.take(SMALL)
    for _ in range(3 * IDLE_FRAMES_MAX):
        pool.give_back(first)
        pool.end_frame()
        assert pool.take(SMALL) is first
    pool.give_back(first)
    pool.release()


def test_a_target_that_no_frame_asks_for_any_more_is_freed(painter: Painter) -> None:
    pool = TargetPool(painter.context)
    needed, once = pool.take(SMALL), pool.take(LARGE)
    pool.give_back(needed, once)
    for _ in range(2 * IDLE_FRAMES_MAX):
        pool.give_back(pool.take(SMALL))
        pool.end_frame()
    assert pool.take(LARGE) is not once
    assert pool.take(SMALL) is needed


def test_a_target_has_no_texture_before_somebody_asks_for_it(painter: Painter) -> None:
    pool = TargetPool(painter.context)
    target = pool.take(LARGE, clear=False)
    assert not target.is_made
    pool.give_back(target)
    assert pool.take(LARGE) is target, "it is kept as others are"
    assert target.is_made
    assert not any(target.texture.read())
    pool.give_back(target)
    pool.release()


def test_above_the_budget_the_target_released_first_is_freed(painter: Painter) -> None:
    pool = TargetPool(painter.context, idle_bytes_max=3 * 8 * 8 * 8)
    held = [pool.take(SMALL) for _ in range(4)]
    for target in held:
        pool.give_back(target)
        pool.end_frame()
    assert {id(pool.take(SMALL)) for _ in range(3)} == {id(target) for target in held[1:]}


def test_content_kept_in_memory_comes_back_when_opengl_asks_for_it(painter: Painter) -> None:
    pool = TargetPool(painter.context)
    target = pool.take(SMALL, "f1")
    shown = np.random.default_rng(0).integers(0, 256, (8, 8, 4), dtype=np.uint8)
    pool.keep_in_memory(target, shown)
    assert not target.is_made
    assert target.texture.read() == shown.tobytes()
    pool.give_back(target)
    pool.release()


def test_content_kept_in_memory_stays_around_a_part_that_is_drawn_anew(painter: Painter) -> None:
    pool = TargetPool(painter.context)
    target = pool.take(SMALL, "f1")
    pool.keep_in_memory(target, np.full((8, 8, 4), 200, np.uint8))
    before = target.version
    pool.renew(target)
    target.framebuffer.scissor = (0, 0, 8, 3)
    target.framebuffer.clear()
    found = np.frombuffer(target.texture.read(), np.uint8).reshape(8, 8, 4)
    assert target.version != before and target.texels is None
    assert not found[:3].any() and np.all(found[3:] == 200)
    pool.give_back(target)
    pool.release()
