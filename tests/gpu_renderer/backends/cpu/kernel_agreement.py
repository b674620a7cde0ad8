"""Composite noise with a kernel and with OpenGL, for each variant of the kernels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gpu_renderer.backends.cpu import kernel_operations
from gpu_renderer.backends.cpu.kernel_texels import KernelTexels
from gpu_renderer.backends.gl import backdrop as below
from gpu_renderer.backends.gl import quads
from gpu_renderer.backends.gl.drawable import Drawable, FlatTarget, GroupTarget, Inputs
from gpu_renderer.backends.gl.quads import Style
from gpu_renderer.display_list.graph import UNTINTED
from gpu_renderer.display_list.paint import PLAIN, Filter, Gradient, Image, Shape
from gpu_renderer.effects import GlowBuffer, LayerBuffer, layer_buffer
from gpu_renderer.effects.layer_buffer import Compositing
from gpu_renderer.effects.stage import ColorStage
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.color import Rgba
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.geometry.region import Region
from gpu_renderer.kernels.bindings import HALF_PATTERNS, Backdrop, Kernels
from gpu_renderer.kernels.draw_ops import (
    BUFFER,
    CELLS,
    COVERAGE,
    ELLIPSE,
    GLOW,
    GLOWING_BUFFER,
    GROUP,
    HALF_CELLS,
    IMAGE,
    QUANTISE,
    RECTANGLE,
    DrawOp,
    DrawOps,
    Variant,
    quantise_op,
)
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target

_FRAME = Region(0, 0, 256, 192)
"""Frame of many pixels: half floats hide most differences of single floats, such as another order of a sum."""
_ROWS_MORE = 64
_PICTURE, _MATTE = Region(17, 19, 180, 140), Region(60, 10, 150, 150)
_TEXELS = (48, 40)
_ROUNDS, _COLOURS = 4, 12
"""Number of rounds per variant, alternately opaque and fading, whole and in part; and of one that blends one colour
at a time."""
_LOW_BYTES: npt.NDArray[np.uint8] = (np.arange(HALF_PATTERNS) & 255).astype(np.uint8)
_HIGH_BYTES: npt.NDArray[np.uint8] = (np.arange(HALF_PATTERNS) >> 8).astype(np.uint8)
TOLERANCE = 1 / 255
"""One level of 8 bits, in linear light."""


class _Trial(NamedTuple):
    """One scene, drawn with OpenGL and composited by the kernels."""

    draw: Callable[[Target], None]
    draw_ops: Sequence[DrawOp | None]


def agrees(painter: Painter, kernels: Kernels, variant: Variant) -> bool:
    """Return True if a kernel composites a variant like OpenGL, within one level."""
    rng = np.random.default_rng(0)
    return all(_agrees(painter, kernels, trial, variant, rng) for trial in _cases(painter, variant, rng))


def _agrees(painter: Painter, kernels: Kernels, trial: _Trial, variant: Variant, rng: np.random.Generator) -> bool:
    """Return True if draw operations over noise give OpenGL's pixels. The last operation must be of the variant."""
    composited = [op for op in trial.draw_ops if op is not None]
    if not composited or composited[-1].variant != variant:
        return False
    first = int(rng.integers(_ROWS_MORE))
    below = _noise()[first : first + _FRAME.height]
    shape = below.shape
    with painter.pool.acquired(_FRAME, "f2") as into:
        into.texture.write(below.tobytes())
        trial.draw(into)
        painter.finish()
        drawn = np.frombuffer(into.texture.read(), np.uint16).reshape(shape)[..., :3]
    backdrop = Backdrop(halves=below.view(np.uint16), at=_FRAME[:2])
    found = np.zeros(shape[:2] + (3,), np.uint16)
    for shift, levels in ((0, _LOW_BYTES), (8, _HIGH_BYTES)):
        picture = np.zeros(shape, np.uint8)
        kernels.composite(backdrop, DrawOps(composited), levels, picture, (_FRAME,))
        found |= picture[..., :3].astype(np.uint16) << np.uint16(shift)
    return bool(np.abs(_floats(found) - _floats(drawn)).max() <= TOLERANCE)


def _floats(patterns: npt.NDArray[np.uint16]) -> npt.NDArray[np.float32]:
    return np.ascontiguousarray(patterns).view(np.float16).astype(np.float32)


@cache
def _noise() -> npt.NDArray[np.float16]:
    """Return opaque pixels, with small numbers among them. There are as many extra rows as the possible start rows."""
    rng, shape = np.random.default_rng(1), (_FRAME.height + _ROWS_MORE, _FRAME.width, 4)
    noise: npt.NDArray[np.float16] = np.power(rng.random(shape), rng.integers(1, 9, shape)).astype(np.float16)
    noise[..., 3] = 1.0
    return noise


