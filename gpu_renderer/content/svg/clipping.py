"""Clip paths as one outline."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt
import skia

from gpu_renderer.content.svg.boxes import rectangle
from gpu_renderer.content.svg.budget import DEPTH_MAX, Cost
from gpu_renderer.content.svg.document import Element, children, name_of
from gpu_renderer.content.svg.scene import ElementState, SvgScene
from gpu_renderer.content.svg.servers import shown_style
from gpu_renderer.content.svg.shapes import path_of
from gpu_renderer.content.svg.values import Viewport, box_matrix, length, origin, placement, transform

SEGMENTS_MAX: Final = 5_000
_CLOSEST, _FARTHEST = "closest-side", "farthest-side"
"""CSS keywords for a radius that reaches a side of the box."""
_FOLLOWING: Final = 4


def clip_outline(scene: SvgScene, clip: Element, state: ElementState, bounds: skia.Rect) -> skia.Path:
    """Return the outline of a `clipPath`, in the user space of the element that it clips."""
    style = scene.cascade.in_place(clip)
    outline = _children_outline(scene, clip, state.inside(style))
    if clip.get("clipPathUnits") == "objectBoundingBox":
        outline.transform(box_matrix(bounds))
    outline.transform(transform(style.get("transform")))
    return _clipped(scene, clip, state, bounds, outline)


def basic_shape(text: str, box_of: Callable[[str], skia.Rect], em: float) -> skia.Path | None:
    """Return the outline of a CSS shape (circle, ellipse, inset, rect, xywh, polygon, path) or box, or None for other text.

    `box_of`: returns the box of a CSS keyword, the border box without one. `em`: font size.
    """
    match = _CLIP.match(text)
    if match is None or not text.strip():
        return None
    box = box_of(match["before"] or match["after"] or "border-box")
    inside = skia.Path().addRect(skia.Rect.MakeWH(box.width(), box.height()))
    outline = _SHAPES[match["shape"]](match["inside"].strip(), box, em) if match["shape"] else inside
    outline.offset(box.x(), box.y())
    return outline


def _circle(inside: str, box: skia.Rect, em: float) -> skia.Path:
    """Return `circle(RADIUS at X Y)`. A radius can be the distance to the nearest or the farthest side."""
    radius, x, y = _radii_and_center(inside, box, em)
    sides, reference = (x, box.width() - x, y, box.height() - y), Viewport(box.width(), box.height()).diagonal
    r = _radius(radius[0] if radius else _CLOSEST, sides, reference, em)
    return skia.Path().addCircle(x, y, r)


def _ellipse(inside: str, box: skia.Rect, em: float) -> skia.Path:
    """Return `ellipse(RADIUS RADIUS at X Y)`. Each radius is that of a circle along its own axis."""
    radii, x, y = _radii_and_center(inside, box, em)
    across, down = radii if len(radii) == 2 else (_CLOSEST, _CLOSEST)
    rx = _radius(across, (x, box.width() - x), box.width(), em)
    ry = _radius(down, (y, box.height() - y), box.height(), em)
    return skia.Path().addOval(skia.Rect.MakeLTRB(x - rx, y - ry, x + rx, y + ry))


def _radii_and_center(inside: str, box: skia.Rect, em: float) -> tuple[list[str], float, float]:
    """Return the radii as written, and the centre, px from the box's corner."""
    radii, _, place = inside.partition("at ")
    return (radii.split(), *origin(place.strip() or "center", Viewport(box.width(), box.height()), em))


def _radius(word: str, sides: tuple[float, ...], reference: float, em: float) -> float:
    """Return a radius in px. `sides`: distances from the centre to the sides that the keywords select from."""
    if word in (_CLOSEST, _FARTHEST):
        return (min if word == _CLOSEST else max)(map(abs, sides))
    return length(word, reference, 0.0, em)


