"""Stored fills and strokes (layers.md 6 and 7)."""

from __future__ import annotations

from motion.snapshot import (
    BrushStroke,
    GradientStop,
    LinearGradient,
    OpacityStop,
    Paint,
    RadialGradient,
    SolidPaint,
    Stroke,
    Taper,
    Wave,
)
from motion.stored import Record, as_record, number, numbers, one_of, record, records, text


def paint(stored: Record) -> Paint | None:
    """Return the paint of a fill object, None for an unknown type."""
    match stored.get("type"):
        case "solid":
            return SolidPaint(text(stored, "color", "#000000"))
        case "linear":
            return LinearGradient(number(stored, "angle", 90.0), _stops(stored), _opacity_stops(stored))
        case "radial":
            center_x, center_y = number(stored, "cx", 0.5), number(stored, "cy", 0.5)
            radius = number(stored, "radius", 0.5)
            return RadialGradient(center_x, center_y, radius, _stops(stored), _opacity_stops(stored))
        case _:
            return None


def fill_stack(fx: Record, primary: Paint) -> tuple[Paint, ...]:
    """Return the fills, bottom first; with more than one in the stack, the primary paint replaces the first."""
    stack = [found for stored in records(fx, "fills") if (found := paint(stored)) is not None]
    return (primary, *stack[1:]) if len(stack) > 1 else (primary,)


def primary_stroke(fx: Record) -> Stroke | None:
    """Return the primary stroke. None if it is missing, switched off or without width."""
    return stroke(as_record(fx.get("stroke")))


def further_strokes(fx: Record) -> tuple[Stroke, ...]:
    """Return the strokes above the primary one: drop entries that draw nothing, then the first remaining one."""
    stack = [found for stored in records(fx, "strokes") if (found := stroke(stored)) is not None]
    return tuple(stack[1:])


def stroke(stored: Record) -> Stroke | None:
    """Return a stroke with its defaults. None if it draws nothing, or if its width is not a number."""
    width = number(stored, "width", 0.0)
    if stored.get("enabled") is False or width <= 0.0:
        return None
    return Stroke(
        paint=_stroke_paint(stored),
        width=width,
        opacity=number(stored, "opacity", 1.0),
        align=one_of(stored, "align", "center", "inside", "outside"),
        dash=tuple(max(0.0, length) for length in numbers(stored, "dash")),
        dash_offset=number(stored, "dashOffset", 0.0),
        cap=one_of(stored, "cap", "butt", "round", "square"),
        join=one_of(stored, "join", "miter", "round", "bevel"),
        taper=_taper(record(stored, "taper")),
        wave=_wave(record(stored, "wave")),
    )


def brush_strokes(fx: Record) -> tuple[BrushStroke, ...]:
    """Paint strokes over a shape (layers.md 12.3)."""
    return tuple(_brush_stroke(stored) for stored in records(record(fx, "paint"), "strokes"))


def _brush_stroke(stored: Record) -> BrushStroke:
    return BrushStroke(
        points=tuple((number(point, "x", 0.0), number(point, "y", 0.0)) for point in records(stored, "points")),
        color=text(stored, "color", "#ffffff"),
        size=max(0.0, number(stored, "size", 12.0)),
        opacity=number(stored, "opacity", 1.0),
        hardness=number(stored, "hardness", 1.0),
        mode=one_of(stored, "mode", "paint", "erase", "clone"),
        clone_x=number(stored, "cloneOffsetX", 0.0),
        clone_y=number(stored, "cloneOffsetY", 0.0),
    )


def _stops(stored: Record) -> tuple[GradientStop, ...]:
    found = records(stored, "stops")
    return tuple(GradientStop(number(stop, "offset", 0.0), text(stop, "color")) for stop in found)


def _opacity_stops(stored: Record) -> tuple[OpacityStop, ...]:
    found = records(stored, "opacityStops")
    return tuple(OpacityStop(number(stop, "offset", 0.0), number(stop, "opacity", 1.0)) for stop in found)


def _stroke_paint(stored: Record) -> Paint:
    return paint(record(stored, "paint")) or SolidPaint(text(stored, "color", "#ffffff"))


def _taper(stored: Record) -> Taper | None:
    if not stored:
        return None
    return Taper(
        start_width=_unit(stored, "startWidth", 1.0),
        end_width=_unit(stored, "endWidth", 1.0),
        start_length=_unit(stored, "startLength", 0.0),
        end_length=_unit(stored, "endLength", 0.0),
        start_ease=_unit(stored, "startEase", 0.0),
        end_ease=_unit(stored, "endEase", 0.0),
    )


def _wave(stored: Record) -> Wave | None:
    if not stored:
        return None
    wavelength = max(0.0, number(stored, "wavelength", 0.0))
    return Wave(number(stored, "amount", 0.0), wavelength, number(stored, "phase", 0.0))


def _unit(stored: Record, key: str, default: float) -> float:
    return min(1.0, max(0.0, number(stored, key, default)))
