"""Stroke properties of a style, and markers at the vertices of paths, lines and polygons."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import skia

from gpu_renderer.content.svg.budget import DEPTH_MAX, Budget
from gpu_renderer.content.svg.document import Element
from gpu_renderer.content.svg.scene import ElementState, SvgScene
from gpu_renderer.content.svg.servers import context_paints
from gpu_renderer.content.svg.shapes import arc_joints, path_data
from gpu_renderer.content.svg.values import Style, Viewport, degrees, fitted, font_size, length, view_box
from gpu_renderer.content.vector.paints import CAPS, JOINS, set_dashes

Point = tuple[float, float]


class Vertex(NamedTuple):
    """A vertex, with the direction of its marker in degrees."""

    x: float
    y: float
    angle: float


class _Segment(NamedTuple):
    """A verb of a path, with the points from the end of the verb before. For a `move`, these are a straight line too."""

    verb: int
    points: list[Point]

    @property
    def leaving(self) -> float:
        """Direction at the first point, degrees, 0 for a segment without a length."""
        return next((_direction(a, b) for a, b in pairwise(self.points) if a != b), 0.0)

    @property
    def arriving(self) -> float:
        """Direction at the last point, degrees, 0 for a segment without a length."""
        return next((_direction(b, a) for a, b in pairwise(reversed(self.points)) if a != b), 0.0)


def as_stroke(paint: skia.Paint, style: Style, viewport: Viewport, dash_scale: float = 1.0) -> skia.Paint:
    """Return the paint, set to stroke with the style's properties. `dash_scale`: factor of the dashes."""
    paint.setStyle(skia.Paint.kStroke_Style)
    paint.setStrokeWidth(_stroke_width(style, viewport))
    paint.setStrokeCap(CAPS.get(style.get("stroke-linecap", ""), skia.Paint.kButt_Cap))
    paint.setStrokeJoin(JOINS.get(style.get("stroke-linejoin", ""), skia.Paint.kMiter_Join))
    paint.setStrokeMiter(length(style.get("stroke-miterlimit"), 1.0, 4.0))
    offset = length(style.get("stroke-dashoffset"), viewport.diagonal, 0.0, font_size(style))
    set_dashes(paint, _dashes(style, viewport), offset, dash_scale)
    return paint


def stroke_width(style: Style, viewport: Viewport) -> float:
    """Return the width of a style's stroke in user units, or 0 without a stroke."""
    return _stroke_width(style, viewport) if style.get("stroke", "none") != "none" else 0.0


def stroked(path: skia.Path, style: Style, viewport: Viewport) -> skia.Path:
    """Return a path with its stroke around it, without dashes. Without a stroke return the path itself."""
    if not stroke_width(style, viewport):
        return path
    solid = as_stroke(skia.Paint(), {**style, "stroke-dasharray": "none"}, viewport)
    around = skia.Path()
    solid.getFillPath(path, around)
    around.addPath(path, 0, 0)
    return around


def spend_dashes(
    budget: Budget, path: skia.Path, style: Style, viewport: Viewport, dash_scale: float, canvas: skia.Canvas
) -> None:
    """Count the dashes of a path's stroke."""
    dashes = _dashes(style, viewport)
    period = sum(dashes) * dash_scale
    if dashes and min(dashes) >= 0 and period > 0:
        count = outline_length(path) / period * len(dashes) / 2
        budget.spend_dashes(canvas, count, _stroke_width(style, viewport))


def draw_stroke(path: skia.Path, paint: skia.Paint, style: Style, canvas: skia.Canvas) -> None:
    """Stroke a path. The width of a non-scaling stroke is in raster pixels."""
    if style.get("vector-effect") != "non-scaling-stroke":
        canvas.drawPath(path, paint)
        return
    matrix, outline = canvas.getTotalMatrix(), skia.Path(path)
    outline.transform(matrix)
    if (shader := paint.getShader()) is not None:
        paint.setShader(shader.makeWithLocalMatrix(matrix))
    canvas.save()
    canvas.resetMatrix()
    canvas.drawPath(outline, paint)
    canvas.restore()


def path_length_scale(element: Element, path: skia.Path) -> float:
    """Return the user units per unit of the element's `pathLength`, 1 if it states none, and 0 for a length of 0."""
    stated = length(element.get("pathLength"), 1.0, -1.0)
    if stated <= 0:
        return 0.0 if stated == 0 else 1.0
    return outline_length(path) / stated


def outline_length(path: skia.Path) -> float:
    """Return the total length of a path's outlines."""
    measure = skia.PathMeasure(path, False)
    found: float = measure.getLength()
    while measure.nextContour():
        found += measure.getLength()
    return found


