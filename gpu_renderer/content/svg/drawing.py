"""Walk over a document: elements in order, each with its transform, clip, filter, mask and opacity."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import skia

from gpu_renderer.content.svg.blending import blend_mode
from gpu_renderer.content.svg.budget import Budget, Cost, painted_pixels, spend_layer
from gpu_renderer.content.svg.cascade import Cascade, Style
from gpu_renderer.content.svg.clipping import clip_outline
from gpu_renderer.content.svg.conditions import shown_children
from gpu_renderer.content.svg.document import Document, Element, SvgSize, children, name_of
from gpu_renderer.content.svg.embedded import draw_picture
from gpu_renderer.content.svg.expansion import drawn_count
from gpu_renderer.content.svg.filters import image_filter
from gpu_renderer.content.svg.frame import DEPTH_MAX, Frame, Scene
from gpu_renderer.content.svg.lengths import Viewport, fitted, fraction, length, view_box
from gpu_renderer.content.svg.lettering import letterings, text_box
from gpu_renderer.content.svg.markers import draw_markers
from gpu_renderer.content.svg.masking import draw_mask
from gpu_renderer.content.svg.path_text import arc_joints
from gpu_renderer.content.svg.regions import filter_region
from gpu_renderer.content.svg.servers import color_of, context_paints, paint_of
from gpu_renderer.content.svg.shapes import SHAPES, path_data, shape_path
from gpu_renderer.content.svg.strokes import as_stroke, draw_stroke, path_length_scale
from gpu_renderer.content.svg.transforms import placement
from gpu_renderer.content.svg.viewports import draw_viewport, place_of
from gpu_renderer.content.text.families import Fonts

_CONTAINERS = ("g", "a", "switch")
_SILENT = ("defs", "style", "title", "desc", "metadata", "script", "symbol", "clipPath", "mask", "filter", "marker", "pattern",
    "linearGradient", "radialGradient", "animate", "animateTransform", "animateMotion", "set", "view")  # fmt: skip


class Drawing(Scene):
    """One document being drawn."""

    def __init__(self, document: Document, fonts: Fonts, fill: str | None = None) -> None:
        self.document = document
        self.budget = Budget()
        self.cascade = Cascade(document, fill, self.budget)
        self.fonts = fonts
        self.warnings: dict[str, None] = {}

    def draw(self, canvas: Any, size: SvgSize) -> None:
        """Draw the whole document into its raster at the canvas's origin."""
        self.budget.check(Cost.elements, drawn_count(self.document))
        width, height, root = size.columns, size.rows, self.document.root
        box = view_box(root) or (0.0, 0.0, size.width, size.height)
        canvas.concat(
            fitted(root, width, height) if view_box(root) else skia.Matrix.Scale(width / box[2], height / box[3])
        )
        style = self.cascade.computed(root, {})
        frame = Frame(style, Viewport(box[2], box[3]))
        self._draw_background(style, canvas)
        self._composed(root, canvas, frame, lambda: self.draw_children(root, canvas, frame))

    def _draw_background(self, style: Style, canvas: Any) -> None:
        if color := color_of(style.get("background-color") or style.get("background") or "none", style):
            canvas.drawColor(skia.Color4f(*color))

    def warn(self, line: str) -> None:
        """Say once what is not drawn."""
        self.warnings.setdefault(line)

    def draw_children(self, element: Element, canvas: Any, frame: Frame) -> None:
        """Draw an element's children in order."""
        for child in shown_children(element):
            self._draw(child, canvas, frame)

    def bounds(self, element: Element, frame: Frame) -> Any:
        """Return the box of an element's geometry in its own user space, without strokes."""
        if name_of(element) in (*_CONTAINERS, "svg", "use"):
            return self._children_bounds(element, frame)
        if name_of(element) == "image":
            x, y, width, height = _rectangle(element, frame.viewport)
            return skia.Rect.MakeXYWH(x, y, width, height)
        if name_of(element) == "text":
            return text_box(letterings(self, element, frame))
        return self.geometry(element, frame).computeTightBounds()

    def geometry(self, element: Element, frame: Frame) -> Any:
        """Return the outline of a shape or text in its own user space; empty for anything else."""
        if name_of(element) in SHAPES:
            return shape_path(element, frame)
        path = skia.Path()
        if name_of(element) == "text":
            for lettering in letterings(self, element, frame):
                path.addPath(lettering.path, 0, 0)
        return path

    def _children_bounds(self, element: Element, frame: Frame) -> Any:
        found = skia.Rect.MakeEmpty()
        target = self.document.linked(element) if name_of(element) == "use" else None
        for child in [target] if target is not None else children(element):
            if frame.depth < DEPTH_MAX and name_of(child) not in _SILENT:
                style = self.cascade.computed(child, frame.style)
                box = self.bounds(child, frame.inside(style))
                found.join(placement(style, frame.viewport, partial(skia.Rect, box)).mapRect(box))
        if target is not None:
            found.offset(length(element.get("x"), 1.0), length(element.get("y"), 1.0))
        return found

    def _draw(self, element: Element, canvas: Any, outer: Frame) -> None:
        name = name_of(element)
        if outer.depth > DEPTH_MAX or name in _SILENT or not name:
            return
        frame = outer.inside(self.cascade.computed(element, outer.style))
        if frame.style.get("display") == "none":
            return
        paint = self._painter(name, element, canvas, frame)
        if paint is None:
            self.warn(f"The SVG element <{name}> is not drawn.")
            return
        self._composed(element, canvas, frame, paint)

    def _painter(self, name: str, element: Element, canvas: Any, frame: Frame) -> Callable[[], None] | None:
        if name in SHAPES:
            return lambda: self._draw_shape(element, canvas, frame)
        if name in _CONTAINERS:
            return lambda: self.draw_children(element, canvas, frame)
        others = {"text": self._draw_text, "use": self._draw_use, "svg": self._draw_nested, "image": self._draw_image}
        draw = others.get(name)
        return None if draw is None else lambda: draw(element, canvas, frame)

    def _composed(self, element: Element, canvas: Any, frame: Frame, paint: Callable[[], None]) -> None:
        """Paint inside the element's transform, clip, opacity, mask and filter."""
        style, depth = frame.style, canvas.save()
        if element is not self.document.root:
            canvas.concat(placement(style, frame.viewport, lambda: self.bounds(element, frame)))
        wanted = {key: self.document.referred(style.get(key)) for key in ("clip-path", "mask", "filter")}
        needs_bounds = any(found is not None for found in wanted.values())
        bounds = self.bounds(element, frame) if needs_bounds else skia.Rect.MakeEmpty()
        if (clip := wanted["clip-path"]) is not None:
            canvas.clipPath(clip_outline(self, clip, frame, bounds), skia.ClipOp.kIntersect, True)
        self._open_group(style, canvas, has_mask=wanted["mask"] is not None)
        self._filtered(wanted["filter"], canvas, frame, bounds, paint)
        if (mask := wanted["mask"]) is not None:
            draw_mask(self, mask, canvas, frame, bounds)
        canvas.restoreToCount(depth)

    def _open_group(self, style: Style, canvas: Any, *, has_mask: bool) -> None:
        opacity, mode = fraction(style.get("opacity"), 1.0), blend_mode(style.get("mix-blend-mode"))
        is_apart = has_mask or style.get("isolation") == "isolate"
        if opacity < 1 or is_apart or mode != skia.BlendMode.kSrcOver:
            spend_layer(self.budget, canvas)
            canvas.saveLayer(None, skia.Paint(Alphaf=opacity, BlendMode=mode))

    def _filtered(
        self,
        wanted: Element | None,
        canvas: Any,
        frame: Frame,
        bounds: Any,
        paint: Callable[[], None],
    ) -> None:
        if wanted is None or name_of(wanted) != "filter":
            paint()
            return
        if next(children(wanted), None) is None:
            return
        spend_layer(self.budget, canvas)
        canvas.save()
        canvas.clipRect(filter_region(wanted, bounds, frame.viewport))
        chain = image_filter(self, wanted, frame, bounds)
        canvas.saveLayer(None, skia.Paint(ImageFilter=chain) if chain else skia.Paint())
        paint()
        canvas.restore()
        canvas.restore()

    def _draw_shape(self, element: Element, canvas: Any, frame: Frame) -> None:
        path = shape_path(element, frame)
        self._paint_outline(path, canvas, frame, dash_scale=path_length_scale(element, path))
        if name_of(element) in ("path", "line", "polyline", "polygon"):
            joints = arc_joints(path_data(element, frame)) if name_of(element) == "path" else frozenset[int]()
            draw_markers(self, path, joints, canvas, frame)

    def _draw_text(self, element: Element, canvas: Any, frame: Frame) -> None:
        found = letterings(self, element, frame)
        box = text_box(found)
        for lettering in found:
            is_faint = lettering.opacity < 1
            if is_faint:
                spend_layer(self.budget, canvas)
                canvas.saveLayer(None, skia.Paint(Alphaf=lettering.opacity))
            self._paint_outline(lettering.path, canvas, lettering.frame, box)
            if is_faint:
                canvas.restore()

    def _paint_outline(self, path: Any, canvas: Any, frame: Frame, bounds: Any = None, dash_scale: float = 1.0) -> None:
        style = frame.style
        if style.get("visibility", "visible") != "visible" or path.isEmpty():
            return
        even_odd = style.get("fill-rule") == "evenodd"
        path.setFillType(skia.PathFillType.kEvenOdd if even_odd else skia.PathFillType.kWinding)
        box = bounds or path.computeTightBounds()
        stroke_first = style.get("paint-order", "").startswith("stroke")
        for kind in ("stroke", "fill") if stroke_first else ("fill", "stroke"):
            if (paint := paint_of(self, kind, frame, box)) is None:
                continue
            self.budget.spend(Cost.painted, painted_pixels(canvas, box))
            if kind == "fill":
                canvas.drawPath(path, paint)
            else:
                draw_stroke(path, as_stroke(paint, style, frame.viewport, dash_scale), style, canvas)

    def _draw_use(self, element: Element, canvas: Any, frame: Frame) -> None:
        target = self.document.linked(element)
        if target is None:
            return
        canvas.translate(
            length(element.get("x"), frame.viewport.width), length(element.get("y"), frame.viewport.height)
        )
        frame = frame._replace(style=frame.style | context_paints(frame.style))
        if name_of(target) in ("symbol", "svg"):
            self._draw_used_viewport(target, element, canvas, frame)
        else:
            self._draw(target, canvas, frame)

    def _draw_used_viewport(self, target: Element, use: Element, canvas: Any, outer: Frame) -> None:
        frame = outer.inside(self.cascade.computed(target, outer.style))
        if frame.depth <= DEPTH_MAX and frame.style.get("display") != "none":
            place = place_of(target, frame, use)
            self._composed(target, canvas, frame, lambda: draw_viewport(self, target, canvas, frame, place))

    def _draw_nested(self, element: Element, canvas: Any, frame: Frame) -> None:
        draw_viewport(self, element, canvas, frame, place_of(element, frame))

    def _draw_image(self, element: Element, canvas: Any, frame: Frame) -> None:
        smooth = not _is_pixelated(frame.style)
        if not draw_picture(self, element, canvas, _rectangle(element, frame.viewport), smooth=smooth):
            self.warn("A picture inside an SVG document is not embedded or cannot be read; it is not drawn.")


def _rectangle(element: Element, viewport: Viewport) -> tuple[float, float, float, float]:
    x, width = (length(element.get(name), viewport.width) for name in ("x", "width"))
    y, height = (length(element.get(name), viewport.height) for name in ("y", "height"))
    return x, y, width, height


def _is_pixelated(style: Style) -> bool:
    return style.get("image-rendering") in ("pixelated", "crisp-edges", "optimizeSpeed")
