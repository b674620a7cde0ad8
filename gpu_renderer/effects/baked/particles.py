"""Raster effects: particles and flying pieces."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gpu_renderer.effects.baked.sprites import Patch, Picture, add, disc, h2, read, stamp, stamp_dots, write
from gpu_renderer.effects.canvas import Canvas
from gpu_renderer.effects.parameters import color, degrees, number, percent, pixels
from gpu_renderer.effects.registry import Effect, Route, Tier, effect
from gpu_renderer.effects.values import EffectValues
from gpu_renderer.opengl.programs import UniformValue

DROPS_MAX = 30
MARKS_MAX = 4000
"""Bounds the work of absurd amounts and sizes."""
STEPS_MAX = 1000
_PIECES = (("u_piece", 4), ("u_turn", 2))
STAR_LEAST = 0.003
"""Star light of less strength is not drawn (effects.md 8.6)."""


@effect("light-burst", Tier.RARE, Route.RASTER)
class LightBurst(Effect):
    """Light that streams out of the bright parts."""

    parameters = (
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
        percent("intensity", 100, 0, 300),
        percent("rayLength", 30),
    )
    shader = "effects/baked/light_burst.frag"


@effect("star-burst", Tier.RARE, Route.RASTER)
class StarBurst(Effect):
    """Stars flying out of the middle."""

    parameters = (
        number("phase", 0, 0, 36000),
        percent("amount", 50),
        pixels("size", 2, 0.5, 12),
        color("starColor", "#ffffff"),
        percent("blend", 0),
        number("seed", 1, 0, 100000),
    )

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        source, shown = read(canvas), np.zeros((canvas.height, canvas.width, 4), np.float32)
        tint = np.array(values.color("starColor")[:3], np.float32)
        middle, far = (canvas.width / 2, canvas.height / 2), 0.5 * math.hypot(canvas.width, canvas.height)
        seed, size = math.floor(values.number("seed")), max(0.5, values.number("size"))
        for i in range(math.floor(4 * min(100.0, max(0.0, values.number("amount"))) + 0.5)):
            angle = math.tau * h2(i, seed)
            t = (values.number("phase") / 1000 * (0.25 + 0.75 * h2(i, seed + 101)) + h2(i, seed + 202)) % 1.0
            dx, dy = math.cos(angle) * t * t * far, math.sin(angle) * t * t * far
            if _is_far_outside(canvas, middle[0] + dx, middle[1] + dy):
                continue
            under = _pixel(source, middle[0] + math.cos(angle) * far / 2, middle[1] + math.sin(angle) * far / 2)
            color = 0.5 * (tint + under[:3]) if under[3] > 8 / 255 else tint
            left, top, light = _star(middle[0] + dx, middle[1] + dy, size * (0.4 + 0.6 * t))
            strength = np.clip(light * np.float32(0.25 + 0.75 * t), 0, 1)
            add(shown, left, top, np.where(strength > STAR_LEAST, strength, np.float32(0)), color)
        np.clip(shown, 0, 1, out=shown)
        blend = values.fraction("blend")
        write(canvas, _crossfaded(shown, source, blend) if blend else shown)


@effect("snowfall", Tier.RARE, Route.RASTER)
class Snowfall(Effect):
    """Falling flakes."""

    parameters = (
        percent("amount", 40),
        pixels("size", 3, 0.5, 12),
        number("evolution", 0, 0, 36000),
        percent("wind", 10, -100, 100),
        percent("opacity", 85),
        color("flakeColor", "#ffffff"),
        number("seed", 1, 0, 100000),
    )

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        picture, w, h = read(canvas), canvas.width, canvas.height
        seed, evolution = math.floor(values.number("seed")), values.number("evolution")
        wind, size, tint = values.fraction("wind"), values.number("size"), values.color("flakeColor")
        for i in range(_count(values, w * h / 1200)):
            speed = 0.4 + 0.8 * h2(i, seed + 23)
            sway = math.sin(evolution / 40 + 1.7 * i) * (2 + 8 * h2(i, seed + 37))
            drop = evolution / 100 * h * speed
            x = (h2(i, seed) * w + sway + wind * 0.4 * drop) % w
            y = math.fmod(h2(i, seed + 11) * h + drop, h + 8) - 4
            radius = max(0.5, size) * (0.55 + 0.45 * h2(i, seed + 51))
            opacity = values.fraction("opacity") * (0.6 + 0.4 * speed)
            stamp(picture, *disc(radius, x, y), tint, opacity)
        write(canvas, picture)


@effect("rainfall", Tier.RARE, Route.RASTER)
class Rainfall(Effect):
    """Falling streaks."""

    parameters = (
        percent("amount", 40),
        pixels("length", 30, 2, 200),
        degrees("angle", 10, -60, 60),
        number("evolution", 0, 0, 36000),
        percent("opacity", 55),
        color("rainColor", "#cfe6ff"),
        number("seed", 1, 0, 100000),
    )

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        picture, w, h = read(canvas), canvas.width, canvas.height
        seed, length = math.floor(values.number("seed")), max(1.0, values.number("length"))
        dx, dy = math.sin(values.radians("angle")), math.cos(values.radians("angle"))
        along = np.arange(min(STEPS_MAX, math.ceil(length)))
        fade = (values.fraction("opacity") * 0.9 * (1 - along / len(along))).astype(np.float32)
        tint, fallen = values.color("rainColor"), values.number("evolution") / 100 * 3 * h
        for i in range(_count(values, w * h / 2500)):
            travel = fallen * (0.8 + 0.6 * h2(i, seed + 23))
            x = (h2(i, seed) * w + dx * travel) % w
            y = math.fmod(h2(i, seed + 11) * h + dy * travel, h + length) - length / 2
            columns, rows = (np.floor(start - step * along + 0.5).astype(int) for start, step in ((x, dx), (y, dy)))
            # a slanted streak may stay on a pixel for two steps, of which the second comes on top
            is_second = np.concatenate([[False], (np.diff(columns) == 0) & (np.diff(rows) == 0)])
            for part in (~is_second, is_second):
                stamp_dots(picture, columns[part], rows[part], tint, fade[part])
        write(canvas, picture)


@effect("drizzle", Tier.RARE, Route.RASTER)
class Drizzle(Effect):
    """Rings of falling drops."""

    parameters = (
        percent("dripRate", 40),
        pixels("rippleHeight", 10, 0, 60),
        pixels("spreading", 120, 8, 400),
        number("evolution", 0, 0, 36000),
        number("seed", 1, 0, 100000),
    )
    shader = "effects/baked/drizzle.frag"
    derived = frozenset({"u_drops", "u_drop"})

    def derive(self, values: EffectValues, width: float, height: float) -> Mapping[str, UniformValue]:
        seed, count = math.floor(values.number("seed")), math.floor(0.3 * values.number("dripRate") + 0.5)
        drops = [
            (
                h2(i, seed) * width,
                h2(i, seed + 11) * height,
                (values.number("evolution") / 200 + h2(i, seed + 303)) % 1.0,
            )
            for i in range(DROPS_MAX)
        ]
        return {"u_drops": min(DROPS_MAX, max(0, count)), "u_drop": np.array(drops, "f4").tobytes()}


@effect("ball-action", Tier.RARE, Route.RASTER)
class BallAction(Effect):
    """Shows the picture in a grid of balls."""

    parameters = (
        pixels("grid", 24, 4, 200),
        percent("ballSize", 90, 10, 100),
        percent("scatter", 0),
        number("seed", 1, 0, 100000),
    )
    shader = "effects/baked/ball_action.frag"


@effect("pixel-polly", Tier.RARE, Route.RASTER)
class PixelPolly(Effect):
    """Shatters into falling pieces."""

    parameters = (
        percent("completion", 0),
        pixels("cellSize", 30, 4, 200),
        percent("gravity", 50),
        degrees("spin", 180, 0, 720),
        pixels("centerX", 0, -4000, 4000),
        pixels("centerY", 0, -4000, 4000),
        number("seed", 1, 0, 100000),
    )

    def is_idle(self, values: EffectValues) -> bool:
        return values.number("completion") <= 0

    shader = "effects/baked/pixel_polly.frag"
    derived = frozenset({"u_piece", "u_turn", "u_cell", "u_fade"})
    is_one_pass = True

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        cell = max(4.0, values.number("cellSize"), math.sqrt(canvas.width * canvas.height / MARKS_MAX))
        columns, rows = math.ceil(canvas.width / cell), math.ceil(canvas.height / cell)
        pieces = []
        for index in range(rows * columns):
            middle = (index % columns + 0.5) * cell, (index // columns + 0.5) * cell
            x, y, turn = _trajectory(canvas, values, index, *middle)
            pieces.append((*middle, x, y, math.cos(turn), math.sin(turn)))
        fade = min(1.0, max(0.0, 1 - (values.fraction("completion") - 0.6) / 0.4))
        uniforms: dict[str, UniformValue] = {"u_cell": cell, "u_fade": fade}
        canvas.apply_instances(
            self.shader, values, "effects/pieces.vert", _PIECES, np.array(pieces, np.float32), uniforms
        )


@effect("card-dance", Tier.RARE, Route.RASTER)
class CardDance(Effect):
    """Moves cards by their brightness."""

    parameters = (
        number("rows", 10, 1, 64),
        number("columns", 16, 1, 64),
        percent("amount", 30),
        degrees("cardRotation", 20, -180, 180),
        number("phase", 0, 0, 36000),
    )
    shader = "effects/baked/card_dance.frag"


def _count(values: EffectValues, most: float) -> int:
    return min(MARKS_MAX, math.floor(values.fraction("amount") * max(1.0, most) + 0.5))


def _pixel(picture: Picture, x: float, y: float) -> npt.NDArray[np.float32]:
    rows, columns = picture.shape[:2]
    pixel: npt.NDArray[np.float32] = picture[
        min(rows - 1, max(0, math.floor(y + 0.5))), min(columns - 1, max(0, math.floor(x + 0.5)))
    ]
    return pixel


def _is_far_outside(canvas: Canvas, x: float, y: float) -> bool:
    """Return True for a star whose centre lies more than 4 px outside the canvas: it is left out."""
    return not (-4 <= x <= canvas.width + 4 and -4 <= y <= canvas.height + 4)


def _star(x: float, y: float, size: float) -> tuple[int, int, Patch]:
    """A star's light: a core, a cross of two long rays, two shorter diagonal ones (effects.md 8.6)."""
    margin = math.ceil(4 * size)
    left, top = math.floor(x - margin), math.floor(y - margin)
    dx = (np.arange(left, math.ceil(x + margin) + 1) + 0.5 - x)[None, :]
    dy = (np.arange(top, math.ceil(y + margin) + 1) + 0.5 - y)[:, None]
    core, width = max(0.5, 0.5 * size), max(0.4, 0.22 * size)

    def ray(along: Any, across: Any, length: float) -> Any:
        return np.exp(-(across**2) / width**2) * np.clip(1 - np.abs(along) / length, 0, None) ** 2

    diagonal = ((dx + dy) / math.sqrt(2), (dx - dy) / math.sqrt(2))
    light = np.exp(-(dx**2 + dy**2) / core**2) + 0.85 * (ray(dx, dy, 4 * size) + ray(dy, dx, 4 * size))
    light = light + 0.35 * (ray(*diagonal, 2 * size) + ray(*diagonal[::-1], 2 * size))
    return left, top, np.asarray(light, np.float32)


