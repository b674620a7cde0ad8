"""Effects of particles, pieces and brush strokes (effects.md 8.6).

Most draw marks: small soft shapes over the canvas, each an instance with a row of numbers. A later mark covers earlier ones.
Marks mix as half floats in a target of their own. The canvas becomes bytes once all are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from gpu_renderer.effects.canvas import Canvas
from gpu_renderer.effects.registry import Effect, effect
from gpu_renderer.effects.values import EffectValues
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import INSTANCE_BYTES, Blend, Instances
from gpu_renderer.opengl.programs import Layout, UniformValue
from gpu_renderer.opengl.targets import Target
from motion.arrays import Doubles
from motion.formulas.noise import unit_hash, unit_hashes


class Mark(NamedTuple):
    """A kind of mark: its shaders, and the numbers of an instance."""

    shader: str
    layout: Layout
    vertex: str = "effects/marks.vert"


_PLACED: Layout = (("u_box", 4), ("u_mark", 4))
_DISC = Mark("effects/baked/disc.frag", _PLACED)
_STAR = Mark("effects/baked/star.frag", (*_PLACED, ("u_under", 2)))
_STREAK = Mark("effects/baked/streak.frag", (*_PLACED, ("u_steps", 2)))
MARK_STEPS = 32
"""Number of a streak's steps in one mark.

