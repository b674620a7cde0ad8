"""Draw a document: visit its elements in order and apply each one's transform, clip, filter, mask and opacity."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import skia

from gpu_renderer.content.media.bitmaps import bitmap_pixels, data_url_bytes, stated_area, undrawn_features
from gpu_renderer.content.svg.boxes import draw_fitted, inner_view, picture_box, rectangle
from gpu_renderer.content.svg.budget import BLUR_WORK, DEPTH_MAX, LAYER_WORK, Cost, drawn_count
from gpu_renderer.content.svg.clipping import basic_shape, clip_outline
from gpu_renderer.content.svg.document import Document, Element, SvgSize, children, href, name_of, shown_children
from gpu_renderer.content.svg.filter_functions import filter_list, function_filter, is_blurring
from gpu_renderer.content.svg.filters import (
    blend_mode,
    crop_margin,
    ends_in_linear_light,
    filter_region,
    image_filter,
    in_linear_light,
)
from gpu_renderer.content.svg.lettering import draw_pictures, interrupted, letterings, text_box
from gpu_renderer.content.svg.masking import draw_masks, masks_of
from gpu_renderer.content.svg.media_queries import Screen
from gpu_renderer.content.svg.scene import ElementState, SvgScene
from gpu_renderer.content.svg.servers import color_of, paint_of, shown_style
from gpu_renderer.content.svg.shapes import SHAPES, shape_path
from gpu_renderer.content.svg.strokes import (
    as_stroke,
    draw_markers,
    draw_stroke,
    path_length_scale,
    spend_dashes,
    stroke_width,
    stroked,
)
from gpu_renderer.content.svg.values import (
    Style,
    Viewport,
    fitted,
    font_size,
    fraction,
    placement,
    root_placement,
    view_box,
)
from gpu_renderer.content.text.families import Fonts
from gpu_renderer.content.vector.surface import image
from gpu_renderer.errors import MediaUndecodable

_PAINT_ORDER = ("fill", "stroke", "markers")
_CONTAINERS = ("g", "a", "switch")
_FILL_BOXES = ("fill-box", "content-box", "padding-box")
"""CSS keywords for the box of an element's geometry. The keywords for border and margin box include its stroke."""
_SILENT = ("defs", "style", "title", "desc", "metadata", "script", "symbol", "clipPath", "mask", "filter", "marker", "pattern",
    "linearGradient", "radialGradient", "animate", "animateTransform", "animateMotion", "set", "view")  # fmt: skip


