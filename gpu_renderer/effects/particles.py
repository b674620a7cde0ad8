"""Particles, pieces, brush strokes: small marks drawn over a canvas one after the other (format/effects.md 8.6).

Marks overlap in order, each mixing straight colours over what is there, so they are drawn on the processor: a few hundred
marks of a few pixels each.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from gpu_renderer.effects.canvas import Canvas
from gpu_renderer.effects.registry import Effect, effect
from gpu_renderer.effects.values import EffectValues
from gpu_renderer.geometry.color import Rgba
from gpu_renderer.opengl.programs import UniformValue
from motion.evaluate.noise import unit_hash, unit_hashes

BAND_ROWS = 32
"""Rows of a picture that stay in the processor's cache."""
Picture = npt.NDArray[np.float32]
"""Straight colours and alpha of 0..1, shape (rows, columns, 4)."""
Numbers = npt.NDArray[np.float64]
P = TypeVar("P", bound=np.generic)
Patch = npt.NDArray[np.float32]
DROPS_MAX = 30
MARKS_MAX = 4000
"""Bounds the work of absurd amounts and sizes."""
STEPS_MAX = 1000
_PIECES = (("u_piece", 4), ("u_turn", 2))
PIECES_MAX = 100_000
"""Bounds the number of absurdly small pieces; those of 4 px of a canvas of 1.6 megapixels are no more."""
STAR_LEAST = 0.003
"""Star light of less strength is not drawn (effects.md 8.6)."""
STROKE_MARKS_MAX = 5000
"""Bounds the work of an absurdly long stroke."""


