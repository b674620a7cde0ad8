"""What layers put over what is below them, as the coats that the loop lays: contents on quads, and light.

A coat says what `shaders/compositing/quad.frag` and `layer.frag` are told by uniforms, and has its texels in the processor's memory.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain

import numpy as np
import numpy.typing as npt

from gpu_renderer.backends.gl import quads
from gpu_renderer.cache.lru import Recent
from gpu_renderer.display_list.gradients import Gradient
from gpu_renderer.display_list.operations import Buffer
from gpu_renderer.display_list.paint import Analytic, Flattened, Ink, Layered, Picture, Spot
from gpu_renderer.effects import Light
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.geometry.region import Region, outside
from gpu_renderer.host.loops import (
    BUFFER,
    CELLS,
    COVERAGE,
    ELLIPSE,
    GROUP,
    HALF_CELLS,
    LIGHT,
    LIT_BUFFER,
    MODES_KNOWN,
    NOTHING,
    PICTURE,
    RECTANGLE,
    Coat,
    Texels,
    Variant,
    coat_of,
)
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import CHANNELS, Target

SIDE_MAX = 8192
"""Of a texture: of larger ones 256 parts of each texel are no numbers that a single float tells apart."""
QUAD_MAX = 1e9
"""Of the numbers of a quad's matrix: those of the way back are then so small that rasterisers may take them for 0."""
TEXELS_BYTES_MAX = 32 << 20
"""Of what was read back from targets and is kept."""
_NO_COLOR = (0.0,) * 4
_NOWHERE = (-1.0, -1.0, 1.0, 1.0)
_NOTHING = np.zeros((1, 1, 4), np.uint16)


@lru_cache(maxsize=64)
def _numbers_of(gradient: Gradient) -> npt.NDArray[np.float32]:
    """Where it lies, its first colour, and its ramps, one after the other."""
    return np.array([*gradient.place, *gradient.stops[0][1], *chain.from_iterable(gradient.ramps)], np.float32)


class HostTexels:
    """Texels of contents in the processor's memory; those of targets are read back once for each of their editions."""

    def __init__(self, painter: Painter) -> None:
        self._painter = painter
        self._read: Recent[Texels] = Recent(TEXELS_BYTES_MAX, lambda texels: texels.nbytes)

    def of(self, source: npt.NDArray[np.uint8] | Target | None) -> Texels | None:
        """Bytes, patterns of half floats or floats, of shape (rows, columns) or (rows, columns, 4) without padding; None where they
        are something else."""
        if isinstance(source, Target):
            return self._read.get(source.edition, lambda: self._texels(source))
        is_fit = source is not None and (source.ndim == 2 or source.shape[2] == 4) and source.flags.c_contiguous
        return source if is_fit and source is not None and max(source.shape) <= SIDE_MAX else None

    def bytes_of(self, source: npt.NDArray[np.uint8] | Target | None) -> Texels | None:
        """The same of bytes alone, which have a neighbour across and down: the loop looks for two texels beside each other."""
        found = self.of(source)
        return found if found is not None and found.dtype == np.uint8 and min(found.shape[:2]) > 1 else None

    def halves(self, source: Target) -> Texels | None:
        """Patterns of half floats, of shape (rows, columns, 4); None where a target has other texels."""
        return self.of(source) if source.format == "f2" else None

    def _texels(self, source: Target) -> Texels:
        components, kind = CHANNELS[source.format]
        width, height = source.size
        shape = (height, width) if components == 1 else (height, width, components)
        texels: Texels = np.empty(shape, {"f1": np.uint8, "f2": np.uint16, "f4": np.float32}[kind])
        self._painter.settle()
        self._painter.calls.read_texels(
            source.texture, Region(0, 0, width, height), texels.ctypes.data, texels.strides[0]
        )
        return texels


def of_light(
    light: Light, texels: HostTexels, within: Region, opacity: float = 1.0, matte: Coat | None = None
) -> Coat | None:
    """Light; None where its cells are not floats of RGBA."""
    region, matte_mode = light.region.intersection(within), 0 if matte is None else matte.variant.mode
    if not light.levels:
        halves, variant = texels.halves(light.target), Variant(LIGHT, is_nearest=True, matte_mode=matte_mode)
        own = _placed(light.target)
        return (
            None if halves is None else coat_of(variant, region, opacity=opacity, own=own, texels=halves, matte=matte)
        )
    cells = texels.of(light.target)
    if cells is None or cells.dtype != np.float32 or cells.ndim != 3:
        return None
    (x, y, width, height), (right, down) = light.target.region, light.origin
    own = (x + right / light.cell_px, y + down / light.cell_px, float(width), float(height))
    variant, share = Variant(LIGHT, matte_mode=matte_mode), 1 / light.cell_px
    return coat_of(variant, region, opacity=opacity, own=own, share=share, texels=cells, matte=matte)