class Drawing(SvgScene):
    """The drawing of one document."""

    def __init__(self, document: Document, fonts: Fonts, screen: Screen, fill: str | None = None) -> None:
        super().__init__(document, fonts, screen, fill)
        self._referred: set[Element] = set()
        """Elements that filters draw, while they are drawn."""

    def draw(self, canvas: skia.Canvas, size: SvgSize) -> None:
        """Draw the whole document into its raster at the canvas's origin."""
        self.budget.check(Cost.elements, drawn_count(self.document))
        width, height, root = size.columns, size.rows, self.document.root
        box = view_box(root) or (0.0, 0.0, size.width, size.height)
        style = self.cascade.computed(root, {})
        turned = root_placement(style, width, height)
        if not turned.isIdentity():
            canvas.concat(turned)
            canvas.clipRect(skia.Rect.MakeWH(width, height), skia.ClipOp.kIntersect, True)
        canvas.concat(
            fitted(root, width, height) if view_box(root) else skia.Matrix.Scale(width / box[2], height / box[3])
        )
        state = ElementState(style, Viewport(box[2], box[3]))
        if color := color_of(style.get("background-color") or style.get("background") or "none", style):
            canvas.drawColor(skia.Color4f(*color))
        elif "gradient(" in style.get("background", ""):
            self._warn_about_functions("background", style)
        self._composed(root, canvas, state, lambda: self.draw_children(root, canvas, state))

    def draw_children(self, element: Element, canvas: skia.Canvas, state: ElementState) -> None:
        """Draw an element's children in order."""
        for child in shown_children(element):
            self._draw(child, canvas, state)

    def draw_reference(self, element: Element, canvas: skia.Canvas, state: ElementState) -> None:
        """Draw an element that another one refers to, in the style of its own place. Inside itself it is not drawn."""
        if element in self._referred:
            return
        self._referred.add(element)
        parent = element.getparent()
        style = {} if parent is None else self.cascade.in_place(parent)
        self._draw(element, canvas, state.inside(style))
        self._referred.remove(element)

    def geometry(self, element: Element, state: ElementState) -> skia.Path:
        """Return the outline of a shape or text in its own user space. Other elements give an empty one."""
        if name_of(element) in SHAPES:
            return shape_path(element, state)
        path = skia.Path()
        if name_of(element) == "text":
            for lettering in letterings(self, element, state):
                path.addPath(lettering.path, 0, 0)
        return path

    def _bounds(
        self, element: Element, state: ElementState, *, with_stroke: bool = False, use: Element | None = None
    ) -> skia.Rect:
        """Return the box of an element's geometry in its own user space, empty without geometry.

        The box of a viewport is in the user space around it. `use`: the element that shows it, if any.
        """
        name = name_of(element)
        if name in ("svg", "symbol") and element is not self.document.root:
            view = inner_view(element, state, use)
            if view is None:
                return skia.Rect.MakeEmpty()
            inside = state._replace(viewport=view.viewport)
            return view.matrix.mapRect(self._children_bounds(element, inside, with_stroke=with_stroke))
        if name in (*_CONTAINERS, "svg", "use"):
            return self._children_bounds(element, state, with_stroke=with_stroke)
        if name == "image":
            x, y, width, height = rectangle(element, state.viewport)
            if not (width and height) and (picture := self._picture(href(element))) is not None:
                return picture_box(element, state.viewport, picture)
            return skia.Rect.MakeXYWH(x, y, width, height)
        if name == "text":
            box = text_box(letterings(self, element, state))
            return box.makeOutset(*(stroke_width(state.style, state.viewport) / 2,) * 2) if with_stroke else box
        path = self.geometry(element, state)
        return (stroked(path, state.style, state.viewport) if with_stroke else path).computeTightBounds()

    def _children_bounds(self, element: Element, state: ElementState, *, with_stroke: bool) -> skia.Rect:
        found = skia.Rect.MakeEmpty()
        target = self.document.linked(element) if name_of(element) == "use" else None
        outer, use = state.style, None
        if target is not None:
            outer, use = shown_style(outer, target), element
        for child in [target] if target is not None else children(element):
            is_drawn = name_of(child) not in _SILENT or (use is not None and name_of(child) == "symbol")
            if state.depth < DEPTH_MAX and is_drawn:
                style = self.cascade.computed(child, outer)
                inside = state.inside(style)
                box = self._bounds(child, inside, use=use)
                matrix = placement(style, state.viewport, partial(box.makeOutset, 0.0, 0.0))
                if name_of(child) == "use":
                    matrix.preTranslate(*rectangle(child, state.viewport)[:2])
                shown = self._bounds(child, inside, with_stroke=True, use=use) if with_stroke else box
                found.join(matrix.mapRect(shown))
        return found

    def _draw(self, element: Element, canvas: skia.Canvas, outer: ElementState) -> None:
        name = name_of(element)
        if outer.depth > DEPTH_MAX or name in _SILENT or not name:
            return
        state = outer.inside(self.cascade.computed(element, outer.style))
        if state.style.get("display") == "none":
            return
        paint = _PAINTERS.get(name)
        if paint is None:
            self.warn(f"The SVG element <{name}> is not drawn.")
            return
        self._composed(element, canvas, state, lambda: paint(self, element, canvas, state))

    def _composed(self, element: Element, canvas: skia.Canvas, state: ElementState, paint: Callable[[], None]) -> None:
        """Paint inside the element's transform, clip, opacity, mask and filter."""
        style, depth = state.style, canvas.save()
        if element is not self.document.root:
            canvas.concat(placement(style, state.viewport, lambda: self._bounds(element, state)))
        if name_of(element) == "use":
            canvas.translate(*rectangle(element, state.viewport)[:2])
        needs_bounds = any(style.get(key, "none") != "none" for key in ("clip-path", "mask", "filter"))
        bounds = self._bounds(element, state) if needs_bounds else skia.Rect.MakeEmpty()
        outline = self._clip(element, state, bounds)
        if outline is not None:
            canvas.clipPath(outline, skia.ClipOp.kIntersect, True)
        masks = masks_of(self, style)
        opacity, mode = fraction(style.get("opacity"), 1.0), blend_mode(style.get("mix-blend-mode"))
        is_apart = bool(masks) or style.get("isolation") == "isolate"
        is_apart |= outline is not None and self.document.has_blending  # clipped content is isolated
        if opacity < 1 or is_apart or mode != skia.BlendMode.kSrcOver:
            self.budget.spend_layer(canvas)
            canvas.saveLayer(None, skia.Paint(Alphaf=opacity, BlendMode=mode))
        self._filtered(style.get("filter", "none"), canvas, state, bounds, paint)
        if masks:
            draw_masks(self, masks, canvas, state, bounds)
        canvas.restoreToCount(depth)

    def _clip(self, element: Element, state: ElementState, bounds: skia.Rect) -> skia.Path | None:
        """Return the outline that clips an element, or None if it is not clipped."""
        value = state.style.get("clip-path", "none")
        if (wanted := self.document.referred(value)) is not None:
            return clip_outline(self, wanted, state, bounds)

        def box_of(word: str) -> skia.Rect:
            if word == "view-box":
                return skia.Rect.MakeWH(*state.viewport)
            return bounds if word in _FILL_BOXES else self._bounds(element, state, with_stroke=True)

        shape = basic_shape(value, box_of, font_size(state.style))
        if shape is None:
            self._warn_about_functions("clip-path", state.style)
        return shape

    def _warn_about_functions(self, name: str, style: Style) -> None:
        """Warn about CSS functions of a property that are not drawn."""
        value = style.get(name, "none")
        if "(" in value and not value.startswith("url("):
            self.warn(f"The {name} {value[:60]!r} of an SVG document is not drawn.")

    def _filtered(
        self, value: str, canvas: skia.Canvas, state: ElementState, bounds: skia.Rect, paint: Callable[[], None]
    ) -> None:
        """Paint through the filters of the property.

        The first filter reads the source, the last one gives the result. Functions compute in the light of the last filter
        element before them, as in Chromium.
        """
        found: list[tuple[str, str, Element | None, bool]] = []
        is_linear = False
        for name, inside in filter_list(value):
            wanted = self.document.referred(f"url({inside})") if name == "url" else None
            found.append((name, inside, wanted, is_linear))
            if wanted is not None and name_of(wanted) == "filter":
                is_linear = ends_in_linear_light(self, wanted)
        if not found:
            self._warn_about_functions("filter", state.style)
        depth = canvas.save()
        for name, inside, wanted, is_linear in reversed(found):
            if name == "url":
                if not self._open_filter(wanted, canvas, state, bounds):
                    break
            elif (made := function_filter(name, inside, state.style)) is not None:
                self.budget.spend_layer(canvas, BLUR_WORK if is_blurring(name) else LAYER_WORK)
                canvas.saveLayer(None, skia.Paint(ImageFilter=in_linear_light(made) if is_linear else made))
        else:
            paint()
        canvas.restoreToCount(depth)

    def _open_filter(self, wanted: Element | None, canvas: skia.Canvas, state: ElementState, bounds: skia.Rect) -> bool:
        """Open the layer of a `filter` element, if there is one.

        Return False if the filter shows nothing, for example without primitives.
        """
        if wanted is None or name_of(wanted) != "filter":
            return True
        if next(children(wanted), None) is None:
            return False
        self.budget.spend_layer(canvas)
        margin = crop_margin(canvas.getTotalMatrix())
        canvas.clipRect(filter_region(wanted, bounds, state.viewport).makeOutset(margin, margin))
        chain = image_filter(self, wanted, state, bounds, canvas)
        canvas.saveLayer(None, skia.Paint(ImageFilter=chain) if chain else skia.Paint())
        return True

    def _draw_shape(self, element: Element, canvas: skia.Canvas, state: ElementState) -> None:
        path = shape_path(element, state)
        self.budget.spend_crossings(path)
        marked = element if name_of(element) in ("path", "line", "polyline", "polygon") else None
        self._paint_outline(path, canvas, state, dash_scale=path_length_scale(element, path), marked=marked)

    def _draw_text(self, element: Element, canvas: skia.Canvas, state: ElementState) -> None:
        found = letterings(self, element, state)
        box = text_box(found)
        for lettering in found:
            depth = canvas.save()
            if lettering.opacity < 1:
                self.budget.spend_layer(canvas)
                canvas.saveLayer(None, skia.Paint(Alphaf=lettering.opacity))
            smooth = lettering.state._replace(style=lettering.state.style | {"shape-rendering": "auto"})
            self._paint_outline(interrupted(lettering, canvas.getTotalMatrix()), canvas, smooth, box)
            draw_pictures(lettering, canvas)
            canvas.restoreToCount(depth)

    def _paint_outline(
        self,
        path: skia.Path,
        canvas: skia.Canvas,
        state: ElementState,
        bounds: skia.Rect | None = None,
        dash_scale: float = 1.0,
        marked: Element | None = None,
    ) -> None:
        """Paint an element's fill, stroke and markers in the order of `paint-order`."""
        style = state.style
        if style.get("visibility", "visible") != "visible" or path.isEmpty():
            return
        even_odd = style.get("fill-rule") == "evenodd"
        path.setFillType(skia.PathFillType.kEvenOdd if even_odd else skia.PathFillType.kWinding)
        box = bounds or path.computeTightBounds()
        stated = [kind for kind in style.get("paint-order", "").split() if kind in _PAINT_ORDER]
        for kind in dict.fromkeys((*stated, *_PAINT_ORDER)):
            if kind == "markers" and marked is not None:
                draw_markers(self, marked, path, canvas, state)
            if kind == "markers" or (kind == "stroke" and not stroke_width(style, state.viewport)):
                continue
            if (paint := paint_of(self, kind, state, box)) is None:
                continue
            self.budget.spend_painted(canvas, box)
            if kind == "fill":
                canvas.drawPath(path, paint)
            else:
                spend_dashes(self.budget, path, style, state.viewport, dash_scale, canvas)
                draw_stroke(path, as_stroke(paint, style, state.viewport, dash_scale), style, canvas)

    def _draw_use(self, element: Element, canvas: skia.Canvas, state: ElementState) -> None:
        target = self.document.linked(element)
        if target is None:
            return
        state = state._replace(style=shown_style(state.style, target))
        if name_of(target) not in ("symbol", "svg"):
            self._draw(target, canvas, state)
            return
        inner = state.inside(self.cascade.computed(target, state.style))
        if inner.depth <= DEPTH_MAX and inner.style.get("display") != "none":
            self._composed(target, canvas, inner, lambda: self._draw_viewport(target, canvas, inner, element))

    def _draw_viewport(
        self, element: Element, canvas: skia.Canvas, state: ElementState, use: Element | None = None
    ) -> None:
        """Draw an element's children in its own viewport. `use`: the element that shows it, if any."""
        view = inner_view(element, state, use)
        if view is None:
            return
        canvas.save()
        if state.style.get("overflow", "hidden") not in ("visible", "auto"):
            canvas.clipRect(view.box, skia.ClipOp.kIntersect, True)
        canvas.concat(view.matrix)
        self.draw_children(element, canvas, state.inside(state.style, view.viewport))
        canvas.restore()

    def _draw_image(self, element: Element, canvas: skia.Canvas, state: ElementState) -> None:
        """Draw a picture that is embedded in the document. Raises MediaUndecodable over budget."""
        picture = self._picture(href(element))
        if picture is None:
            return
        draw_fitted(picture, element, canvas, picture_box(element, state.viewport, picture), state.style)

    def draw_picture(self, element: Element, canvas: skia.Canvas, box: skia.Rect, style: Style) -> None:
        """Draw the picture of an element's link into a box, by its `preserveAspectRatio`."""
        if (picture := self._picture(href(element))) is not None:
            draw_fitted(picture, element, canvas, box, style)

    def _picture(self, link: str) -> skia.Image | None:
        """Return the embedded picture of a link. Warn and return None if there is none or it cannot be read."""
        try:
            data = data_url_bytes(link) if link.startswith("data:") else b""
        except MediaUndecodable:
            data = b""
        self.budget.spend(Cost.pictures, stated_area(data))
        for line in undrawn_features(data):
            self.warn(line)
        try:
            return image(bitmap_pixels(data))
        except MediaUndecodable:
            self.warn("A picture inside an SVG document is not embedded or cannot be read; it is not drawn.")
            return None


_PAINTERS: dict[str, Callable[[Drawing, Element, skia.Canvas, ElementState], None]] = {
    **dict.fromkeys(SHAPES, Drawing._draw_shape),
    **dict.fromkeys(_CONTAINERS, Drawing.draw_children),
    "text": Drawing._draw_text,
    "use": Drawing._draw_use,
    "svg": Drawing._draw_viewport,
    "image": Drawing._draw_image,
}
