"""A shape's fills and strokes at a time (layers.md 6 and 7)."""

from __future__ import annotations

from dataclasses import replace

from motion.evaluate.colors import moving_color
from motion.evaluate.context import Values
from motion.model.content import ShapeContent
from motion.snapshot import GradientStop, LinearGradient, Paint, RadialGradient, SolidPaint, Stroke, Taper, Wave

TAPER_PATHS = {
    "start_width": "strokeTaperStartWidth",
    "end_width": "strokeTaperEndWidth",
    "start_length": "strokeTaperStartLength",
    "end_length": "strokeTaperEndLength",
    "start_ease": "strokeTaperStartEase",
    "end_ease": "strokeTaperEndEase",
}
WAVE_PATHS = {"amount": "strokeWaveAmount", "wavelength": "strokeWaveWavelength", "phase": "strokeWavePhase"}


def fills(content: ShapeContent, values: Values) -> tuple[Paint, ...]:
    """Return the fills, bottom first. All solid fills have the resolved colour. Only the first fill has other
    animation.
    """
    color = moving_color(values, "fill") or content.color
    first = _first_fill(content.fills[0], values)
    return tuple(SolidPaint(color) if isinstance(paint, SolidPaint) else paint for paint in (first, *content.fills[1:]))


def strokes(content: ShapeContent, values: Values) -> tuple[Stroke, ...]:
    """Return the strokes in paint order, without the primary one while its width is not above 0."""
    if content.stroke is None:
        return content.further_strokes
    primary = _moving_stroke(content.stroke, values)
    return (primary, *content.further_strokes) if primary.width > 0 else content.further_strokes


def _first_fill(paint: Paint, values: Values) -> Paint:
    match paint:
        case LinearGradient():
            angle = values.moving("fillAngle")
            moved = paint if angle is None else replace(paint, angle=angle)
            return _with_stops(moved, values)
        case RadialGradient():
            return _with_stops(
                replace(
                    paint,
                    center_x=values.moving_or("fillCenterX", paint.center_x),
                    center_y=values.moving_or("fillCenterY", paint.center_y),
                    radius=values.moving_or("fillRadius", paint.radius),
                ),
                values,
            )
        case _:
            return paint


def _with_stops(paint: LinearGradient | RadialGradient, values: Values) -> LinearGradient | RadialGradient:
    stops = values.data("fill.stops")
    if not isinstance(stops, tuple):
        return paint
    return replace(paint, stops=tuple(stop for stop in stops if isinstance(stop, GradientStop)))


def _moving_stroke(stroke: Stroke, values: Values) -> Stroke:
    color = moving_color(values, "stroke")
    return replace(
        stroke,
        paint=SolidPaint(color) if color and isinstance(stroke.paint, SolidPaint) else stroke.paint,
        width=max(0.0, values.moving_or("strokeWidth", stroke.width)),
        dash_offset=values.moving_or("strokeDashOffset", stroke.dash_offset),
        taper=_taper(stroke.taper, values),
        wave=_wave(stroke.wave, values),
    )


def _taper(taper: Taper | None, values: Values) -> Taper | None:
    moved = values.moving_of(TAPER_PATHS)
    if not moved:
        return taper
    return replace(taper or Taper(), **{field: min(1.0, max(0.0, value)) for field, value in moved.items()})


def _wave(wave: Wave | None, values: Values) -> Wave | None:
    moved = values.moving_of(WAVE_PATHS)
    if not moved:
        return wave
    changed = replace(wave or Wave(0.0, 0.0, 0.0), **moved)
    return replace(changed, wavelength=max(0.0, changed.wavelength))