def of_buffer(buffer: Buffer, texels: HostTexels, within: Region) -> list[Coat | None]:
    """A layer's own buffer in front of its light, and that around it; through its matte."""
    lit, opacity, matte = buffer.lit, buffer.opacity, None
    if buffer.matte_mode:
        source = buffer.matte
        seen = None if source is None else texels.halves(source)
        if source is not None and seen is None:
            return [None]
        place = _NOWHERE if source is None else _placed(source)
        matte = coat_of(
            Variant(BUFFER, mode=buffer.matte_mode), within, own=place, texels=_NOTHING if seen is None else seen
        )
    light, mode = lit.light, buffer.matte_mode
    if light is not None and lit.is_light_alone:
        return [of_light(light, texels, within, opacity, matte)]
    halves, region, own = texels.halves(lit.sharp), lit.sharp.region.intersection(within), _placed(lit.sharp)
    if halves is None:
        return [None]
    if light is None:
        return [coat_of(Variant(BUFFER, matte_mode=mode), region, opacity=opacity, own=own, texels=halves, matte=matte)]
    behind = of_light(light, texels, within)
    if behind is None:
        return [None]
    variant = Variant(LIT_BUFFER, is_nearest=behind.variant.is_nearest, matte_mode=mode)
    before = coat_of(variant, region, opacity=opacity, own=own, texels=halves, light=behind, matte=matte)
    around = outside((light.region.intersection(within),), lit.sharp.region)
    return [before, *(of_light(light, texels, part, opacity, matte) for part in around)]


def _placed(target: Target) -> tuple[float, float, float, float]:
    x, y, width, height = target.region
    return float(x), float(y), float(width), float(height)


def of_ink(
    ink: Ink,
    quad: Matrix3,
    texels: HostTexels,
    within: Region,
    *,
    opacity: float = 1.0,
    is_smooth: bool = True,
    known: Spot | None = None,
    mode: int = 0,
    mask: npt.NDArray[np.uint8] | None = None,
) -> Coat | None:
    """Content on a quad as `quads.draw` draws it, plainly over what is below; None where the loop does not know how.

    Content that is nowhere to be seen touches no pixel.
    """
    is_masked = mask is not None
    if mode not in MODES_KNOWN or (is_masked and (not isinstance(ink, Picture) or texels.bytes_of(mask) is None)):
        return None
    placed = quads.placed_on(ink, quad, within, is_smooth=is_smooth, known=known)
    if placed is None:
        return NOTHING
    if max(quad) > QUAD_MAX or min(quad) < -QUAD_MAX:
        return None
    ink, region = placed.ink, placed.spot.touched.intersection(within)
    gradient = (0, 0)
    is_projective, columns = not matrix.is_affine(quad), matrix.columns(placed.spot.to_unit)

    def coat(kind: int, color: tuple[float, ...], own: tuple[float, ...], found: Texels | None, *, is_nearest: bool = False) -> Coat:  # fmt: skip
        variant = Variant(kind, placed.samples, is_projective, is_nearest, mode, *gradient, is_masked)
        return coat_of(variant, region, columns=columns, opacity=opacity, color=color, own=own, texels=found, mask=mask)

    if isinstance(ink, Analytic):
        kind = RECTANGLE if ink.primitive == "rect" else ELLIPSE
        own = (ink.width, ink.height, ink.radius, float(ink.is_hard))
        if isinstance(ink.fill, Gradient):
            gradient = (2 if ink.fill.is_radial else 1, len(ink.fill.stops) - 1)
            return coat(kind, _NO_COLOR, own, _numbers_of(ink.fill))
        return coat(kind, ink.fill, own, None)
    if isinstance(ink, Picture):
        found = texels.bytes_of(ink.source)
        if found is None or (found.ndim == 2) != (ink.color is not None):
            return None
        kind = PICTURE if ink.color is None else COVERAGE
        return coat(kind, ink.color or _NO_COLOR, ink.crop, found, is_nearest=ink.is_nearest)
    if isinstance(ink, Layered):
        found = texels.halves(ink.target)
        return None if found is None else coat(GROUP, _NO_COLOR, _placed(ink.target), found)
    if isinstance(ink, Flattened):
        found = texels.of(ink.target)
        if found is None or found.ndim != 3 or found.dtype == np.uint8:
            return None
        return coat(CELLS if found.dtype == np.float32 else HALF_CELLS, _NO_COLOR, ink.crop, found)
    return None
