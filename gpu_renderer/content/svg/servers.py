"""Paint servers: colours, gradients and patterns for fills and strokes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import skia

from gpu_renderer.content.svg.cascade import Style
from gpu_renderer.content.svg.document import Element, children, name_of
from gpu_renderer.content.svg.frame import Frame, Scene
from gpu_renderer.content.svg.lengths import Viewport, fitted, fraction, length
from gpu_renderer.content.svg.transforms import transform
from gpu_renderer.content.vector import css
from gpu_renderer.content.vector.gradient import packed
from gpu_renderer.content.vector.paints import solid
from gpu_renderer.geometry.color import Rgba

_CHAIN_MAX = 16
_SPREADS = {"pad": skia.TileMode.kClamp, "reflect": skia.TileMode.kMirror, "repeat": skia.TileMode.kRepeat}
_UNIT = Viewport(1.0, 1.0)


def paint_of(scene: Scene, kind: str, frame: Frame, bounds: Any) -> Any:
    """Return the Skia paint of the `fill` or `stroke` of a frame's style; None where nothing is painted."""
    style = frame.style
    value = style.get(kind, "black" if kind == "fill" else "none")
    value = style.get(f"-{value}", "none") if value.startswith("context-") else value
    opacity = fraction(style.get(f"{kind}-opacity"), 1.0)
    if not value.startswith("url("):
        return _plain(value, style, opacity)
    server = scene.document.referred(value)
    if server is None:
        return _plain(value.partition(")")[2].strip() or "none", style, opacity)
    shader = _SERVERS.get(name_of(server), _nothing)(scene, server, frame, bounds)
    if shader is None:
        return _plain(value.partition(")")[2].strip() or "none", style, opacity)
    return skia.Paint(Shader=shader, AntiAlias=True, Alphaf=opacity)


def context_paints(style: Style) -> Style:
    """Return the style with `context-fill` and `context-stroke` resolved for a referenced element."""
    return {"-context-fill": style.get("fill", "black"), "-context-stroke": style.get("stroke", "none")}


def color_of(value: str, style: Style) -> Rgba | None:
    """A colour, `currentColor` included; None where there is none."""
    if value.lower() == "currentcolor":
        return css.parse(style.get("color", "black")) or css.BLACK
    return css.parse(value)


def _plain(value: str, style: Style, opacity: float) -> Any:
    color = None if value == "none" else color_of(value, style) or css.BLACK
    return None if color is None else solid(color, opacity)


def _nothing(scene: Scene, server: Element, frame: Frame, bounds: Any) -> Any:
    scene.warn(f"A paint server <{name_of(server)}> of an SVG document is not drawn.")


def _linear(scene: Scene, server: Element, frame: Frame, bounds: Any) -> Any:
    matrix, box = _gradient_space(scene, server, frame, bounds)
    colors, offsets = _stops(scene, server)
    if matrix is None or not colors:
        return None
    x1, x2 = (length(_attribute(scene, server, name), box.width, d * box.width) for name, d in (("x1", 0), ("x2", 1)))
    y1, y2 = (length(_attribute(scene, server, name), box.height) for name in ("y1", "y2"))
    ends = [skia.Point(x1, y1), skia.Point(x2, y2)]
    if (x1, y1) == (x2, y2) or len(colors) == 1:
        return skia.Shaders.Color(colors[-1])
    return skia.GradientShader.MakeLinear(ends, colors, offsets, _spread(scene, server), 0, matrix)


def _radial(scene: Scene, server: Element, frame: Frame, bounds: Any) -> Any:
    matrix, box = _gradient_space(scene, server, frame, bounds)
    colors, offsets = _stops(scene, server)
    if matrix is None or not colors:
        return None
    cx = length(_attribute(scene, server, "cx"), box.width, box.width / 2)
    cy = length(_attribute(scene, server, "cy"), box.height, box.height / 2)
    radius = length(_attribute(scene, server, "r"), box.diagonal, box.diagonal / 2)
    fx, fy = (
        length(_attribute(scene, server, "fx"), box.width, cx),
        length(_attribute(scene, server, "fy"), box.height, cy),
    )
    focal = length(_attribute(scene, server, "fr"), box.diagonal)
    if radius <= 0 or len(colors) == 1:
        return skia.Shaders.Color(colors[-1])
    start, end = skia.Point(fx, fy), skia.Point(cx, cy)
    return skia.GradientShader.MakeTwoPointConical(
        start, focal, end, radius, colors, offsets, _spread(scene, server), 0, matrix
    )


