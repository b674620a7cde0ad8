"""Filter chains as Skia image filters, and the rectangles that crop filters and masks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import skia

from gpu_renderer.content.svg.budget import Cost
from gpu_renderer.content.svg.convolution import FACTORS_MAX, convolution, convolution_matrix
from gpu_renderer.content.svg.document import Element, children, name_of
from gpu_renderer.content.svg.lighting import Surface, lighting
from gpu_renderer.content.svg.scene import ElementState, SvgScene
from gpu_renderer.content.svg.servers import color_of
from gpu_renderer.content.svg.values import UNIT, Style, Viewport, fraction, length, numbers
from gpu_renderer.content.vector import css
from gpu_renderer.content.vector.blur import BOX_SIGMA, blur_filter
from gpu_renderer.content.vector.paints import packed
from gpu_renderer.geometry.color import Rgba, decoded

_Result: TypeAlias = skia.ImageFilter | None
"""Result of a primitive. None is the source graphic."""

_PRIMITIVES_MAX = 64
_CROP_MARGIN_PX, _SCALE_MIN = 2.0, 1e-6
_LIGHT_INDEPENDENT = ("feFlood", "feOffset", "feTile", "feImage")
"""Primitives that do not depend on linear or encoded light, or that convert their own colour."""
_INPUTS = {"feFlood": 0, "feTurbulence": 0, "feImage": 0, "feBlend": 2, "feComposite": 2, "feDisplacementMap": 2}
"""Number of inputs. Other primitives have one, feMerge has any number."""
_WORK = {
    "feGaussianBlur": 80.0, "feDropShadow": 80.0, "feMorphology": 30.0, "feComposite": 40.0, "feBlend": 25.0,
    "feDisplacementMap": 25.0, "feTurbulence": 10.0, "feDiffuseLighting": 80.0, "feSpecularLighting": 80.0, "feConvolveMatrix": 80.0,
}  # fmt: skip
_DEFAULT_WORK, _LINEAR_LIGHT_WORK, _MERGE_WORK = 5.0, 10.0, 8.0
_OCTAVE_WORK, _RADIUS_WORK, _FACTOR_WORK = 8.0, 20.0, 13.0
"""Measured costs per pixel, in painted pixels of 2.5 ns.

In order: other primitives, computing in linear light, each input of feMerge, each octave of feTurbulence, each px of
feMorphology's radius, each factor of feConvolveMatrix.
"""
_BLENDS = {
    "normal": skia.BlendMode.kSrcOver, "multiply": skia.BlendMode.kMultiply, "screen": skia.BlendMode.kScreen,
    "darken": skia.BlendMode.kDarken, "lighten": skia.BlendMode.kLighten, "overlay": skia.BlendMode.kOverlay,
    "color-dodge": skia.BlendMode.kColorDodge, "color-burn": skia.BlendMode.kColorBurn, "hard-light": skia.BlendMode.kHardLight,
    "soft-light": skia.BlendMode.kSoftLight, "difference": skia.BlendMode.kDifference, "exclusion": skia.BlendMode.kExclusion,
    "hue": skia.BlendMode.kHue, "saturation": skia.BlendMode.kSaturation, "color": skia.BlendMode.kColor,
    "luminosity": skia.BlendMode.kLuminosity, "plus-lighter": skia.BlendMode.kPlus,
}  # fmt: skip
_OPERATORS = {
    "over": skia.BlendMode.kSrcOver, "in": skia.BlendMode.kSrcIn, "out": skia.BlendMode.kSrcOut, "atop": skia.BlendMode.kSrcATop,
    "xor": skia.BlendMode.kXor, "lighter": skia.BlendMode.kPlus,
}  # fmt: skip
_CHANNELS = {"R": skia.ColorChannel.kR, "G": skia.ColorChannel.kG, "B": skia.ColorChannel.kB}
_REGION = {"x": "-10%", "y": "-10%", "width": "120%", "height": "120%"}
_NOTHING = skia.ImageFilters.ColorFilter(skia.ColorFilters.Matrix([0.0] * 20))
"""A transparent result."""
_LUMINANCE = np.array([[0.213, 0.715, 0.072]] * 3)
_TURN = np.array([[-0.213, -0.715, 0.928], [0.143, 0.140, -0.283], [-0.787, 0.715, 0.072]])


def blend_mode(name: str | None) -> skia.BlendMode:
    """Return the Skia mode of a CSS blend mode, or source-over for an unknown one."""
    return _BLENDS.get(name or "normal", skia.BlendMode.kSrcOver)


def filter_region(element: Element, bounds: skia.Rect, viewport: Viewport) -> skia.Rect:
    """Return the rectangle that crops a filter or mask."""
    in_user_space = (element.get("filterUnits") or element.get("maskUnits")) == "userSpaceOnUse"
    stated = {name: element.get(name) or default for name, default in _REGION.items()}
    return _rectangle(stated, viewport, None if in_user_space else bounds)


def crop_margin(matrix: skia.Matrix) -> float:
    """Return the margin of a filter's region, user units. Primitives crop their results to whole pixels, outward."""
    scale: float = matrix.mapRadius(1.0)
    return _CROP_MARGIN_PX / max(scale, _SCALE_MIN)