Short marks waste less, because the box around a long streak is mostly empty.
"""

# These limits bound the work of extreme parameters.
DROPS_MAX = 90
"""Largest number of drops: three times the maximum dripRate of the controls."""
MARKS_MAX = 4000
STEPS_MAX = 1000
STROKE_MARKS_MAX = 5000
PIECES_MAX = 100_000
"""Largest number of pieces: those of 4 px, the smallest size, on a canvas of 1.6 megapixels."""


@effect("star-burst")
class StarBurst(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        count = math.floor(4 * min(100.0, max(0.0, values.number("amount"))) + 0.5)
        hashes, size = _hashes(values, count), max(0.5, values.number("size"))
        middle = np.array([canvas.width / 2, canvas.height / 2])
        far = 0.5 * math.hypot(canvas.width, canvas.height)
        angle = math.tau * hashes(0)
        t = (values.number("phase") / 1000 * (0.25 + 0.75 * hashes(101)) + hashes(202)) % 1.0
        away = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        places, sizes = middle + away * (t * t * far)[:, None], size * (0.4 + 0.6 * t)
        under = np.floor(middle + away * (far / 2) + 0.5).clip(0, 2 * middle - 1)
        boxes = _boxes(places, np.ceil(4 * sizes))
        stars = np.column_stack([boxes, places, sizes, 0.25 + 0.75 * t, under])
        is_near = ((places >= -4) & (places <= 2 * middle + 4)).all(axis=1)
        light = canvas.painter.pool.take(canvas.target.region, "f2")
        _draw_instances(canvas, _STAR, stars[is_near], light, "brightest", _tinted(values, "starColor"))
        canvas.apply(
            "effects/baked/stars.frag", uniforms={"u_share": values.fraction("blend")}, spent={"u_marks": light}
        )


@effect("snowfall")
class Snowfall(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        w, h = canvas.width, canvas.height
        count = _count(values, w * h / 1200)
        hashes, index = _hashes(values, count), np.arange(count)
        evolution, wind = values.number("evolution"), values.fraction("wind")
        speed = 0.4 + 0.8 * hashes(23)
        sway = np.sin(evolution / 40 + 1.7 * index) * (2 + 8 * hashes(37))
        drop = evolution / 100 * h * speed
        x, y = (hashes(0) * w + sway + wind * 0.4 * drop) % w, np.fmod(hashes(11) * h + drop, h + 8) - 4
        radius = max(0.5, values.number("size")) * (0.55 + 0.45 * hashes(51))
        opacity = values.fraction("opacity") * (0.6 + 0.4 * speed)
        _mix_discs(canvas, np.column_stack([x, y, radius, opacity]), _tinted(values, "flakeColor"))


@effect("rainfall")
class Rainfall(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        w, h = canvas.width, canvas.height
        hashes, length = _hashes(values, _count(values, w * h / 2500)), max(1.0, values.number("length"))
        direction = np.array([math.sin(values.radians("angle")), math.cos(values.radians("angle"))])
        travel = values.number("evolution") / 100 * 3 * h * (0.8 + 0.6 * hashes(23))
        x = (hashes(0) * w + direction[0] * travel) % w
        y = np.fmod(hashes(11) * h + direction[1] * travel, h + length) - length / 2
        marks = _streak_marks(np.stack([x, y], axis=1), direction, length, 0.9 * values.fraction("opacity"))
        uniforms = {**_tinted(values, "rainColor"), "u_direction": tuple(direction.tolist())}
        _mix(canvas, _STREAK, marks, uniforms)


@effect("drizzle")
class Drizzle(Effect):
    def is_idle(self, values: EffectValues) -> bool:
        return super().is_idle(values) or math.floor(0.3 * values.number("dripRate") + 0.5) <= 0

    def derive(self, values: EffectValues, width: float, height: float) -> Mapping[str, UniformValue]:
        seed = math.floor(values.number("seed"))
        count = min(DROPS_MAX, max(0, math.floor(0.3 * values.number("dripRate") + 0.5)))
        drops = [
            (
                h2(i, seed) * width,
                h2(i, seed + 11) * height,
                (values.number("evolution") / 200 + h2(i, seed + 303)) % 1.0,
            )
            for i in range(count)
        ]
        padded = drops + [(0.0, 0.0, 0.0)] * (DROPS_MAX - count)
        return {"u_drops": count, "u_drop": np.array(padded, "f4").tobytes()}


@effect("pixel-polly")
class PixelPolly(Effect):
    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        cell = max(4.0, values.number("cellSize"), math.sqrt(canvas.width * canvas.height / PIECES_MAX))
        columns, rows = math.ceil(canvas.width / cell), math.ceil(canvas.height / cell)
        index = np.arange(rows * columns, dtype=np.float64)
        middles = (np.stack([index % columns, index // columns], axis=1) + 0.5) * cell
        places, turns = _trajectories(canvas, values, index, middles)
        pieces = np.column_stack([middles, places, np.cos(turns), np.sin(turns)])
        fade = min(1.0, max(0.0, 1 - (values.fraction("completion") - 0.6) / 0.4))
        uniforms: dict[str, UniformValue] = {"u_cell": cell, "u_fade": fade}
        into = canvas.painter.pool.take(canvas.target.region, "f1")
        piece = Mark(self.shader, (("u_piece", 4), ("u_turn", 2)), "effects/pieces.vert")
        _draw_instances(canvas, piece, pieces, into, "replace", uniforms)
        canvas.replace(into)


@effect("write-on")
class WriteOn(Effect):
    def is_idle(self, values: EffectValues) -> bool:
        across, down = (values.number(f"end{axis}") - values.number(f"start{axis}") for axis in "XY")
        return super().is_idle(values) or math.hypot(across, down) < 0.001

    def bake(self, canvas: Canvas, values: EffectValues) -> None:
        done = min(1.0, values.fraction("completion"))
        start, end = (np.array(canvas.place(values, key)) for key in ("start", "end"))
        along = end - start
        length, brush = float(np.hypot(*along)), max(1.0, values.number("brushSize"))
        if length <= 0 or done <= 0:
            return
        normal = np.array([-along[1], along[0]]) / length
        steps = min(STROKE_MARKS_MAX, max(2, math.ceil(length * done / max(1.0, brush / 4))))
        taper = values.fraction("taper") * done
        t = np.arange(steps + 1) / steps * done
        swing = 0.7 * np.sin(3.1 * math.pi * t) + 0.3 * np.sin(7.3 * math.pi * t)
        sway = values.fraction("wobble") * 0.12 * length * swing
        thin = 0.25 + 0.75 * np.minimum(1.0, (done - t) / taper) if taper > 0 else np.ones_like(t)
        places = start + along * t[:, None] + normal * sway[:, None]
        discs = np.column_stack([places, max(0.5, brush / 2) * thin, np.ones_like(t)])
        _mix_discs(canvas, discs, _tinted(values, "brushColor"))


def _count(values: EffectValues, most: float) -> int:
    return min(MARKS_MAX, math.floor(values.fraction("amount") * max(1.0, most) + 0.5))


def _hashes(values: EffectValues, count: int) -> Callable[[float], Doubles]:
    """Return a function from a salt to the hashes of marks 0 to `count` - 1, 0..1."""
    index, seed = np.arange(count, dtype=np.float64), math.floor(values.number("seed"))
    return lambda salt: unit_hashes(index - 1, seed + salt - 1)


def _tinted(values: EffectValues, key: str) -> dict[str, UniformValue]:
    return {"u_tint": values.color(key)}


def _boxes(places: Doubles, radii: Doubles) -> Doubles:
    """Return the boxes of whole pixels around circles: left, top, right, bottom, shape (places, 4)."""
    return np.column_stack([np.floor(places - radii[:, None]), np.ceil(places + radii[:, None]) + 1])


def _streak_marks(heads: Doubles, direction: Doubles, length: float, opacity: float) -> Doubles:
    """Return the marks of streaks that begin at `heads`, in the layout of _STREAK, MARK_STEPS steps each.

    `length`: steps of 1 px.
    """
    steps = min(STEPS_MAX, math.ceil(length))
    firsts = np.arange(0, steps, MARK_STEPS)
    spans = np.tile(np.column_stack([firsts, np.minimum(firsts + MARK_STEPS, steps)]), (len(heads), 1))
    streaks = np.column_stack([heads, np.full_like(heads, (steps, opacity))])
    marks = np.repeat(streaks, len(firsts), axis=0)
    ends = np.floor(marks[:, None, :2] - direction * (spans - (0, 1))[..., None] + 0.5)
    return np.column_stack([ends.min(axis=1), ends.max(axis=1) + 1, marks, spans])


def _mix_discs(canvas: Canvas, discs: Doubles, uniforms: dict[str, UniformValue]) -> None:
    """Mix soft discs of one colour over the canvas. `discs`: x, y, radius and opacity of each, shape (discs, 4)."""
    marks = np.column_stack([_boxes(discs[:, :2], discs[:, 2]), discs])
    _mix(canvas, _DISC, marks, uniforms)


def _mix(canvas: Canvas, mark: Mark, rows: Doubles, uniforms: dict[str, UniformValue]) -> None:
    """Mix marks of a kind over the canvas. `rows`: the numbers of each mark, its box first.

    Mixing straight colours by a share equals source-over of premultiplied colours.
    """
    region = _around(rows[:, :4]).intersection(canvas.target.region)
    if region.is_empty:
        return
    over = canvas.painter.pool.take(region, "f2")
    _draw_instances(canvas, mark, rows, over, "over", uniforms)
    canvas.apply("effects/baked/marked.frag", spent={"u_marks": over})


def _around(boxes: Doubles) -> Region:
    """Return the smallest region that contains all boxes."""
    if not len(boxes):
        return Region(0, 0, 0, 0)
    left, top = (int(side) for side in boxes[:, :2].min(axis=0))
    right, bottom = (int(side) for side in boxes[:, 2:].max(axis=0))
    return Region(left, top, right - left, bottom - top)


def _trajectories(canvas: Canvas, values: EffectValues, index: Doubles, middles: Doubles) -> tuple[Doubles, Doubles]:
    """Return the current centres of pieces, shape (pieces, 2), and their rotations, radians.

    `middles`: their first centres.
    """
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
    """Return the integer hash HA of two numbers without a key, 0..1 (effects.md 6)."""
    return unit_hash(a - 1, b - 1)


def _draw_instances(
    canvas: Canvas, mark: Mark, rows: Doubles, into: Target, blend: Blend, uniforms: dict[str, UniformValue]
) -> None:
    """Draw marks of a kind into a target of the canvas's size, in order. `rows`: the numbers of each mark."""
    given, packed = canvas.uniforms(mark.shader, None, uniforms), rows.astype(np.float32)
    times_max = INSTANCE_BYTES // packed.itemsize // packed.shape[1]
    for first in range(0, len(packed), times_max):
        some = packed[first : first + times_max]
        canvas.painter.draw(
            mark.shader, into, textures={"u_source": canvas.target}, blend=blend, defines=dict(canvas.variant(None)),
            uniforms=given, instances=Instances(mark.vertex, mark.layout, some.tobytes(), len(some)),
        )  # fmt: skip
