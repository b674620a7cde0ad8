"""Paint servers: colours, gradients and patterns for fills and strokes."""

from __future__ import annotations

import skia

from gpu_renderer.content.svg.cascade import TREE
from gpu_renderer.content.svg.document import Element, children, name_of
from gpu_renderer.content.svg.scene import ElementState, SvgScene
from gpu_renderer.content.svg.values import (
    UNIT,
    Style,
    Viewport,
    box_matrix,
    fitted,
    fraction,
    length,
    placement,
    transform,
)
from gpu_renderer.content.vector import css
from gpu_renderer.content.vector.oklab import mixed, mixed_in_light
from gpu_renderer.content.vector.paints import packed, solid
from gpu_renderer.geometry.color import Rgba

_CHAIN_MAX = 16
_MIXED_STOPS_MAX = 128
"""Number of stops above which a gradient is not mixed in Oklab or in linear light.

With more stops there is hardly anything between them.
"""
_OKLAB_PREFIXES = ("color(", "lab(", "lch(", "oklab(", "oklch(")
"""Prefixes of colours that make browsers mix the whole gradient in Oklab."""
_SPREADS = {"reflect": skia.TileMode.kMirror, "repeat": skia.TileMode.kRepeat}


def paint_of(scene: SvgScene, kind: str, state: ElementState, bounds: skia.Rect) -> skia.Paint | None:
    """Return the Skia paint of the `fill` or `stroke` of the style of `state`, or None if it paints nothing."""
    style, is_smooth = state.style, not is_crisp(state.style)
    value = style.get(kind, "black" if kind == "fill" else "none")
    value = style.get(f"-{value}", "none") if value.startswith("context-") else value
    opacity = fraction(style.get(f"{kind}-opacity"), 1.0)
    if value.startswith("url("):
        server = scene.document.referred(value)
        shader = None if server is None else _Server(scene, server, state, bounds).shader()
        if shader is not None:
            return skia.Paint(Shader=shader, AntiAlias=is_smooth, Alphaf=opacity)
        value = value.partition(")")[2].strip() or "none"
    color = None if value == "none" else color_of(value, style) or css.BLACK
    if color is None:
        return None
    paint = solid(color, opacity)
    paint.setAntiAlias(is_smooth)
    return paint


def is_crisp(style: Style) -> bool:
    """Return True if edges are drawn without anti-aliasing."""
    return style.get("shape-rendering", "").lower() in ("crispedges", "optimizespeed")


def context_paints(style: Style) -> Style:
    """Return the style with `context-fill` and `context-stroke` resolved for a referenced element."""
    return {"-context-fill": style.get("fill", "black"), "-context-stroke": style.get("stroke", "none")}


def shown_style(style: Style, target: Element) -> Style:
    """Return the style that an element inherits from a `use` of it."""
    return style | context_paints(style) | {TREE: target.get("id", "")}


def color_of(value: str, style: Style) -> Rgba | None:
    """Return a colour, resolving `currentColor`, or None for text that is not a colour."""
    if value.lower() == "currentcolor":
        return css.parse(style.get("color", "black")) or css.BLACK
    return css.parse(value)