@effect("star-burst")
class StarBurst(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        source, shown = read(canvas), np.zeros((canvas.height, canvas.width, 4), np.float32)
        tint = np.array(values.color("starColor")[:3], np.float32)
        middle, far = (canvas.width / 2, canvas.height / 2), 0.5 * math.hypot(canvas.width, canvas.height)
        seed, size = math.floor(values.number("seed")), max(0.5, values.number("size"))
        for i in range(math.floor(4 * min(100.0, max(0.0, values.number("amount"))) + 0.5)):
            angle = math.tau * h2(i, seed)
            t = (values.number("phase") / 1000 * (0.25 + 0.75 * h2(i, seed + 101)) + h2(i, seed + 202)) % 1.0
            dx, dy = math.cos(angle) * t * t * far, math.sin(angle) * t * t * far
            if not (-4 <= middle[0] + dx <= canvas.width + 4 and -4 <= middle[1] + dy <= canvas.height + 4):
                continue
            at = middle[1] + math.sin(angle) * far / 2, middle[0] + math.cos(angle) * far / 2
            row, column = (
                min(side - 1, max(0, math.floor(p + 0.5))) for p, side in zip(at, source.shape, strict=False)
            )
            under = source[row, column]
            color = 0.5 * (tint + under[:3]) if under[3] > 8 / 255 else tint
            left, top, light = _star(middle[0] + dx, middle[1] + dy, size * (0.4 + 0.6 * t))
            strength = np.clip(light * np.float32(0.25 + 0.75 * t), 0, 1)
            add(shown, left, top, np.where(strength > STAR_LEAST, strength, np.float32(0)), color)
        np.clip(shown, 0, 1, out=shown)
        blend = values.fraction("blend")
        write(canvas, _crossfaded(shown, source, blend) if blend else shown)


@effect("snowfall")
class Snowfall(Effect):
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


@effect("rainfall")
class Rainfall(Effect):
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


@effect("drizzle")
class Drizzle(Effect):
    def is_idle(self, values: EffectValues) -> bool:
        return super().is_idle(values) or math.floor(0.3 * values.number("dripRate") + 0.5) <= 0

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


@effect("pixel-polly")
class PixelPolly(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        cell = max(4.0, values.number("cellSize"), math.sqrt(canvas.width * canvas.height / PIECES_MAX))
        columns, rows = math.ceil(canvas.width / cell), math.ceil(canvas.height / cell)
        index = np.arange(rows * columns, dtype=np.float64)
        middles = (np.stack([index % columns, index // columns], axis=1) + 0.5) * cell
        places, turns = _trajectories(canvas, values, index, middles)
        pieces = np.column_stack([middles, places, np.cos(turns), np.sin(turns)]).astype(np.float32)
        fade = min(1.0, max(0.0, 1 - (values.fraction("completion") - 0.6) / 0.4))
        uniforms: dict[str, UniformValue] = {"u_cell": cell, "u_fade": fade}
        canvas.apply_instances(self.shader, values, "effects/pieces.vert", _PIECES, pieces, uniforms)


@effect("write-on")
class WriteOn(Effect):
    def is_idle(self, values: EffectValues) -> bool:
        across, down = (values.number(f"end{axis}") - values.number(f"start{axis}") for axis in "XY")
        return super().is_idle(values) or math.hypot(across, down) < 0.001

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        picture, done = read(canvas), values.fraction("completion")
        start, end = (np.array(canvas.place(values, key)) for key in ("start", "end"))
        along = end - start
        length, brush = float(np.hypot(*along)), max(1.0, values.number("brushSize"))
        if length <= 0 or done <= 0:
            return
        normal = np.array([-along[1], along[0]]) / length
        steps = min(STROKE_MARKS_MAX, max(2, math.ceil(length * done / max(1.0, brush / 4))))
        taper = values.fraction("taper") * done
        for k in range(steps + 1):
            t = k / steps * done
            swing = 0.7 * math.sin(3.1 * math.pi * t) + 0.3 * math.sin(7.3 * math.pi * t)
            sway = values.fraction("wobble") * 0.12 * length * swing
            thin = 0.25 + 0.75 * min(1.0, (done - t) / taper) if taper > 0 else 1.0
            x, y = start + along * t + normal * sway
            stamp(picture, *disc(max(0.5, brush / 2) * thin, float(x), float(y)), values.color("brushColor"), 1.0)
        write(canvas, picture)


def _count(values: EffectValues, most: float) -> int:
    return min(MARKS_MAX, math.floor(values.fraction("amount") * max(1.0, most) + 0.5))


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


def _trajectories(canvas: Canvas, values: EffectValues, index: Numbers, middles: Numbers) -> tuple[Numbers, Numbers]:
    """Return the present places of pieces whose centres were at `middles`, shape (pieces, 2), and their rotations in radians."""
    seed, t = math.floor(values.number("seed")), values.fraction("completion")
    away = middles - canvas.place(values, "center")
    far = np.hypot(away[:, 0], away[:, 1])[:, None]
    jitter = np.stack([unit_hashes(index - 1, seed + salt - 1) for salt in (31, 47)], axis=1)
    direction = np.divide(away, far, out=away.copy(), where=far > 0) + (jitter - 0.5) * 0.8
    kick = 0.5 + 0.8 * unit_hashes(index - 1, seed - 1)[:, None]
    flown = t * t * 0.7 * math.hypot(canvas.width, canvas.height) * kick
    fallen = values.fraction("gravity") * t * t * 0.8 * canvas.height
    turns = values.radians("spin") * t * (2 * unit_hashes(index - 1, seed + 63 - 1) - 1)
    return middles + direction * flown + (0.0, fallen), turns


def h2(a: float, b: float) -> float:
    """Return the integer hash HA without a key, 0..1 (effects.md 6)."""
    return unit_hash(a - 1, b - 1)


def read(canvas: Canvas) -> Picture:
    """Return the canvas's straight colours."""
    return np.divide(canvas.straight_pixels(), np.float32(255), dtype=np.float32)


def write(canvas: Canvas, picture: Picture) -> None:
    """Make the picture the canvas's pixels: bytes rounded half to even."""
    stored = np.empty(picture.shape, np.uint8)
    for top in range(0, len(picture), BAND_ROWS):
        levels = picture[top : top + BAND_ROWS] * np.float32(255)
        np.rint(levels, out=levels)
        stored[top : top + BAND_ROWS] = np.clip(levels, 0, 255, out=levels)
    canvas.write_straight(stored)


def disc(radius: float, x: float, y: float) -> tuple[int, int, Patch]:
    """A soft disc's coverage: 1 up to 0.6 of the radius, then half a cosine to 0 at the rim; its left column and top row."""
    left, top = math.floor(x - radius), math.floor(y - radius)
    columns = np.arange(left, math.ceil(x + radius) + 1) + 0.5 - x
    rows = np.arange(top, math.ceil(y + radius) + 1) + 0.5 - y
    part = np.hypot(columns[None, :], rows[:, None]) / radius
    fade = 0.5 + 0.5 * np.cos(np.pi * np.clip((part - 0.6) / 0.4, 0, 1))
    return left, top, np.where(part > 1, 0.0, fade).astype(np.float32)


def stamp(picture: Picture, left: int, top: int, coverage: Patch, color: Rgba, opacity: float) -> None:
    """Mix a colour over the picture where the patch covers it."""
    part, inside = _clipped(picture, left, top, coverage)
    inside[...] = _over(inside, color, np.minimum(part * np.float32(opacity), 1)[..., None])


def stamp_dots(
    picture: Picture, columns: npt.NDArray[np.int64], rows: npt.NDArray[np.int64], color: Rgba, opacity: Patch
) -> None:
    """Draw pixels, each with an opacity of its own. No pixel comes twice."""
    held = (columns >= 0) & (columns < picture.shape[1]) & (rows >= 0) & (rows < picture.shape[0])
    at = rows[held], columns[held]
    picture[at] = _over(picture[at], color, opacity[held, None])


def _over(before: Picture, color: Rgba, share: Picture) -> Picture:
    """Return straight pixels with a colour mixed over them by a share."""
    under = before[..., 3:] * (1 - share)
    alpha = share + under
    mixed = share * np.array(color[:3], np.float32) + before[..., :3] * under
    colors = np.divide(mixed, alpha, out=before[..., :3].copy(), where=alpha > 0)
    return np.concatenate([colors, alpha], axis=-1)


def add(picture: Picture, left: int, top: int, light: Patch, color: npt.NDArray[np.float32]) -> None:
    """Add a colour to the picture by the patch's strength; the alpha becomes the larger of both."""
    part, inside = _clipped(picture, left, top, light)
    inside[..., :3] += part[..., None] * color
    inside[..., 3] = np.maximum(inside[..., 3], part)


def _clipped(picture: Picture, left: int, top: int, patch: npt.NDArray[P]) -> tuple[npt.NDArray[P], Picture]:
    """Return the part of a patch that lies on the picture, and the picture's own pixels there (a view)."""
    rows, columns = picture.shape[:2]
    x0, y0 = max(0, left), max(0, top)
    x1, y1 = min(columns, left + patch.shape[1]), min(rows, top + patch.shape[0])
    if x0 >= x1 or y0 >= y1:
        return patch[:0, :0], picture[:0, :0]
    return patch[y0 - top : y1 - top, x0 - left : x1 - left], picture[y0:y1, x0:x1]
