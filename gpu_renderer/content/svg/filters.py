"""Filter chains as Skia image filters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import skia

from gpu_renderer.content.svg.blending import blend_mode
from gpu_renderer.content.svg.budget import Cost
from gpu_renderer.content.svg.cascade import Style
from gpu_renderer.content.svg.document import Element, children, name_of
from gpu_renderer.content.svg.frame import Frame, Scene
from gpu_renderer.content.svg.lengths import fraction, length, numbers
from gpu_renderer.content.svg.recolouring import color_matrix_rows, transfer_table
from gpu_renderer.content.svg.regions import filter_region, primitive_region
from gpu_renderer.content.svg.servers import color_of
from gpu_renderer.content.vector import css
from gpu_renderer.content.vector.blur import BOX_SIGMA, blur_filter
from gpu_renderer.content.vector.gradient import packed
from gpu_renderer.geometry.color import Rgba, decoded

_PRIMITIVES_MAX = 64
_COLOR_BLIND = ("feFlood", "feOffset", "feTile")
"""Primitives that give the same in either light, or state their colour."""
_OPERATORS = {
    "over": skia.BlendMode.kSrcOver, "in": skia.BlendMode.kSrcIn, "out": skia.BlendMode.kSrcOut, "atop": skia.BlendMode.kSrcATop,
    "xor": skia.BlendMode.kXor, "lighter": skia.BlendMode.kPlus,
}  # fmt: skip


def image_filter(scene: Scene, element: Element, frame: Frame, bounds: Any) -> Any:
    """Return the whole chain; None leaves the source as it is. A primitive that is not known passes its input on."""
    chain = _Chain(scene, element, frame, bounds)
    for primitive in list(children(element))[:_PRIMITIVES_MAX]:
        scene.budget.spend(Cost.filters)
        chain.add(primitive)
    return chain.last


class _Chain:
    """Results by name while the primitives are read in order. None stands for the source graphic."""

    def __init__(self, scene: Scene, element: Element, frame: Frame, bounds: Any) -> None:
        self._scene = scene
        self._viewport = frame.viewport
        self._style = scene.cascade.in_place(element)
        in_box = element.get("primitiveUnits") == "objectBoundingBox"
        self._box = bounds if in_box else None
        self._unit_x: float = bounds.width() if in_box else 1.0
        self._unit_y: float = bounds.height() if in_box else 1.0
        self._results: dict[str, Any] = {}
        self.last: Any = None
        self._whole = filter_region(element, bounds, frame.viewport)
        self._region = self._whole
        """Region of the current primitive."""
        self._regions: dict[int, Any] = {}

    def add(self, primitive: Element) -> None:
        method = _PRIMITIVES.get(name_of(primitive))
        if method is None:
            self._scene.warn(f"The SVG filter primitive <{name_of(primitive)}> is not drawn.")
            return
        style = self._scene.cascade.computed(primitive, self._style)
        make, inputs = partial(method, self), self._inputs(primitive)
        in_linear = is_linear(style) and name_of(primitive) not in _COLOR_BLIND
        self._region = primitive_region(primitive, self._whole, self._box, self._viewport)
        made = _in_linear_light(make, primitive, style, inputs) if in_linear else make(primitive, style, inputs)
        self.last = _cut(made, self._region)
        self._regions[id(self.last)] = self._region
        if primitive.get("result"):
            self._results[primitive.get("result")] = self.last

    def _inputs(self, primitive: Element) -> list[Any]:
        if name_of(primitive) == "feMerge":
            return [self._input(node.get("in")) for node in children(primitive)]
        return [self._input(primitive.get("in")), self._input(primitive.get("in2"))]

    def _input(self, name: str | None) -> Any:
        if name in ("SourceGraphic", "BackgroundImage", "FillPaint", "StrokePaint"):
            return None
        if name == "SourceAlpha":
            return skia.ImageFilters.ColorFilter(skia.ColorFilters.Matrix([0.0] * 18 + [1.0, 0.0]))
        return self._results.get(name, self.last) if name else self.last

    def _gaussian_blur(self, primitive: Element, style: Style, inputs: list[Any]) -> Any:
        sigma = (numbers(primitive.get("stdDeviation")) or [0.0]) * 2
        x, y = max(0.0, sigma[0]) * self._unit_x, max(0.0, sigma[1]) * self._unit_y
        if not x and not y:
            return inputs[0]
        return blur_filter(x, y, inputs[0])

    def _offset(self, primitive: Element, style: Style, inputs: list[Any]) -> Any:
        dx, dy = (length(primitive.get(name), 1.0) for name in ("dx", "dy"))
        return skia.ImageFilters.Offset(dx * self._unit_x, dy * self._unit_y, inputs[0])

    def _flood(self, primitive: Element, style: Style, inputs: list[Any]) -> Any:
        recorder = skia.PictureRecorder()
        recorder.beginRecording(self._region).drawRect(self._region, skia.Paint(Color=_flood(style)))
        return skia.ImageFilters.Picture(recorder.finishRecordingAsPicture(), self._region)

    def _tile(self, primitive: Element, style: Style, inputs: list[Any]) -> Any:
        return skia.ImageFilters.Tile(self._regions.get(id(inputs[0]), self._whole), self._region, inputs[0])

    def _merge(self, primitive: Element, style: Style, inputs: list[Any]) -> Any:
        return skia.ImageFilters.Merge(inputs)

    def _blend(self, primitive: Element, style: Style, inputs: list[Any]) -> Any:
        return skia.ImageFilters.Xfermode(blend_mode(primitive.get("mode")), inputs[1], inputs[0])

    def _composite(self, primitive: Element, style: Style, inputs: list[Any]) -> Any:
        if primitive.get("operator") == "arithmetic":
            k1, k2, k3, k4 = (length(primitive.get(name), 1.0) for name in ("k1", "k2", "k3", "k4"))
            return skia.ImageFilters.Arithmetic(k1, k2, k3, k4, True, inputs[1], inputs[0])
        operator = _OPERATORS.get(primitive.get("operator") or "over", skia.BlendMode.kSrcOver)
        return skia.ImageFilters.Xfermode(operator, inputs[1], inputs[0])

    def _color_matrix(self, primitive: Element, style: Style, inputs: list[Any]) -> Any:
        matrix = color_matrix_rows(primitive.get("type") or "matrix", numbers(primitive.get("values")))
        kept = skia.ColorFilters.Matrix(matrix) if matrix else None
        return skia.ImageFilters.ColorFilter(kept, inputs[0]) if kept else inputs[0]

    def _component_transfer(self, primitive: Element, style: Style, inputs: list[Any]) -> Any:
        tables = {name_of(child)[-1]: transfer_table(child) for child in children(primitive)}
        straight = list(range(256))
        found = [tables.get(channel, straight) for channel in "ARGB"]
        return skia.ImageFilters.ColorFilter(skia.TableColorFilter.MakeARGB(*found), inputs[0])

    def _drop_shadow(self, primitive: Element, style: Style, inputs: list[Any]) -> Any:
        sigma = (numbers(primitive.get("stdDeviation")) or [2.0]) * 2
        dx, dy = (length(primitive.get(name), 1.0, 2.0) for name in ("dx", "dy"))
        return skia.ImageFilters.DropShadow(
            dx * self._unit_x, dy * self._unit_y,
            sigma[0] * self._unit_x / BOX_SIGMA, sigma[1] * self._unit_y / BOX_SIGMA,
            _flood(style, linear=is_linear(style)), inputs[0],
        )  # fmt: skip

    def _morphology(self, primitive: Element, style: Style, inputs: list[Any]) -> Any:
        radius = (numbers(primitive.get("radius")) or [0.0]) * 2
        make = skia.ImageFilters.Dilate if primitive.get("operator") == "dilate" else skia.ImageFilters.Erode
        return make(radius[0] * self._unit_x, radius[1] * self._unit_y, inputs[0])

    def _turbulence(self, primitive: Element, style: Style, inputs: list[Any]) -> Any:
        frequency = (numbers(primitive.get("baseFrequency")) or [0.0]) * 2
        octaves = int(length(primitive.get("numOctaves"), 1.0, 1.0))
        is_fractal = primitive.get("type") == "fractalNoise"
        make = skia.PerlinNoiseShader.MakeFractalNoise if is_fractal else skia.PerlinNoiseShader.MakeTurbulence
        shader = make(frequency[0], frequency[1], min(octaves, 9), length(primitive.get("seed"), 1.0))
        recorder = skia.PictureRecorder()
        recorder.beginRecording(self._region).drawRect(self._region, skia.Paint(Shader=shader))
        return skia.ImageFilters.Picture(recorder.finishRecordingAsPicture(), self._region)

    def _displacement_map(self, primitive: Element, style: Style, inputs: list[Any]) -> Any:
        channels = {"R": skia.ColorChannel.kR, "G": skia.ColorChannel.kG, "B": skia.ColorChannel.kB}
        x, y = (channels.get(primitive.get(f"{axis}ChannelSelector"), skia.ColorChannel.kA) for axis in "xy")
        return skia.ImageFilters.DisplacementMap(x, y, length(primitive.get("scale"), 1.0), inputs[1], inputs[0])


_PRIMITIVES = {
    "feGaussianBlur": _Chain._gaussian_blur,
    "feOffset": _Chain._offset,
    "feFlood": _Chain._flood,
    "feTile": _Chain._tile,
    "feMerge": _Chain._merge,
    "feBlend": _Chain._blend,
    "feComposite": _Chain._composite,
    "feColorMatrix": _Chain._color_matrix,
    "feComponentTransfer": _Chain._component_transfer,
    "feDropShadow": _Chain._drop_shadow,
    "feMorphology": _Chain._morphology,
    "feTurbulence": _Chain._turbulence,
    "feDisplacementMap": _Chain._displacement_map,
}


def _flood(style: Style, *, linear: bool = False) -> int:
    """Return the flood colour, packed; decoded where it enters a primitive that computes in linear light."""
    color = color_of(style.get("flood-color", "black"), style) or css.BLACK
    red, green, blue = map(decoded, color[:3]) if linear else color[:3]
    return packed(Rgba(red, green, blue, color.alpha * fraction(style.get("flood-opacity"), 1.0)))


def _cut(made: Any, region: Any) -> Any:
    """Return the result inside a rectangle only."""
    return skia.ImageFilters.Tile(region, region, made)


def is_linear(style: Style) -> bool:
    """Return True if primitives of the style compute in linear light."""
    return style.get("color-interpolation-filters", "linearRGB") != "sRGB"


def _in_linear_light(make: Callable[..., Any], primitive: Element, style: Style, inputs: list[Any]) -> Any:
    decoded = [skia.ImageFilters.ColorFilter(skia.ColorFilters.SRGBToLinearGamma(), given) for given in inputs]
    return skia.ImageFilters.ColorFilter(skia.ColorFilters.LinearToSRGBGamma(), make(primitive, style, decoded))