def image_filter(
    scene: SvgScene, element: Element, state: ElementState, bounds: skia.Rect, canvas: skia.Canvas
) -> skia.ImageFilter | None:
    """Return the whole chain as one filter, or None if it leaves the source unchanged.

    An unknown primitive passes its input on. `canvas`: clipped to the filter's region. The budget is charged for
    drawing the chain there.
    """
    chain = _Chain(scene, element, state, bounds, canvas.getTotalMatrix())
    for primitive in list(children(element))[:_PRIMITIVES_MAX]:
        scene.budget.spend(Cost.filters)
        chain.add(primitive)
        # Check before other primitives use the result: Skia visits all uses when it creates a filter.
        scene.budget.check_work(canvas, chain.work())
    scene.budget.spend_work(canvas, chain.work())
    return chain.last


def ends_in_linear_light(scene: SvgScene, element: Element) -> bool:
    """Return True if the last primitive of a `filter` element computes in linear light."""
    drawn = [primitive for primitive in list(children(element))[:_PRIMITIVES_MAX] if name_of(primitive) in _PRIMITIVES]
    outer_style = scene.cascade.in_place(element)
    return any(_is_linear(scene.cascade.computed(primitive, outer_style)) for primitive in drawn[-1:])


def in_linear_light(made: skia.ImageFilter) -> skia.ImageFilter:
    """Return a filter that computes in linear light."""
    decoding, encoding = skia.ColorFilters.SRGBToLinearGamma(), skia.ColorFilters.LinearToSRGBGamma()
    decoded_source = skia.ImageFilters.ColorFilter(decoding, None)
    return skia.ImageFilters.ColorFilter(encoding, skia.ImageFilters.Compose(made, decoded_source))


def _is_linear(style: Style) -> bool:
    """Return True if a primitive of this style computes in linear light."""
    return style.get("color-interpolation-filters", "linearRGB") != "sRGB"