def _crossfaded(shown: Picture, source: Picture, share: float) -> Picture:
    """Towards the source by a share, colours weighted by alpha."""
    alpha = shown[..., 3:] * (1 - share) + source[..., 3:] * share
    color = shown[..., :3] * shown[..., 3:] * (1 - share) + source[..., :3] * source[..., 3:] * share
    straight = np.divide(color, alpha, out=np.zeros_like(color), where=alpha > 0)
    return np.concatenate([straight, alpha], axis=2)


def _trajectory(canvas: Canvas, values: EffectValues, index: int, x: float, y: float) -> tuple[float, float, float]:
    """Return the present place of a piece whose centre was at x, y, and its rotation in radians."""
    seed, t = math.floor(values.number("seed")), values.fraction("completion")
    away_x = x - canvas.width / 2 - values.number("centerX")
    away_y = y - canvas.height / 2 - values.number("centerY")
    far = math.hypot(away_x, away_y) or 1.0
    dir_x = away_x / far + (h2(index, seed + 31) - 0.5) * 0.8
    dir_y = away_y / far + (h2(index, seed + 47) - 0.5) * 0.8
    flown = t * t * 0.7 * math.hypot(canvas.width, canvas.height) * (0.5 + 0.8 * h2(index, seed))
    fallen = values.fraction("gravity") * t * t * 0.8 * canvas.height
    turn = values.radians("spin") * t * (2 * h2(index, seed + 63) - 1)
    return x + dir_x * flown, y + dir_y * flown + fallen, turn
