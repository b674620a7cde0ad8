"""Marks drawn over a canvas match the formulas of effects.md 8.6, computed here for each mark in floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt
import pytest

from gpu_renderer.effects.particles import h2
from gpu_renderer.opengl.painter import Painter
from tests.gpu_renderer.canvases import Pixels, baked_pixels

pytestmark = pytest.mark.gl
WIDTH, HEIGHT = 90, 60
Picture = npt.NDArray[np.float64]
Y, X = np.mgrid[0:HEIGHT, 0:WIDTH] + 0.5


def soft_picture() -> Pixels:
    """Return premultiplied pixels: opaque in the middle, transparent at the corners."""
    alpha = np.clip(1.3 - np.hypot((X - WIDTH / 2) / (WIDTH / 2), (Y - HEIGHT / 2) / (HEIGHT / 2)), 0, 1)
    colors = np.stack([X * 2, Y * 4, (X * Y) % 200, np.full_like(X, 255)], axis=2)
    pixels: Pixels = np.floor(colors * alpha[..., None]).astype(np.uint8)
    return pixels


def straight(pixels: Pixels) -> Picture:
    alpha = pixels[..., 3:].astype(np.float64)
    colors = np.minimum(np.floor(pixels[..., :3] / np.maximum(alpha, 1) * 255 + 0.5), 255) * (alpha > 0)
    return np.concatenate([colors, alpha], axis=2) / 255


def stored(picture: Picture) -> Pixels:
    levels = np.rint(np.clip(picture, 0, 1) * 255)
    colors = np.floor(levels[..., :3] * levels[..., 3:] / 255 + 0.5)
    return np.concatenate([colors, levels[..., 3:]], axis=2).astype(np.uint8)


def mix(picture: Picture, share: npt.NDArray[np.float64], color: tuple[float, ...]) -> None:
    """Mix a colour over straight pixels."""
    under = picture[..., 3] * (1 - share)
    alpha = share + under
    mixed = share[..., None] * np.array(color) + picture[..., :3] * under[..., None]
    picture[..., :3] = np.where(alpha[..., None] > 0, mixed / np.maximum(alpha, 1e-9)[..., None], picture[..., :3])
    picture[..., 3] = alpha


def disc(x: float, y: float, radius: float) -> npt.NDArray[np.float64]:
    part = np.hypot(X - x, Y - y) / radius
    return np.where(part > 1, 0.0, 0.5 + 0.5 * np.cos(np.pi * np.clip((part - 0.6) / 0.4, 0, 1)))


def snow(picture: Picture) -> Picture:
    for i in range(math.floor(0.8 * WIDTH * HEIGHT / 1200 + 0.5)):
        speed, sway = 0.4 + 0.8 * h2(i, 3 + 23), math.sin(37 / 40 + 1.7 * i) * (2 + 8 * h2(i, 3 + 37))
        drop = 0.37 * HEIGHT * speed
        x = (h2(i, 3) * WIDTH + sway + 0.3 * 0.4 * drop) % WIDTH
        y = math.fmod(h2(i, 3 + 11) * HEIGHT + drop, HEIGHT + 8) - 4
        share = np.minimum(disc(x, y, 9 * (0.55 + 0.45 * h2(i, 3 + 51))) * 0.9 * (0.6 + 0.4 * speed), 1)
        mix(picture, share, (1.0, 0.8, 0.6))
    return picture


def rain(picture: Picture, *, steps: int) -> Picture:
    dx, dy = math.sin(math.radians(40)), math.cos(math.radians(40))
    for i in range(math.floor(4 * WIDTH * HEIGHT / 2500 + 0.5)):
        travel = 0.55 * 3 * HEIGHT * (0.8 + 0.6 * h2(i, 3 + 23))
        x = (h2(i, 3) * WIDTH + dx * travel) % WIDTH
        y = math.fmod(h2(i, 3 + 11) * HEIGHT + dy * travel, HEIGHT + steps) - steps / 2
        for k in range(steps):
            column, row = math.floor(x - dx * k + 0.5), math.floor(y - dy * k + 0.5)
            if 0 <= column < WIDTH and 0 <= row < HEIGHT:
                share = np.full((1, 1), 0.7 * 0.9 * (1 - k / steps))
                mix(picture[row : row + 1, column : column + 1], share, (1.0, 0.8, 0.6))
    return picture


def stars(picture: Picture) -> Picture:
    shown, far = np.zeros_like(picture), 0.5 * math.hypot(WIDTH, HEIGHT)
    for i in range(200):
        angle = math.tau * h2(i, 3)
        t = (0.3 * (0.25 + 0.75 * h2(i, 3 + 101)) + h2(i, 3 + 202)) % 1.0
        ahead = (math.cos(angle), math.sin(angle))
        x, y = WIDTH / 2 + ahead[0] * t * t * far, HEIGHT / 2 + ahead[1] * t * t * far
        if not (-4 <= x <= WIDTH + 4 and -4 <= y <= HEIGHT + 4):
            continue
        row = min(HEIGHT - 1, max(0, math.floor(HEIGHT / 2 + ahead[1] * far / 2 + 0.5)))
        column = min(WIDTH - 1, max(0, math.floor(WIDTH / 2 + ahead[0] * far / 2 + 0.5)))
        under, tint = picture[row, column], np.array([1.0, 0.8, 0.6])
        color = 0.5 * (tint + under[:3]) if under[3] > 8 / 255 else tint
        strength = np.clip(starlight(x, y, 2 * (0.4 + 0.6 * t)) * (0.25 + 0.75 * t), 0, 1)
        strength = np.where(strength > 0.003, strength, 0)
        shown[..., :3] += strength[..., None] * color
        shown[..., 3] = np.maximum(shown[..., 3], strength)
    shown = np.clip(shown, 0, 1)
    alpha = shown[..., 3:] * 0.6 + picture[..., 3:] * 0.4
    color = shown[..., :3] * shown[..., 3:] * 0.6 + picture[..., :3] * picture[..., 3:] * 0.4
    return np.concatenate([np.where(alpha > 0, color / np.maximum(alpha, 1e-9), 0), alpha], axis=2)


def starlight(x: float, y: float, size: float) -> Picture:
    dx, dy, margin = X - x, Y - y, math.ceil(4 * size)
    core, width = max(0.5, 0.5 * size), max(0.4, 0.22 * size)

    def ray(along: Picture, across: Picture, length: float) -> Picture:
        shine: Picture = np.exp(-(across**2) / width**2) * np.clip(1 - np.abs(along) / length, 0, None) ** 2
        return shine

    one, other = (dx + dy) / math.sqrt(2), (dx - dy) / math.sqrt(2)
    light = np.exp(-(dx**2 + dy**2) / core**2) + 0.85 * (ray(dx, dy, 4 * size) + ray(dy, dx, 4 * size))
    light = light + 0.35 * (ray(one, other, 2 * size) + ray(other, one, 2 * size))
    is_near = (math.floor(x - margin) < X) & (math.ceil(x + margin) + 1 > X)
    inside: Picture = light * (is_near & (math.floor(y - margin) < Y) & (math.ceil(y + margin) + 1 > Y))
    return inside


RAIN: dict[str, float | str] = {
    "amount": 400.0,
    "evolution": 55.0,
    "angle": 40.0,
    "opacity": 70.0,
    "rainColor": "#ffcc99",
}
SNOW: dict[str, float | str] = {
    "amount": 80.0,
    "evolution": 37.0,
    "wind": 30.0,
    "size": 9.0,
    "opacity": 90.0,
    "flakeColor": "#ffcc99",
}
STARS: dict[str, float | str] = {"amount": 50.0, "phase": 300.0, "size": 2.0, "blend": 40.0, "starColor": "#ffcc99"}


@pytest.mark.parametrize(
    ("effect", "formula", "parameters"),
    [
        pytest.param("snowfall", snow, SNOW, id="snowfall"),
        pytest.param("rainfall", partial(rain, steps=12), {**RAIN, "length": 12.0}, id="rainfall of one mark a streak"),
        pytest.param(
            "rainfall", partial(rain, steps=100), {**RAIN, "length": 100.0}, id="rainfall of several marks a streak"
        ),
        pytest.param("star-burst", stars, STARS, id="star-burst"),
    ],
)
def test_marks_match_the_formula(
    painter: Painter, effect: str, formula: Callable[[Picture], Picture], parameters: dict[str, float | str]
) -> None:
    found = baked_pixels(painter, soft_picture(), effect, seed=3.0, **parameters).astype(int)
    wanted = stored(formula(straight(soft_picture()))).astype(int)
    changed = np.abs(wanted - soft_picture().astype(int)).max(axis=2) > 8
    assert changed.mean() > 0.01
    # The two results can round differently.
    assert np.abs(found - wanted).max() <= 2
    assert (found != wanted).any(axis=2).mean() < 0.1  # up to 0.09 on a GPU


def test_a_stroke_is_opaque_in_its_middle_and_fades_at_its_end(painter: Painter) -> None:
    pixels = np.full((HEIGHT, WIDTH, 4), 255, np.uint8)
    stroke = {"startX": -20.0, "endX": 20.0, "startY": 0.0, "endY": 0.0, "brushSize": 16.0, "completion": 100.0}
    found = baked_pixels(painter, pixels, "write-on", brushColor="#ff0000", wobble=0.0, taper=0.0, **stroke)
    assert found[HEIGHT // 2, WIDTH // 2].tolist() == [255, 0, 0, 255]
    assert found[HEIGHT // 2 - 12, WIDTH // 2].tolist() == [255, 255, 255, 255]
    end = found[HEIGHT // 2, WIDTH // 2 + 20 :, 1]
    assert (end[:4] == 0).all()
    assert (np.diff(end.astype(int)) >= 0).all()
    assert end[9] == 255