class _Chain:
    """Results of primitives by name, while the primitives are read in order. None is the source graphic."""

    def __init__(
        self, scene: SvgScene, element: Element, state: ElementState, bounds: skia.Rect, matrix: skia.Matrix
    ) -> None:
        self._scene = scene
        self._scale, self._crop_margin = matrix.mapRadius(1.0), crop_margin(matrix)
        self._state, self._viewport = state, state.viewport
        self._outer_style = scene.cascade.in_place(element)
        in_box = element.get("primitiveUnits") == "objectBoundingBox"
        self._box = bounds if in_box else None
        self._units: tuple[float, float] = (bounds.width(), bounds.height()) if in_box else (1.0, 1.0)
        self._results: dict[str, _Result] = {}
        self.last: _Result = None
        self._whole = filter_region(element, bounds, state.viewport)
        self._regions: dict[_Result, skia.Rect] = {}
        self._work: dict[_Result, float] = {None: 0.0}
        """Painted pixels per pixel of a result, including its inputs: Skia draws an input again for each use."""
        self._primitive, self._style, self._region = element, self._outer_style, self._whole
        """Current primitive, its style, and the rectangle that crops it."""

    def add(self, primitive: Element) -> None:
        name = name_of(primitive)
        if name not in _PRIMITIVES:
            self._scene.warn(f"The SVG filter primitive <{name}> is not drawn.")
            return
        self._primitive = primitive
        self._style = self._scene.cascade.computed(primitive, self._outer_style)
        inputs = self._inputs()
        self._region = self._primitive_region(inputs)
        in_linear = _is_linear(self._style) and name not in _LIGHT_INDEPENDENT
        work = self._own_work(name, inputs) + (_LINEAR_LIGHT_WORK if in_linear else 0.0)
        work += sum(self._work.get(given, 0.0) for given in inputs)
        if in_linear:
            decoding = skia.ColorFilters.SRGBToLinearGamma()
            inputs = [skia.ImageFilters.ColorFilter(decoding, given) for given in inputs]
        left = self._scene.budget.left(Cost.painted)
        made = _PRIMITIVES[name](self, inputs)
        work += (left - self._scene.budget.left(Cost.painted)) / max(1.0, self._region.width() * self._region.height())
        if in_linear:
            made = skia.ImageFilters.ColorFilter(skia.ColorFilters.LinearToSRGBGamma(), made)
        self.last = self._cropped(made)
        self._regions[self.last], self._work[self.last] = self._region, work
        if primitive.get("result"):
            self._results[primitive.get("result")] = self.last

    def _cropped(self, made: _Result) -> skia.ImageFilter:
        """Return a filter that is transparent outside the current region, which is enlarged to whole pixels.

        The tile is larger than the region: partly covered pixels would show its opposite edge.
        """
        if self._region.isEmpty():
            return _NOTHING
        margin = self._crop_margin
        return skia.ImageFilters.Tile(self._region.makeOutset(margin, margin), self._region, made)

    def work(self) -> float:
        """Return the cost of each pixel of the chain's result, in painted pixels."""
        return self._work[self.last]

    def _own_work(self, name: str, inputs: Sequence[_Result]) -> float:
        work = _WORK.get(name, _DEFAULT_WORK)
        if name == "feMerge":
            work += _MERGE_WORK * len(inputs)
        elif name == "feConvolveMatrix":
            work += _FACTOR_WORK * min(len(numbers(self._primitive.get("kernelMatrix"))), FACTORS_MAX)
        elif name == "feTurbulence":
            work += _OCTAVE_WORK * self._octaves()
        elif name == "feMorphology":
            work += _RADIUS_WORK * self._scale * sum(abs(radius) for radius in self._pair("radius")) / 2
        return work

    def _primitive_region(self, inputs: Sequence[_Result]) -> skia.Rect:
        """Return the rectangle that crops the primitive.

        The union of the inputs' regions supplies the sides that it does not state. That of the source graphic, and of a
        primitive without inputs, is the filter's region.
        """
        stated = {name: value for name in _REGION if (value := self._primitive.get(name)) is not None}
        own, default = _rectangle(stated, self._viewport, self._box), skia.Rect.MakeEmpty()
        for given in inputs if name_of(self._primitive) != "feTile" else ():
            default.join(self._regions.get(given, self._whole))
        default = self._whole if default.isEmpty() else default
        region = skia.Rect.MakeXYWH(*(getattr(own if name in stated else default, name)() for name in _REGION))
        return region if region.intersect(self._whole) else skia.Rect.MakeEmpty()

    def _inputs(self) -> list[_Result]:
        name = name_of(self._primitive)
        if name == "feMerge":
            return [self._input(node.get("in")) for node in children(self._primitive)]
        return [self._input(self._primitive.get(key)) for key in ("in", "in2")[: _INPUTS.get(name, 1)]]

    def _input(self, name: str | None) -> _Result:
        if name == "SourceGraphic":
            return None
        if name == "SourceAlpha":
            return skia.ImageFilters.ColorFilter(skia.ColorFilters.Matrix([0.0] * 18 + [1.0, 0.0]))
        return self._results.get(name, self.last) if name else self.last

    def _number(self, name: str, default: float = 0.0) -> float:
        return length(self._primitive.get(name), 1.0, default)

    def _pair(self, name: str, default: float = 0.0) -> tuple[float, float]:
        """Return the horizontal and vertical number of an attribute, user units. A single number is used for both."""
        found = (numbers(self._primitive.get(name)) or [default]) * 2
        return found[0] * self._units[0], found[1] * self._units[1]

    def _shift(self, default: float = 0.0) -> tuple[float, float]:
        return self._number("dx", default) * self._units[0], self._number("dy", default) * self._units[1]

    def _flood_color(self, *, linear: bool) -> int:
        color = color_of(self._style.get("flood-color", "black"), self._style) or css.BLACK
        opacity = fraction(self._style.get("flood-opacity"), 1.0)
        return _packed(color._replace(alpha=color.alpha * opacity), linear=linear)

    def _painted(self, paint: skia.Paint) -> skia.ImageFilter:
        recorder = skia.PictureRecorder()
        recorder.beginRecording(self._region).drawRect(self._region, paint)
        return skia.ImageFilters.Picture(recorder.finishRecordingAsPicture(), self._region)

    def _gaussian_blur(self, inputs: list[_Result]) -> _Result:
        x, y = (max(0.0, sigma) for sigma in self._pair("stdDeviation"))
        return blur_filter(x, y, inputs[0]) if x or y else inputs[0]

    def _offset(self, inputs: list[_Result]) -> _Result:
        return skia.ImageFilters.Offset(*self._shift(), inputs[0])

    def _flood(self, inputs: list[_Result]) -> _Result:
        return self._painted(skia.Paint(Color=self._flood_color(linear=False)))

    def _tile(self, inputs: list[_Result]) -> _Result:
        return skia.ImageFilters.Tile(self._regions.get(inputs[0], self._whole), self._region, inputs[0])

    def _merge(self, inputs: list[_Result]) -> _Result:
        return skia.ImageFilters.Merge(inputs)

    def _blend(self, inputs: list[_Result]) -> _Result:
        return skia.ImageFilters.Xfermode(blend_mode(self._primitive.get("mode")), inputs[1], inputs[0])

    def _composite(self, inputs: list[_Result]) -> _Result:
        name = self._primitive.get("operator") or "over"
        if name == "arithmetic":
            factors = (self._number(f"k{index}") for index in range(1, 5))
            backdrop = inputs[1] or skia.ImageFilters.Offset(0, 0)  # unlike Xfermode, it takes no None
            return skia.ImageFilters.Arithmetic(*factors, True, backdrop, inputs[0])
        return skia.ImageFilters.Xfermode(_OPERATORS.get(name, skia.BlendMode.kSrcOver), inputs[1], inputs[0])

    def _color_matrix(self, inputs: list[_Result]) -> _Result:
        matrix = color_matrix(self._primitive.get("type") or "matrix", numbers(self._primitive.get("values")))
        return skia.ImageFilters.ColorFilter(skia.ColorFilters.Matrix(matrix), inputs[0]) if matrix else inputs[0]

    def _component_transfer(self, inputs: list[_Result]) -> _Result:
        tables = {name_of(child)[-1]: _transfer_table(child) for child in children(self._primitive)}
        found = [tables.get(channel, list(range(256))) for channel in "ARGB"]
        return skia.ImageFilters.ColorFilter(skia.TableColorFilter.MakeARGB(*found), inputs[0])

    def _drop_shadow(self, inputs: list[_Result]) -> _Result:
        sigmas = (sigma / BOX_SIGMA for sigma in self._pair("stdDeviation", 2.0))
        color = self._flood_color(linear=_is_linear(self._style))
        return skia.ImageFilters.DropShadow(*self._shift(2.0), *sigmas, color, inputs[0])

    def _morphology(self, inputs: list[_Result]) -> _Result:
        is_dilation = self._primitive.get("operator") == "dilate"
        make = skia.ImageFilters.Dilate if is_dilation else skia.ImageFilters.Erode
        return make(*self._pair("radius"), inputs[0])

    def _turbulence(self, inputs: list[_Result]) -> _Result:
        frequency = (numbers(self._primitive.get("baseFrequency")) or [0.0]) * 2
        is_fractal = self._primitive.get("type") == "fractalNoise"
        make = skia.PerlinNoiseShader.MakeFractalNoise if is_fractal else skia.PerlinNoiseShader.MakeTurbulence
        is_stitched = self._primitive.get("stitchTiles") == "stitch"
        tile = skia.ISize(round(self._region.width()), round(self._region.height())) if is_stitched else None
        shader = make(frequency[0], frequency[1], self._octaves(), self._number("seed"), tile)
        return self._painted(skia.Paint(Shader=shader))

    def _octaves(self) -> int:
        return int(min(self._number("numOctaves", 1.0), 9.0))

    def _displacement_map(self, inputs: list[_Result]) -> _Result:
        names = (self._primitive.get(f"{axis}ChannelSelector") for axis in "xy")
        x, y = (_CHANNELS.get(name, skia.ColorChannel.kA) for name in names)
        displacement, source = (given or skia.ImageFilters.Offset(0, 0) for given in (inputs[1], inputs[0]))
        return skia.ImageFilters.DisplacementMap(x, y, self._number("scale") * self._units[0], displacement, source)

    def _lighting(self, inputs: list[_Result]) -> _Result:
        color = color_of(self._style.get("lighting-color", "white"), self._style) or css.BLACK
        packed_color = _packed(color._replace(alpha=1.0), linear=_is_linear(self._style))
        return lighting(Surface(inputs[0], self._primitive, packed_color, self._box)) or _NOTHING

    def _convolve_matrix(self, inputs: list[_Result]) -> _Result:
        matrix = convolution_matrix(self._primitive)
        return _NOTHING if matrix is None else convolution(self._primitive, matrix, inputs[0], self._region)

    def _image(self, inputs: list[_Result]) -> _Result:
        recorder = skia.PictureRecorder()
        canvas = recorder.beginRecording(self._region)
        if (target := self._scene.document.linked(self._primitive)) is not None:
            canvas.translate(self._region.x(), self._region.y())
            self._scene.draw_reference(target, canvas, self._state)
        else:
            self._scene.draw_picture(self._primitive, canvas, self._region, self._style)
        return skia.ImageFilters.Picture(recorder.finishRecordingAsPicture(), self._region)


