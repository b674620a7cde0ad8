"""A raster is uploaded once. The texture of a raster that changes every frame is overwritten, and freed if no similar
one comes."""

from __future__ import annotations

import gc
import weakref

import moderngl
import numpy as np
import pytest

from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import IDLE_FRAMES_MAX
from gpu_renderer.opengl.textures import Textures

pytestmark = pytest.mark.gl


def picture(level: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    return np.full((6, 8, 4), level, np.uint8)


def is_freed(texture: moderngl.Texture) -> bool:
    return isinstance(texture.mglo, moderngl.InvalidObject)


@pytest.fixture
def textures(painter: Painter) -> Textures:
    return Textures(painter.context)


def test_a_raster_that_changes_every_frame_reuses_its_texture(textures: Textures) -> None:
    first = textures.of(picture(1), is_transient=True)
    textures.trim()
    textures.trim()
    second = textures.of(picture(2), is_transient=True)
    assert second is first
    assert set(second.read()) == {2}
    textures.release()
    assert is_freed(first)


@pytest.mark.thorough
def test_it_goes_when_nothing_comes_any_more(textures: Textures) -> None:
    shown = picture(1)
    texture, held = textures.of(shown, is_transient=True), weakref.ref(shown)
    del shown
    for _ in range(IDLE_FRAMES_MAX):
        textures.trim()
    assert not is_freed(texture)
    for _ in range(IDLE_FRAMES_MAX):
        textures.trim()
    assert is_freed(texture)
    gc.collect()
    assert held() is None
    assert textures.of(picture(2), is_transient=True) is not texture
    textures.release()


def test_textures_of_lasting_rasters_are_kept(textures: Textures) -> None:
    still = picture(1)
    texture = textures.of(still)
    for _ in range(3 * IDLE_FRAMES_MAX):
        textures.trim()
    assert textures.of(still) is texture
    textures.release()


def test_textures_of_a_frame_stay_above_the_budget_for_one_more_frame(
    textures: Textures, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpu_renderer.opengl.textures.KEPT_BYTES_MAX", 10)
    large = [picture(1), picture(2)]
    first, second = (textures.of(each) for each in large)
    textures.trim()
    assert textures.of(large[0]) is first
    textures.trim()
    assert is_freed(second)
    assert textures.of(large[0]) is first
    monkeypatch.setattr("gpu_renderer.opengl.textures.IN_USE_BYTES_MAX", 20)
    textures.trim()
    assert is_freed(first)