def _inset(inside: str, box: skia.Rect, em: float) -> skia.Path:
    """Return `inset(TOP RIGHT BOTTOM LEFT round RADIUS)`. Fewer numbers work as in CSS margins."""
    stated, _, radius = inside.partition("round")
    words = stated.split()[:4] or ["0"]
    top, right, bottom, left = (words[_MARGIN_OF_SIDE[len(words) - 1][side]] for side in range(4))
    width, height = box.width(), box.height()
    x, x_end = length(left, width, 0.0, em), width - length(right, width, 0.0, em)
    y, y_end = length(top, height, 0.0, em), height - length(bottom, height, 0.0, em)
    return _rounded(skia.Rect.MakeLTRB(x, y, max(x, x_end), max(y, y_end)), radius, box, em)


def _xywh(inside: str, box: skia.Rect, em: float) -> skia.Path:
    """Return `xywh(X Y WIDTH HEIGHT round RADII)`."""
    stated, _, radii = inside.partition("round")
    x, y, width, height = (
        length(word, side, 0.0, em)
        for word, side in zip([*stated.split(), *"0000"], (box.width(), box.height()) * 2, strict=False)
    )
    return _rounded(skia.Rect.MakeXYWH(x, y, max(0.0, width), max(0.0, height)), radii, box, em)


def _rect(inside: str, box: skia.Rect, em: float) -> skia.Path:
    """Return `rect(TOP RIGHT BOTTOM LEFT round RADII)`. All sides are measured from the box's top or left."""
    stated, _, radii = inside.partition("round")
    ends, sides = ("0%", "100%", "100%", "0%"), (box.height(), box.width()) * 2
    words = (word if word != "auto" else end for word, end in zip([*stated.split(), *"0000"], ends, strict=False))
    top, right, bottom, left = (length(word, side, 0.0, em) for word, side in zip(words, sides, strict=True))
    return _rounded(skia.Rect.MakeLTRB(left, top, max(left, right), max(top, bottom)), radii, box, em)


def _rounded(rectangle: skia.Rect, stated: str, box: skia.Rect, em: float) -> skia.Path:
    """Return a rectangle with corner radii, clockwise from the top left: horizontal ones, and vertical ones after a slash."""
    across, _, down = stated.partition("/")
    corners: list[skia.Point] = []
    words = [(half.split()[:4] or ["0"]) for half in (across, down if down.strip() else across)]
    for corner in range(4):
        x, y = (half[_MARGIN_OF_SIDE[len(half) - 1][corner]] for half in words)
        corners.append(skia.Point(length(x, box.width(), 0.0, em), length(y, box.height(), 0.0, em)))
    rounded = skia.RRect()
    rounded.setRectRadii(rectangle, corners)
    return skia.Path().addRRect(rounded)


def _polygon(inside: str, box: skia.Rect, em: float) -> skia.Path:
    """Return `polygon(X Y, X Y, ...)`, with an optional fill rule before the points."""
    rule, _, rest = inside.partition(",")
    is_even_odd = rule.strip() == "evenodd"
    pairs = [pair.split() for pair in (rest if rule.strip() in ("evenodd", "nonzero") else inside).split(",")]
    path = skia.Path()
    points = [
        skia.Point(length(pair[0], box.width(), 0.0, em), length(pair[1], box.height(), 0.0, em))
        for pair in pairs
        if len(pair) == 2
    ]
    path.addPoly(points, True)
    path.setFillType(skia.PathFillType.kEvenOdd if is_even_odd else skia.PathFillType.kWinding)
    return path


def _path(inside: str, box: skia.Rect, em: float) -> skia.Path:
    """Return `path("DATA")`, with an optional fill rule before the data."""
    rule, _, data = re.split("(['\"])", inside, maxsplit=1) if "'" in inside or '"' in inside else ("", "", "")
    path = path_of(data.rstrip("'\" "))
    path.setFillType(skia.PathFillType.kEvenOdd if rule.startswith("evenodd") else skia.PathFillType.kWinding)
    return path


_MARGIN_OF_SIDE: Final = ((0, 0, 0, 0), (0, 1, 0, 1), (0, 1, 2, 1), (0, 1, 2, 3))
"""For 1 to 4 stated margins: index of the margin of each side, clockwise from the top."""
_SHAPES: Final[dict[str, Callable[[str, skia.Rect, float], skia.Path]]] = {
    "circle": _circle,
    "ellipse": _ellipse,
    "inset": _inset,
    "polygon": _polygon,
    "path": _path,
    "rect": _rect,
    "xywh": _xywh,
}
_BOX: Final = "(?:border|padding|content|margin|fill|stroke|view)-box"
_CLIP = re.compile(
    rf"\s*+(?P<before>{_BOX})?\s*+(?:(?P<shape>{'|'.join(_SHAPES)})\((?P<inside>[^()]*+)\))?\s*+(?P<after>{_BOX})?\s*+\Z"
)


