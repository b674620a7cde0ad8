"""Markers at the vertices of paths, lines and polygons."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import skia

from gpu_renderer.content.svg.document import Element
from gpu_renderer.content.svg.frame import DEPTH_MAX, Frame, Scene
from gpu_renderer.content.svg.lengths import fitted, length, view_box
from gpu_renderer.content.svg.servers import context_paints
from gpu_renderer.content.svg.strokes import stroke_width

_COUNTS = {
    skia.Path.kLine_Verb: 2, skia.Path.kQuad_Verb: 3, skia.Path.kConic_Verb: 3, skia.Path.kCubic_Verb: 4,
}  # fmt: skip


Place = tuple[float, float]


class Vertex(NamedTuple):
    """A vertex, and the directions in which the outline arrives and leaves; None at an end."""

    x: float
    y: float
    arriving: tuple[float, float] | None
    leaving: tuple[float, float] | None


def draw_markers(scene: Scene, path: Any, joints: frozenset[int], canvas: Any, frame: Frame) -> None:
    """Draw the markers that a frame's style names. `joints`: the verbs that end at no vertex."""
    style = frame.style
    if frame.depth > DEPTH_MAX or not any(
        style.get(f"marker-{at}", "none") != "none" for at in ("start", "mid", "end")
    ):
        return
    found = vertices(path, joints)
    for index, vertex in enumerate(found):
        at = "start" if index == 0 else "end" if index == len(found) - 1 else "mid"
        if (marker := scene.document.referred(style.get(f"marker-{at}"))) is not None:
            _draw_marker(scene, marker, vertex, canvas, frame, is_start=index == 0)


def vertices(path: Any, joints: frozenset[int] = frozenset()) -> list[Vertex]:
    """Return the vertices in order, with the directions that the segments have there; a closed outline turns at its start too."""
    found: list[Vertex] = []
    start = 0
    for segment, ends_outline in _segments(path, joints):
        if len(segment) == 1:
            start = len(found)
            found.append(Vertex(*segment[0], None, None))
            continue
        found[-1] = found[-1]._replace(leaving=_direction(segment))
        found.append(Vertex(*segment[-1], _direction([*reversed(segment)], -1.0), None))
        if ends_outline:
            found[start] = found[start]._replace(arriving=found[-1].arriving)
            found[-1] = found[-1]._replace(leaving=found[start].leaving)
    return found


def _segments(path: Any, joints: frozenset[int]) -> Iterator[tuple[list[Place], bool]]:
    """Yield the points of each segment, a single one where an outline begins; and whether it closes its outline."""
    start = last = (0.0, 0.0)
    pending: list[Place] = []
    for index, (verb, points) in enumerate(skia.Path.RawIter(path)):
        places = [(point.x(), point.y()) for point in points]
        if verb == skia.Path.kMove_Verb:
            start = last = places[0]
            yield [last], False
        elif verb == skia.Path.kClose_Verb:
            yield [last, start], True
            last = start
        elif verb in _COUNTS:
            last = places[-1]
            pending += places
            if index not in joints:
                yield pending, False
                pending = []


def _direction(points: list[tuple[float, float]], sign: float = 1.0) -> tuple[float, float] | None:
    x, y = points[0]
    return next((((px - x) * sign, (py - y) * sign) for px, py in points[1:] if (px, py) != (x, y)), None)


def _draw_marker(scene: Scene, marker: Element, vertex: Vertex, canvas: Any, frame: Frame, *, is_start: bool) -> None:
    width, height = length(marker.get("markerWidth"), 1.0, 3.0), length(marker.get("markerHeight"), 1.0, 3.0)
    in_strokes = (marker.get("markerUnits") or "strokeWidth") == "strokeWidth"
    scale = stroke_width(frame.style, frame.viewport) if in_strokes else 1.0
    inner = fitted(marker, width, height)
    reference = inner.mapPoints([skia.Point(length(marker.get("refX"), 1.0), length(marker.get("refY"), 1.0))])[0]
    style = scene.cascade.in_place(marker)
    canvas.save()
    canvas.translate(vertex.x, vertex.y)
    canvas.rotate(_angle(marker.get("orient"), vertex, is_start))
    canvas.scale(scale, scale)
    canvas.translate(-reference.x(), -reference.y())
    if style.get("overflow", "hidden") not in ("visible", "auto"):
        canvas.clipRect(_clip(marker, inner, width, height), skia.ClipOp.kIntersect, True)
    canvas.concat(inner)
    scene.draw_children(marker, canvas, frame.inside(style | context_paints(frame.style)))
    canvas.restore()


def _clip(marker: Element, inner: Any, width: float, height: float) -> Any:
    box = view_box(marker)
    return inner.mapRect(skia.Rect.MakeXYWH(*box)) if box else skia.Rect.MakeWH(width, height)


def _angle(orient: str | None, vertex: Vertex, is_start: bool) -> float:
    if orient not in ("auto", "auto-start-reverse"):
        return length((orient or "0").replace("deg", ""), 1.0)
    angles = [math.atan2(y, x) for x, y in (d for d in (vertex.arriving, vertex.leaving) if d)]
    if not angles:
        return 0.0
    mean = math.atan2(sum(math.sin(a) for a in angles), sum(math.cos(a) for a in angles))
    return math.degrees(mean) + (180.0 if is_start and orient == "auto-start-reverse" else 0.0)
