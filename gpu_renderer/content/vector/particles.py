"""A field of particles drawn into its box (layers.md 12.2)."""

from __future__ import annotations

import math

import skia

from gpu_renderer.content.raster import Raster
from gpu_renderer.content.vector import css
from gpu_renderer.content.vector.paints import solid
from gpu_renderer.content.vector.surface import bgra, fitting_scale, swapped
from motion.snapshot import Particle, ParticleSource
from motion.timing import round_half_up

_STAR_POINTS, _STAR_INNER = 5, 0.45
_THINNEST_LINE_PX = 1.0


def particle_raster(source: ParticleSource, scale: float) -> Raster:
    """Return the field at `scale` raster px per layer px.

    Particles are centred on their position and cut at the field's edges.

    The canvas has the rounded size of the box and is stretched over the box itself.
    """
    width, height = max(1, round_half_up(source.width)), max(1, round_half_up(source.height))
    scale = fitting_scale(width, height, scale)
    columns, rows = max(1, round_half_up(width * scale)), max(1, round_half_up(height * scale))
    pixels, canvas = bgra(columns, rows)
    canvas.translate(columns / 2, rows / 2)
    canvas.scale(scale, scale)
    draw = _SHAPES[source.shape]
    for particle in source.particles:
        paint = solid(css.parse(particle.color) or css.BLACK, particle.opacity)
        if source.additive:
            paint.setBlendMode(skia.BlendMode.kPlus)
        draw(canvas, particle, paint)
    return Raster(swapped(pixels), source.width, source.height)


def _circle(canvas: skia.Canvas, particle: Particle, paint: skia.Paint) -> None:
    canvas.drawCircle(particle.x, particle.y, particle.size / 2, paint)


def _square(canvas: skia.Canvas, particle: Particle, paint: skia.Paint) -> None:
    half = particle.size / 2
    canvas.save()
    canvas.translate(particle.x, particle.y)
    canvas.rotate(particle.rotation)
    canvas.drawRect(skia.Rect.MakeLTRB(-half, -half, half, half), paint)
    canvas.restore()


def _line(canvas: skia.Canvas, particle: Particle, paint: skia.Paint) -> None:
    paint.setStrokeWidth(max(_THINNEST_LINE_PX, particle.size / 6))
    paint.setStrokeCap(skia.Paint.kRound_Cap)
    angle = math.radians(particle.rotation)
    x, y = math.cos(angle) * particle.size, math.sin(angle) * particle.size
    canvas.drawLine(particle.x - x, particle.y - y, particle.x + x, particle.y + y, paint)


def _star(canvas: skia.Canvas, particle: Particle, paint: skia.Paint) -> None:
    path, count = skia.Path(), 2 * _STAR_POINTS
    angles = [math.radians(particle.rotation - 90 + 360 * index / count) for index in range(count)]
    radii = [particle.size / 2 * (_STAR_INNER if index % 2 else 1.0) for index in range(count)]
    corners = zip(angles, radii, strict=True)
    path.addPoly([skia.Point(particle.x + r * math.cos(a), particle.y + r * math.sin(a)) for a, r in corners], True)
    canvas.drawPath(path, paint)


_SHAPES = {"circle": _circle, "square": _square, "line": _line, "star": _star}