def _cases(painter: Painter, variant: Variant, rng: np.random.Generator) -> Iterator[_Trial]:
    texels = KernelTexels(painter)
    is_one_colour = variant.kind in (RECTANGLE, ELLIPSE, COVERAGE) and not variant.gradient
    for number in range(_COLOURS if variant.mode and is_one_colour else _ROUNDS):
        opacity, alpha = (1.0, rng.random())[number % 2], (1.0, rng.random())[number // 2 % 2]
        red, green, blue = rng.random(3).tolist()
        color = Rgba(red, green, blue, alpha)
        if variant.kind in (GLOW, BUFFER, GLOWING_BUFFER):
            yield from _buffer(painter, texels, opacity, variant, rng)
            continue
        if variant.kind == QUANTISE:
            yield _Trial(lambda into: below.quantise(painter, into, (_FRAME,)), [quantise_op(_FRAME)])
            continue
        quad = _quad(variant, number, rng)
        tint = _filter(variant, rng)
        for shown in _drawables(painter, variant, quad, color, number, rng):
            yield _shown(painter, texels, shown, quad, opacity, variant, tint)


def _filter(variant: Variant, rng: np.random.Generator) -> Filter:
    """Return a filter of noise: a mask, and steps of a colour stage. A colour table comes with a stage, as in layers."""
    if not variant.is_masked and not variant.grading:
        return PLAIN
    is_staged = "MATRIX" in variant.grading
    red, green, blue = rng.uniform(0.3, 1.6, 3).tolist()
    return Filter(
        rng.integers(0, 256, (30, 40), dtype=np.uint8) if variant.is_masked else None,
        ColorStage(np.eye(3, 4) + rng.uniform(-0.4, 0.4, (3, 4)), None) if is_staged else None,
        rng.integers(0, 256, 768, dtype=np.uint8).tobytes() if "TABLES" in variant.grading else None,
        "ACES" in variant.grading,
        (red, green, blue) if "GAIN" in variant.grading else UNTINTED,
    )


def _shown(
    painter: Painter,
    texels: KernelTexels,
    shown: Drawable,
    quad: Matrix3,
    opacity: float,
    variant: Variant,
    tint: Filter,
) -> _Trial:
    is_smooth, mode = variant.samples != 1 and not variant.mode, variant.mode
    style = Style(opacity, tint, is_smooth=is_smooth)
    op = kernel_operations.of_drawable(shown, quad, texels, _FRAME, style, mode=mode)

    def draw(into: Target) -> None:
        quads.draw(painter, shown, quad, into, style)

    def draw_blended(into: Target) -> None:
        below.quantise(painter, into, (_FRAME,))
        for rects, backdrop in below.backdrops(painter, into, (_FRAME,)):
            merged = Inputs({"MODE": mode, "BELOW": 1, **backdrop.defines}, textures=backdrop.textures)
            quads.draw(painter, shown, quad, into, replace(style, blend="replace", backdrop=merged), rects=rects)

    return _Trial(draw_blended, [quantise_op(_FRAME), op]) if mode else _Trial(draw, [op])


def _buffer(
    painter: Painter, texels: KernelTexels, opacity: float, variant: Variant, rng: np.random.Generator
) -> Iterator[_Trial]:
    """Return a layer buffer with content, a glow buffer, or both."""
    is_fine = variant.is_nearest
    held = _FRAME if is_fine else Region(-3, -2, 128, 64)
    with (
        painter.pool.acquired(held, "f2" if is_fine else "f4") as cells,
        painter.pool.acquired(_PICTURE, "f2") as sharp,
    ):
        noise = _premultiplied(rng, held.height, held.width, over=1.05)
        cells.texture.write(noise.astype(np.float16 if is_fine else np.float32).tobytes())
        sharp.texture.write(_premultiplied(rng, *_PICTURE[:1:-1], over=1.05).astype(np.float16).tobytes())
        levels = 0 if is_fine else int(rng.integers(1, 4))
        origin = (0.0, 0.0) if is_fine else (rng.uniform(-9, 20), rng.uniform(-9, 20))
        light = None if variant.kind == BUFFER else GlowBuffer(cells, levels, Region(5, 7, 230, 170), origin)
        shown = LayerBuffer(sharp, light, is_glow_alone=variant.kind == GLOW)
        if shown.is_glow_alone:
            sharp.texture.write(bytes(8 * _PICTURE.width * _PICTURE.height))

        with painter.pool.acquired(_MATTE, "f2") as through:
            through.texture.write(_premultiplied(rng, *_MATTE[:1:-1], over=1.05).astype(np.float16).tobytes())

            how = Compositing(opacity, through if variant.matte_mode else None, variant.matte_mode)

            def draw(into: Target) -> None:
                layer_buffer.draw(painter, into, shown, (_FRAME,), "over", how)

            composited = kernel_operations.of_buffer(shown, texels, _FRAME, how)
            yield _Trial(draw, [*composited[1:], composited[0]])


def _quad(variant: Variant, number: int, rng: np.random.Generator) -> Matrix3:
    """Return a quad for content with the given number of samples: any quad, upright or rotated; one that covers whole
    pixels; or one with a texel on each pixel."""
    if variant.samples == 0:
        width, height = _TEXELS if variant.is_nearest else (int(side) for side in rng.integers(60, 170, 2))
        return (float(width), 0.0, 9.0, 0.0, float(height), 21.0, 0.0, 0.0, 1.0)
    (width, height), angle = rng.uniform(70, 190, 2), rng.uniform(0, math.tau)
    if number % 3 and not variant.is_projective:
        right, down = rng.uniform(10, 60, 2)
        return (float(width), 0.0, float(right), 0.0, float(height), float(down), 0.0, 0.0, 1.0)
    right, down = rng.uniform(60, 160, 2)
    far = rng.uniform(-0.3, 0.3, 2) if variant.is_projective else (0.0, 0.0)
    across, along = (
        (width * math.cos(angle), width * math.sin(angle)),
        (-height * math.sin(angle), height * math.cos(angle)),
    )
    quad = (across[0], along[0], float(right), across[1], along[1], float(down), float(far[0]), float(far[1]), 1.0)
    return matrix.on_subpixels(quad)


def _drawables(
    painter: Painter, variant: Variant, quad: Matrix3, color: Rgba, number: int, rng: np.random.Generator
) -> Iterator[Drawable]:
    """Yield drawables of a kind with noise as content. Their textures last until the next one is requested."""
    columns, rows = _TEXELS
    width, height = (quad[0], quad[4]) if variant.samples == 0 else (60.0, 50.0)
    crop = (0.0, 0.0, 1.0, 1.0) if number % 2 or variant.is_nearest else (0.1, 0.2, 0.7, 0.6)
    if variant.kind in (RECTANGLE, ELLIPSE):
        for is_hard in (False, True):
            fill = _gradient(variant, number, rng) if variant.gradient else color
            radius = rng.uniform(0, 30)
            yield Shape("rect" if variant.kind == RECTANGLE else "ellipse", fill, width, height, radius, is_hard)
    elif variant.kind == GROUP:
        with painter.pool.acquired(_PICTURE, "f2") as target:
            target.texture.write(_premultiplied(rng, *_PICTURE[:1:-1], over=1.05).astype(np.float16).tobytes())
            yield GroupTarget(target, width, height)
    elif variant.kind in (CELLS, HALF_CELLS):
        is_half = variant.kind == HALF_CELLS
        with painter.pool.acquired(Region(0, 0, columns, rows), "f2" if is_half else "f4") as target:
            noise = _premultiplied(rng, rows, columns)
            target.texture.write(noise.astype(np.float16 if is_half else np.float32).tobytes())
            yield FlatTarget(target, width, height, crop=crop)
    elif variant.kind in (IMAGE, COVERAGE):
        is_coverage = variant.kind == COVERAGE
        pixels = np.floor(256 * _premultiplied(rng, rows, columns)).clip(0, 255).astype(np.uint8)
        shown = np.ascontiguousarray(pixels[..., 3]) if is_coverage else pixels
        yield Image(
            shown, width, height, crop=crop, is_nearest=variant.is_nearest, color=color if is_coverage else None,
            is_exact=variant.is_exact and not variant.grading,
        )  # fmt: skip
        painter.textures.release()


def _gradient(variant: Variant, number: int, rng: np.random.Generator) -> Gradient:
    """Return gradient stops at any positions, alternately opaque and not."""
    offsets = sorted(rng.random(variant.ramp_count + 1).tolist())
    colours = [(*rng.random(3).tolist(), (1.0, rng.random())[number % 2]) for _ in offsets]
    stops = tuple((offset, Rgba(*colour)) for offset, colour in zip(offsets, colours, strict=True))
    is_radial = variant.gradient == 2
    return Gradient(is_radial, (0.5, 0.45, 0.9, 1.3) if is_radial else (0.7, 0.4, -0.1, 0.0), stops)


def _premultiplied(rng: np.random.Generator, rows: int, columns: int, over: float = 1.0) -> npt.NDArray[np.float32]:
    texels = rng.random((rows, columns, 4)).astype(np.float32)
    texels[..., :3] *= over * texels[..., 3:]
    return texels