class _Server:
    """A gradient or pattern for a box. Attributes that it does not state come from the elements that it links to."""

    def __init__(self, scene: SvgScene, element: Element, state: ElementState, bounds: skia.Rect) -> None:
        self._scene, self._state, self._bounds = scene, state, bounds
        self._kind = name_of(element)
        self._chain: list[Element] = []
        while element is not None and len(self._chain) < _CHAIN_MAX:
            self._chain.append(element)
            element = scene.document.linked(element)

    def shader(self) -> skia.Shader | None:
        """Return the Skia shader, or None if it paints nothing."""
        if self._kind in ("linearGradient", "radialGradient"):
            return self._gradient()
        if self._kind == "pattern":
            return self._pattern() if self._state.depth <= _CHAIN_MAX else None
        self._scene.warn(f"A paint server <{self._kind}> of an SVG document is not drawn.")
        return None

    def _gradient(self) -> skia.Shader | None:
        in_user_space = self._attribute("gradientUnits") == "userSpaceOnUse"
        colors, offsets = self._stops()
        if not colors or not (in_user_space or (self._bounds.width() > 0 and self._bounds.height() > 0)):
            return None
        box = self._state.viewport if in_user_space else UNIT
        matrix = self._transform("gradientTransform")
        matrix = matrix if in_user_space else skia.Matrix.Concat(box_matrix(self._bounds), matrix)
        spread = _SPREADS.get(self._attribute("spreadMethod") or "pad", skia.TileMode.kClamp)
        if len(colors) == 1:
            return skia.Shaders.Color(colors[0])
        make = self._linear if self._kind == "linearGradient" else self._radial
        return make(box, colors, offsets, spread, 0, matrix)

    def _linear(self, box: Viewport, colors: list[int], *ramp: object) -> skia.Shader:
        x1, x2 = self._length("x1", box.width), self._length("x2", box.width, box.width)
        y1, y2 = self._length("y1", box.height), self._length("y2", box.height)
        if (x1, y1) == (x2, y2):
            return skia.Shaders.Color(colors[-1])
        return skia.GradientShader.MakeLinear([skia.Point(x1, y1), skia.Point(x2, y2)], colors, *ramp)

    def _radial(self, box: Viewport, colors: list[int], *ramp: object) -> skia.Shader:
        cx, cy = self._length("cx", box.width, box.width / 2), self._length("cy", box.height, box.height / 2)
        fx, fy = self._length("fx", box.width, cx), self._length("fy", box.height, cy)
        radius, focal = self._length("r", box.diagonal, box.diagonal / 2), self._length("fr", box.diagonal)
        if radius <= 0:
            return skia.Shaders.Color(colors[-1])
        start, end = skia.Point(fx, fy), skia.Point(cx, cy)
        return skia.GradientShader.MakeTwoPointConical(start, focal, end, radius, colors, *ramp)

    def _stops(self) -> tuple[list[int], list[float]]:
        """Return colours and increasing offsets, from the first gradient of the chain that has stops."""
        chain = ([child for child in children(link) if name_of(child) == "stop"] for link in self._chain)
        stops: list[tuple[Rgba, float]] = []
        last, in_oklab = 0.0, False
        for stop in next(filter(None, chain), []):
            style = self._scene.cascade.in_place(stop)
            text = style.get("stop-color", "black")
            color = color_of(text, style) or css.BLACK
            in_oklab |= text.lower().startswith(_OKLAB_PREFIXES)
            last = max(last, fraction(stop.get("offset"), 0.0))
            stops.append((color._replace(alpha=color.alpha * fraction(style.get("stop-opacity"), 1.0)), last))
        in_light = self._scene.cascade.in_place(self._chain[0]).get("color-interpolation") == "linearRGB"
        if (in_oklab or in_light) and len(stops) <= _MIXED_STOPS_MAX:
            stops = mixed_in_light(stops) if in_light else mixed(stops)
        return [packed(color) for color, _ in stops], [offset for _, offset in stops]

    def _pattern(self) -> skia.Shader | None:
        holder = next((link for link in self._chain if len(link)), self._chain[0])
        tile = self._tile()
        if tile.isEmpty():
            return None
        box, recorder = skia.Rect.MakeWH(tile.width(), tile.height()), skia.PictureRecorder()
        canvas = recorder.beginRecording(box)
        canvas.clipRect(box)
        if holder.get("viewBox"):
            canvas.concat(fitted(holder, tile.width(), tile.height()))
        elif self._attribute("patternContentUnits") == "objectBoundingBox":
            canvas.scale(self._bounds.width(), self._bounds.height())
        self._scene.draw_children(holder, canvas, self._state.inside(self._scene.cascade.in_place(holder)))
        matrix = self._transform("patternTransform")
        matrix.preTranslate(tile.x(), tile.y())
        repeat = skia.TileMode.kRepeat
        return recorder.finishRecordingAsPicture().makeShader(repeat, repeat, skia.FilterMode.kLinear, matrix, box)

    def _tile(self) -> skia.Rect:
        in_box = (self._attribute("patternUnits") or "objectBoundingBox") == "objectBoundingBox"
        reference = UNIT if in_box else self._state.viewport
        x, width = (self._length(name, reference.width) for name in ("x", "width"))
        y, height = (self._length(name, reference.height) for name in ("y", "height"))
        tile = skia.Rect.MakeXYWH(x, y, max(0.0, width), max(0.0, height))
        return box_matrix(self._bounds).mapRect(tile) if in_box else tile

    def _transform(self, attribute: str) -> skia.Matrix:
        """Return the transform of the first element of the chain that has one.

        A transform in CSS applies about its origin, an attribute about (0, 0).
        """
        for link in self._chain:
            style = self._scene.cascade.in_place(link)
            if (stated := style.get("transform", "none")) != "none":
                is_by_css = stated != (link.get(attribute) or "").strip()
                return placement(style, self._state.viewport, lambda: self._bounds) if is_by_css else transform(stated)
        return skia.Matrix()

    def _attribute(self, name: str) -> str | None:
        return next((link.get(name) for link in self._chain if link.get(name) is not None), None)

    def _length(self, name: str, reference: float, default: float = 0.0) -> float:
        return length(self._attribute(name), reference, default)