def _children_outline(scene: SvgScene, parent: Element, state: ElementState) -> skia.Path:
    """Return the union of the children's outlines. A child's holes do not cut the others."""
    union = skia.Path()
    for child in children(parent) if state.depth < DEPTH_MAX else ():
        style = scene.cascade.computed(child, state.style)
        if style.get("display") == "none" or style.get("visibility", "visible") != "visible":
            continue
        path = _child_outline(scene, child, state.inside(style))
        union = path if union.isEmpty() else _operated(scene, union, path, skia.PathOp.kUnion_PathOp)
    return union


def _child_outline(scene: SvgScene, child: Element, state: ElementState) -> skia.Path:
    is_use = name_of(child) == "use"
    path = _used_outline(scene, child, state) if is_use else skia.Path(scene.geometry(child, state))
    even_odd = state.style.get("clip-rule") == "evenodd"
    path.setFillType(skia.PathFillType.kEvenOdd if even_odd else skia.PathFillType.kWinding)
    path = _clipped(scene, child, state, path.computeTightBounds(), path)
    if is_use:
        path.offset(*rectangle(child, state.viewport)[:2])
    path.transform(placement(state.style, state.viewport, path.computeTightBounds))
    return path


def _used_outline(scene: SvgScene, use: Element, state: ElementState) -> skia.Path:
    target = scene.document.linked(use)
    if target is None or state.depth > DEPTH_MAX:
        return skia.Path()
    return _child_outline(scene, target, state.inside(scene.cascade.computed(target, shown_style(state.style, target))))


def _clipped(
    scene: SvgScene, element: Element, state: ElementState, bounds: skia.Rect, outline: skia.Path
) -> skia.Path:
    """Return the outline cut by the element's own clip path."""
    inner = scene.document.referred(scene.cascade.computed(element, {}).get("clip-path"))
    if inner is None or state.depth > DEPTH_MAX:
        return outline
    cut = clip_outline(scene, inner, state.inside(state.style), bounds)
    return _operated(scene, outline, cut, skia.PathOp.kIntersect_PathOp)


def _operated(scene: SvgScene, one: skia.Path, two: skia.Path, operation: skia.PathOp) -> skia.Path:
    scene.budget.spend(Cost.crossings, _crossings(one, two))
    try:
        return skia.Op(one, two, operation)
    except RuntimeError:  # Skia fails on degenerate outlines
        return one


def _crossings(one: skia.Path, two: skia.Path) -> int:
    """Return the number of segment pairs whose boxes meet, without pairs of consecutive segments.

    Skia's path operations are fast for outlines that hardly cross, but take minutes for some hundred segments that lie
    on each other.
    """
    first, second = _boxes(one), _boxes(two)
    if max(len(first), len(second)) > SEGMENTS_MAX:
        return SEGMENTS_MAX**2
    pairs = sum(_meeting(boxes, np.concatenate([first, second])) for boxes in (first, second))
    return max(0, pairs - _FOLLOWING * (len(first) + len(second)))


def _boxes(path: skia.Path) -> npt.NDArray[np.float32]:
    """Return left, top, right and bottom of each segment."""
    segments = ([(point.x(), point.y()) for point in points] for _, points in path if len(points) > 1)
    corners = [(*map(min, *points), *map(max, *points)) for points in segments]
    return np.array(corners, np.float32).reshape(-1, 4)


def _meeting(one: npt.NDArray[np.float32], two: npt.NDArray[np.float32]) -> int:
    left, top, right, bottom = (one[:, None, side] for side in range(4))
    meets = (left <= two[:, 2]) & (right >= two[:, 0]) & (top <= two[:, 3]) & (bottom >= two[:, 1])
    return int(meets.sum())