_PRIMITIVES: dict[str, Callable[[_Chain, list[_Result]], _Result]] = {
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
    "feDiffuseLighting": _Chain._lighting,
    "feSpecularLighting": _Chain._lighting,
    "feConvolveMatrix": _Chain._convolve_matrix,
    "feImage": _Chain._image,
}


def _packed(color: Rgba, *, linear: bool) -> int:
    """Return a colour, packed. It is decoded for a primitive that computes in linear light."""
    red, green, blue = map(decoded, color[:3]) if linear else color[:3]
    return packed(Rgba(red, green, blue, color.alpha))


def _rectangle(stated: dict[str, str], viewport: Viewport, box: skia.Rect | None) -> skia.Rect:
    """Return the rectangle of the stated sides, 0 for the others. With a box, the sides are fractions of it."""
    reference = viewport if box is None else UNIT
    x, width = (length(stated.get(name), reference.width) for name in ("x", "width"))
    y, height = (length(stated.get(name), reference.height) for name in ("y", "height"))
    if box is not None:
        x, width = box.x() + x * box.width(), width * box.width()
        y, height = box.y() + y * box.height(), height * box.height()
    return skia.Rect.MakeXYWH(x, y, max(0.0, width), max(0.0, height))


def color_matrix(kind: str, values: list[float]) -> list[float]:
    """Return the 4 x 5 matrix of an feColorMatrix in row order, empty for invalid values."""
    if kind == "matrix":
        return values if len(values) == 20 else []
    if kind == "luminanceToAlpha":
        return [0.0] * 15 + [0.2126, 0.7152, 0.0722, 0.0, 0.0]
    amount = values[0] if values else (1.0 if kind == "saturate" else 0.0)
    cos, sin = (amount, 0.0) if kind == "saturate" else (np.cos(np.radians(amount)), np.sin(np.radians(amount)))
    rows = _LUMINANCE + cos * (np.eye(3) - _LUMINANCE) + sin * _TURN
    return [*np.pad(rows, ((0, 0), (0, 2))).ravel().tolist(), 0.0, 0.0, 0.0, 1.0, 0.0]


def _transfer_table(function: Element) -> list[int]:
    """Return the table of a transfer function: the output level for each of 256 levels."""
    kind = function.get("type") or "identity"
    y = x = np.arange(256) / 255
    values = numbers(function.get("tableValues"))
    slope, amplitude, exponent = (length(function.get(name), 1.0, 1.0) for name in ("slope", "amplitude", "exponent"))
    intercept, offset = (length(function.get(name), 1.0) for name in ("intercept", "offset"))
    if kind == "linear":
        y = slope * x + intercept
    elif kind == "gamma":
        y = amplitude * x**exponent + offset
    elif kind == "table" and values:
        y = np.interp(x, np.linspace(0, 1, len(values)), values)
    elif kind == "discrete" and values:
        y = np.array(values)[np.minimum((x * len(values)).astype(int), len(values) - 1)]
    return np.floor(y.clip(0, 1) * 255 + 0.5).astype(int).tolist()  # type: ignore[no-any-return]