def _pattern(scene: Scene, server: Element, frame: Frame, bounds: Any) -> Any:
    if frame.depth > _CHAIN_MAX:
        return None
    holder = next((link for link in _chain(scene, server) if len(link)), server)
    in_box = (_attribute(scene, server, "patternUnits") or "objectBoundingBox") == "objectBoundingBox"
    tile = _tile(scene, server, bounds, frame.viewport, in_box)
    if tile.isEmpty():
        return None
    recorder = skia.PictureRecorder()
    canvas = recorder.beginRecording(skia.Rect.MakeWH(tile.width(), tile.height()))
    canvas.clipRect(skia.Rect.MakeWH(tile.width(), tile.height()))
    if holder.get("viewBox"):
        canvas.concat(fitted(holder, tile.width(), tile.height()))
    elif _attribute(scene, server, "patternContentUnits") == "objectBoundingBox":
        canvas.scale(bounds.width(), bounds.height())
    scene.draw_children(holder, canvas, frame.inside(scene.cascade.in_place(holder)))
    picture = recorder.finishRecordingAsPicture()
    matrix = transform(_attribute(scene, server, "patternTransform"))
    matrix.preTranslate(tile.x(), tile.y())
    repeat = skia.TileMode.kRepeat
    box = skia.Rect.MakeWH(tile.width(), tile.height())
    return picture.makeShader(repeat, repeat, skia.FilterMode.kLinear, matrix, box)


_SERVERS = {"linearGradient": _linear, "radialGradient": _radial, "pattern": _pattern}


def _tile(scene: Scene, server: Element, bounds: Any, viewport: Viewport, in_box: bool) -> Any:
    reference = _UNIT if in_box else viewport
    x, width = (length(_attribute(scene, server, name), reference.width) for name in ("x", "width"))
    y, height = (length(_attribute(scene, server, name), reference.height) for name in ("y", "height"))
    tile = skia.Rect.MakeXYWH(x, y, max(0.0, width), max(0.0, height))
    return box_matrix(bounds).mapRect(tile) if in_box else tile


def _gradient_space(scene: Scene, server: Element, frame: Frame, bounds: Any) -> tuple[Any, Viewport]:
    """Return the shader's matrix, None where a box has no area, and what its percentages refer to."""
    matrix = transform(_attribute(scene, server, "gradientTransform"))
    if _attribute(scene, server, "gradientUnits") == "userSpaceOnUse":
        return matrix, frame.viewport
    if bounds.width() <= 0 or bounds.height() <= 0:
        return None, _UNIT
    return skia.Matrix.Concat(box_matrix(bounds), matrix), _UNIT


def box_matrix(bounds: Any) -> Any:
    """Return the matrix from the unit square to an element's bounding box."""
    return skia.Matrix.MakeAll(bounds.width(), 0, bounds.x(), 0, bounds.height(), bounds.y(), 0, 0, 1)


def _stops(scene: Scene, server: Element) -> tuple[list[int], list[float]]:
    """Colours and rising offsets, from the first gradient of the chain that has any."""
    holder = next((link for link in _chain(scene, server) if _stop_elements(link)), server)
    colors, offsets, last = [], [], 0.0
    for stop in _stop_elements(holder):
        style = scene.cascade.in_place(stop)
        color = color_of(style.get("stop-color", "black"), style) or css.BLACK
        last = max(last, fraction(stop.get("offset"), 0.0))
        colors.append(packed(color._replace(alpha=color.alpha * fraction(style.get("stop-opacity"), 1.0))))
        offsets.append(last)
    return colors, offsets


def _stop_elements(element: Element) -> list[Element]:
    return [child for child in children(element) if name_of(child) == "stop"]


def _spread(scene: Scene, server: Element) -> Any:
    return _SPREADS.get(_attribute(scene, server, "spreadMethod") or "pad", skia.TileMode.kClamp)


def _attribute(scene: Scene, server: Element, name: str) -> str | None:
    """An attribute, inherited along the chain of links."""
    return next((link.get(name) for link in _chain(scene, server) if link.get(name) is not None), None)


def _chain(scene: Scene, server: Element) -> Iterator[Element]:
    link: Element | None = server
    for _ in range(_CHAIN_MAX):
        if link is None:
            return
        yield link
        link = scene.document.linked(link)
