"""Raster route of a shape (layers.md 5.3): draw fills, strokes, then brush strokes (12.3) into a padded supersampled buffer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import skia

from gpu_renderer.content.raster import PADDING_PX_MAX, Raster, padding_for
from gpu_renderer.content.vector import css
from gpu_renderer.content.vector.blur import SKIA_BOXES_SIGMA_MIN, blurred, brush_blur, filter_margin
from gpu_renderer.content.vector.outline import fill, outline, runs_outline
from gpu_renderer.content.vector.paints import Canvas, Style, as_pen, solid
from gpu_renderer.content.vector.surface import Pixels, bgra, coverage, fitting_scale, image, swapped
from gpu_renderer.geometry.color import Rgba
from motion.formulas.ribbon import is_ribbon, ribbons
from motion.snapshot import BrushStroke, Run, ShapeSource, SolidPaint, Stroke
from motion.timing import round_half_up

SAMPLED_SCALE_MAX = 1.0
"""Raster px per layer px up to which edges get four samples if no canvas is named. Above it their mean looks alike."""
_HUGE_PX = 1e5
_OVERSHOOT = {"center": 1.0, "outside": 2.0, "inside": 0.0}


def padding(source: ShapeSource, bleed_px: float = 0.0) -> float:
    """Return the padding on every side, px: bleed of baked effects, stroke overshoot, outline beyond the box, brushes."""
    overshoot = max((stroke.width * _OVERSHOOT[stroke.align] for stroke in source.strokes), default=0.0)
    padded = max(bleed_px, overshoot)
    escape = _overhang(source)
    if escape > 0:
        padded = max(padded, min(PADDING_PX_MAX, escape + overshoot))
    padded = max([padded, *(brush.size / 2 for brush in source.brush_strokes)])
    return padding_for(padded)


def shape_raster(
    source: ShapeSource, supersample: float, bleed_px: float = 0.0, canvas: Canvas | None = None
) -> Raster:
    """Return the shape drawn at `supersample` raster px per layer px.

    `canvas`: the canvas whose edges and dither it gets, or None to choose by the scale.
    """
    padded = padding(source, bleed_px)
    width, height = source.width + 2 * padded, source.height + 2 * padded
    scale = fitting_scale(width, height, supersample)
    columns, rows = max(1, round_half_up(width * scale)), max(1, round_half_up(height * scale))
    color = _single_color(source)
    pixels, into = bgra(columns, rows) if color is None else coverage(columns, rows)
    into.translate(width * scale / 2, height * scale / 2)
    into.scale(scale, scale)
    drawn = source if color is None else _in_white(source)
    sampled_size = (columns, rows) if canvas == "gpu" or scale <= SAMPLED_SCALE_MAX else None
    _Drawing(into, drawn, sampled_size, canvas).draw()
    _paint_over(pixels, into, source.brush_strokes, scale)
    return Raster(swapped(pixels) if color is None else pixels, source.width, source.height, padded, color)


def _single_color(source: ShapeSource) -> Rgba | None:
    """Return the colour of a shape that has only one fill or stroke of one colour, or None for other shapes."""
    if source.painted_apart or source.brush_strokes or len(source.fills) + len(source.strokes) != 1:
        return None
    stroke = source.strokes[0] if source.strokes else None
    paint = source.fills[0] if stroke is None else stroke.paint
    if not isinstance(paint, SolidPaint):
        return None
    color = css.parse(paint.color) or css.BLACK
    opacity = 1.0 if stroke is None else stroke.opacity
    return color._replace(alpha=min(1.0, max(0.0, color.alpha * opacity)))


def _in_white(source: ShapeSource) -> ShapeSource:
    """Return a shape of one fill or stroke with opaque white paint."""
    white = SolidPaint("#ffffff")
    strokes = tuple(replace(stroke, paint=white, opacity=1.0) for stroke in source.strokes)
    return replace(source, fills=(white,) * len(source.fills), strokes=strokes)


def _overhang(source: ShapeSource) -> float:
    """Return how far vertices and handles lie beyond the box, px, negative if all lie inside."""
    points = [point for run in source.runs for point in run.points]
    beyond_x = max((abs(x) for point in points for x in point[:6:2]), default=0.0) - source.width / 2
    beyond_y = max((abs(y) for point in points for y in point[1:6:2]), default=0.0) - source.height / 2
    return max(beyond_x, beyond_y)


class _Drawing:
    """Drawing of one shape: the canvas, and its fill and stroke styles.

    `sampled_size`: columns and rows of a canvas whose fills get four samples a pixel, or None for Skia's own edges.
    """

    def __init__(
        self,
        into: skia.Canvas,
        source: ShapeSource,
        sampled_size: tuple[int, int] | None,
        canvas: Canvas | None,
    ) -> None:
        self._canvas = into
        self._sampled_size = sampled_size
        self._source = source
        matrix = into.getTotalMatrix()
        self._fill, self._stroke = (Style(source.width, source.height, matrix, canvas) for _ in range(2))
        self._ribbons: dict[tuple[int, float], skia.Path] = {}
        """Ribbons of all runs, by the index and the width of their stroke."""

    def draw(self) -> None:
        source = self._source
        if not source.painted_apart:
            self._fill_with(outline(source), len(source.fills), 1.0)
            self._stroke_with(outline(source), source.runs, 1.0, 1.0)
            return
        for run in source.runs:
            factor = run.stroke_factor if len(source.strokes) == 1 else 1.0
            path, opacity = runs_outline((run,)), min(1.0, max(0.0, run.opacity))
            self._fill_with(path, 1, opacity)
            self._stroke_with(path, (run,), opacity, factor)

    def _fill_with(self, path: skia.Path, count: int, opacity: float) -> None:
        for wanted in self._source.fills[:count]:
            paint = self._fill.paint(wanted, opacity)
            if self._sampled_size is None:
                self._canvas.drawPath(path, paint)
            else:
                fill(self._canvas, self._sampled_size, path, paint)

    def _stroke_with(self, path: skia.Path, runs: tuple[Run, ...], opacity: float, width_factor: float) -> None:
        for index, stroke in enumerate(self._source.strokes):
            if self._source.primitive == "path" and is_ribbon(stroke.taper, stroke.wave):
                # In the reference, each copy draws the ribbons of all copies, at the stroke's own opacity.
                paint = self._stroke.paint(stroke.paint, stroke.opacity)
                self._canvas.drawPath(self._ribbon(index, stroke, width_factor), paint)
            else:
                capped = stroke if _has_ends(self._source.primitive, runs, stroke) else replace(stroke, cap="butt")
                self._draw_stroke(path, capped, opacity, width_factor)

    def _ribbon(self, index: int, stroke: Stroke, width_factor: float) -> skia.Path:
        wide, path = self._ribbons_of(index, stroke, stroke.width), skia.Path()
        if width_factor == 1.0:
            return wide
        wide.interpolate(self._ribbons_of(index, stroke, 0.0), width_factor, path)
        return path

    def _ribbons_of(self, index: int, stroke: Stroke, width: float) -> skia.Path:
        if (index, width) not in self._ribbons:
            self._ribbons[index, width] = _ribbons(self._source.runs, stroke, width)
        return self._ribbons[index, width]

    def _draw_stroke(self, path: skia.Path, stroke: Stroke, opacity: float, width_factor: float) -> None:
        paint = self._stroke.paint(stroke.paint, stroke.opacity * opacity)
        width = stroke.width * width_factor * (1.0 if stroke.align == "center" else 2.0)
        self._canvas.save()
        if stroke.align == "inside":
            self._canvas.clipPath(path, skia.ClipOp.kIntersect, True)
        elif stroke.align == "outside":
            self._canvas.clipPath(_all_but(path), skia.ClipOp.kIntersect, True)
        self._canvas.drawPath(path, as_pen(paint, stroke, width))
        self._canvas.restore()


def _has_ends(primitive: str, runs: tuple[Run, ...], stroke: Stroke) -> bool:
    """Return True if a stroke has caps.

    The cap has to be removed for other strokes: Skia adds caps to closed hairlines, which moves one of their edges.
    """
    if stroke.dash or primitive == "ellipse":
        return True
    return any(not run.closed or len({point[:2] for point in run.points}) < 2 for run in runs)


def _ribbons(runs: tuple[Run, ...], stroke: Stroke, width: float) -> skia.Path:
    path = skia.Path()
    for run in runs:
        for points in ribbons(run, width, stroke.taper, stroke.wave, stroke.dash, stroke.dash_offset):
            path.addPoly([skia.Point(x, y) for x, y in points], True)
    return path


def _all_but(path: skia.Path) -> skia.Path:
    outside = skia.Path(path)
    outside.addRect(skia.Rect.MakeLTRB(-_HUGE_PX, -_HUGE_PX, _HUGE_PX, _HUGE_PX))
    outside.setFillType(skia.PathFillType.kEvenOdd)
    return outside


def _paint_over(pixels: Pixels, canvas: skia.Canvas, strokes: tuple[BrushStroke, ...], scale: float) -> None:
    """Draw brush strokes on the canvas, which is centred and scaled. `pixels`: the canvas's buffer, BGRA."""
    before = image(swapped(pixels)) if any(stroke.mode == "clone" for stroke in strokes) else None
    for stroke in strokes:
        if not stroke.points:
            continue
        brush, blend = _brush(stroke, canvas, before)
        sigma = (1 - stroke.hardness) * stroke.size / 3  # raster px: a canvas filter ignores the transform
        if 0 < sigma < SKIA_BOXES_SIGMA_MIN:
            _draw_soft(canvas, pixels.shape[:2], _line(stroke), brush, blend, sigma)
            continue
        if sigma > 0:
            brush.setImageFilter(brush_blur(sigma / scale, sigma))
        brush.setBlendMode(blend)
        canvas.drawPath(_line(stroke), brush)


