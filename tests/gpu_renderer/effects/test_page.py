"""The page of effects matches the registry."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from gpu_renderer.effects import Route, every_effect
from gpu_renderer.effects.page import DOCS, encoded, page, picture, subject
from gpu_renderer.opengl.painter import Painter


def test_the_page_is_up_to_date() -> None:
    assert (DOCS / "effects.md").read_text(encoding="utf-8") == page(), "run python -m gpu_renderer.effects.page"


def test_every_effect_that_draws_has_a_picture() -> None:
    drawn = {f"{effect.id}.webp" for effect in every_effect() if effect.route is not Route.TIME}
    assert {file.name for file in (DOCS / "effects").iterdir()} == drawn


@pytest.mark.gl
@pytest.mark.thorough
def test_the_pictures_are_up_to_date(painter: Painter) -> None:
    for effect in every_effect():
        if effect.route is not Route.TIME:
            drawn = pixels_of(io.BytesIO(encoded(picture(painter, effect))))
            difference = np.abs(drawn - pixels_of(DOCS / "effects" / f"{effect.id}.webp")).mean()
            assert difference < 1, f"{effect.id}: run python -m gpu_renderer.effects.page"


def pixels_of(file: Path | io.BytesIO) -> npt.NDArray[np.float64]:
    """Return premultiplied pixels, 0 to 255."""
    pixels = np.asarray(Image.open(file).convert("RGBA"), np.float64)
    pixels[..., :3] *= pixels[..., 3:] / 255
    return pixels


@pytest.mark.gl
def test_a_picture_shows_the_effect(painter: Painter) -> None:
    effects = {effect.id: effect for effect in every_effect()}
    assert (picture(painter, effects["invert"])[48, 52] != subject()[48, 52]).any()
    assert (picture(painter, effects["bend"]) != subject()).any()