def draw_markers(scene: SvgScene, element: Element, path: skia.Path, canvas: skia.Canvas, state: ElementState) -> None:
    """Draw the markers that the style of `state` names at the vertices of an element's path."""
    names = {at: state.style.get(f"marker-{at}", "none") for at in ("start", "mid", "end")}
    if state.depth > DEPTH_MAX or set(names.values()) == {"none"}:
        return
    found = vertices(path, arc_joints(path_data(element, state)))
    for index, vertex in enumerate(found):
        at = "start" if index == 0 else "end" if index == len(found) - 1 else "mid"
        if (marker := scene.document.referred(names[at])) is not None:
            _draw_marker(scene, marker, vertex, canvas, state, is_start=index == 0)


def vertices(path: skia.Path, joints: frozenset[int] = frozenset()) -> list[Vertex]:
    """Return the vertices in order, with the directions that Chromium gives their markers.

    `joints`: the verbs that do not end at a vertex.
    """
    segments = list(_segments(path, joints))
    found: list[Vertex] = []
    start = 0
    for index, segment in enumerate(segments):
        after = segments[index + 1] if index + 1 < len(segments) else None
        is_last = after is None or after.verb == skia.Path.kMove_Verb
        start = index if segment.verb == skia.Path.kMove_Verb else start
        if segment.verb == skia.Path.kClose_Verb:  # the outline turns at its start, too
            angle = _middle(segment.arriving, segments[start + 1].leaving)
            found[start] = found[start]._replace(angle=angle)
        elif after is None or is_last:
            angle = segment.arriving
        else:
            angle = after.leaving if index == start else _middle(segment.arriving, after.leaving)
        found.append(Vertex(*segment.points[-1], angle))
    return found


def _dashes(style: Style, viewport: Viewport) -> list[float]:
    words = style.get("stroke-dasharray", "none").replace(",", " ").split()
    return [length(word, viewport.diagonal, -1.0, font_size(style)) for word in words]


def _stroke_width(style: Style, viewport: Viewport) -> float:
    """Return the width of a stroke in user units, 1 by default."""
    return max(0.0, length(style.get("stroke-width"), viewport.diagonal, 1.0, font_size(style)))


def _segments(path: skia.Path, joints: frozenset[int]) -> Iterator[_Segment]:
    start = last = (0.0, 0.0)
    pending: list[Point] = []
    was_closed = False
    for index, (verb, points) in enumerate(skia.Path.RawIter(path)):
        ends = [(point.x(), point.y()) for point in points]
        if verb == skia.Path.kMove_Verb:
            start, before, last = ends[0], last, ends[0]
            if not (was_closed and start == before):  # Skia adds this one where a line follows a closed outline
                yield _Segment(verb, [before, start])
        elif verb == skia.Path.kClose_Verb:
            yield _Segment(verb, [last, start])
            last = start
        else:
            last = ends[-1]
            pending += ends
            if index not in joints:
                yield _Segment(verb, pending)
                pending = []
        was_closed = verb == skia.Path.kClose_Verb


def _direction(a: Point, b: Point) -> float:
    return math.degrees(math.atan2(b[1] - a[1], b[0] - a[0]))


def _middle(arriving: float, leaving: float) -> float:
    """Return the direction in the middle of two, degrees. It is left of a path that turns back."""
    return arriving + ((leaving - arriving + 180.0) % 360.0 - 180.0) / 2


def _draw_marker(
    scene: SvgScene, marker: Element, vertex: Vertex, canvas: skia.Canvas, state: ElementState, *, is_start: bool
) -> None:
    view = state.viewport
    width = length(marker.get("markerWidth"), view.width, 3.0)
    height = length(marker.get("markerHeight"), view.height, 3.0)
    in_strokes = (marker.get("markerUnits") or "strokeWidth") == "strokeWidth"
    scale = _stroke_width(state.style, state.viewport) if in_strokes else 1.0
    inner, box = fitted(marker, width, height), view_box(marker)
    reference = inner.mapPoints(
        [skia.Point(length(marker.get("refX"), view.width), length(marker.get("refY"), view.height))]
    )[0]
    style = scene.cascade.in_place(marker)
    canvas.save()
    canvas.translate(vertex.x, vertex.y)
    canvas.rotate(_angle(marker.get("orient"), vertex, is_start))
    canvas.scale(scale, scale)
    canvas.translate(-reference.x(), -reference.y())
    if style.get("overflow", "hidden") not in ("visible", "auto"):
        shown = inner.mapRect(skia.Rect.MakeXYWH(*box)) if box else skia.Rect.MakeWH(width, height)
        canvas.clipRect(shown, skia.ClipOp.kIntersect, True)
    canvas.concat(inner)
    scene.draw_children(marker, canvas, state.inside(style | context_paints(state.style)))
    canvas.restore()


def _angle(orient: str | None, vertex: Vertex, is_start: bool) -> float:
    if orient not in ("auto", "auto-start-reverse"):
        return degrees(orient or "0")
    return vertex.angle + (180.0 if is_start and orient == "auto-start-reverse" else 0.0)