def _draw_soft(
    canvas: skia.Canvas, size: tuple[int, ...], line: skia.Path, brush: skia.Paint, blend: skia.BlendMode, sigma: float
) -> None:
    """Draw a brush stroke blurred by boxes, as the reference's canvas does. `size`: rows and columns of the canvas."""
    beyond = filter_margin(sigma)
    matrix = canvas.getTotalMatrix()
    box = matrix.mapRect(line.getBounds().makeOutset(brush.getStrokeWidth(), brush.getStrokeWidth())).roundOut()
    if not box.intersect(skia.IRect.MakeWH(size[1], size[0]).makeOutset(beyond, beyond)):
        return
    box = box.makeOutset(beyond, beyond)
    pixels, own = bgra(box.width(), box.height())
    own.translate(-box.left(), -box.top())
    own.concat(matrix)
    own.drawPath(line, brush)
    soft = np.ascontiguousarray(blurred(pixels, sigma))
    shown = skia.Image.fromarray(soft, skia.ColorType.kBGRA_8888_ColorType, skia.AlphaType.kPremul_AlphaType)
    canvas.save()
    canvas.resetMatrix()
    canvas.drawImage(shown, box.left(), box.top(), skia.SamplingOptions(), skia.Paint(BlendMode=blend))
    canvas.restore()


def _line(stroke: BrushStroke) -> skia.Path:
    path = skia.Path()
    path.moveTo(*stroke.points[0])
    for point in stroke.points[1:] or stroke.points:
        path.lineTo(*point)
    return path


def _brush(stroke: BrushStroke, canvas: skia.Canvas, before: skia.Image | None) -> tuple[skia.Paint, skia.BlendMode]:
    """Return the paint of a brush stroke, and how it is composited."""
    paint, blend = solid(css.parse(stroke.color) or css.BLACK, stroke.opacity), skia.BlendMode.kSrcOver
    if stroke.mode == "erase":
        blend = skia.BlendMode.kDstOut
        paint.setColor4f(skia.Color4f(0, 0, 0, stroke.opacity))
    elif stroke.mode == "clone" and before is not None:
        paint = skia.Paint(Shader=_shifted(stroke, canvas, before), AntiAlias=True, Alphaf=stroke.opacity)
    paint.setStyle(skia.Paint.kStroke_Style)
    paint.setStrokeWidth(stroke.size)
    paint.setStrokeCap(skia.Paint.kRound_Cap)
    paint.setStrokeJoin(skia.Paint.kRound_Join)
    return paint, blend


def _shifted(stroke: BrushStroke, canvas: skia.Canvas, before: skia.Image) -> skia.Shader:
    """Return the pixels before painting, moved by minus the offset, as a shader in the canvas's own space."""
    raster_to_layer = skia.Matrix()
    canvas.getTotalMatrix().invert(raster_to_layer)
    raster_to_layer.postTranslate(-stroke.clone_x, -stroke.clone_y)
    return before.makeShader(skia.TileMode.kDecal, skia.TileMode.kDecal, skia.SamplingOptions(), raster_to_layer)
