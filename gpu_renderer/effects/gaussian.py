"""Blurs as kernels: the reference's 61-tap Gaussian, the browser's triple box, and how they are run at a bounded cost."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpu_renderer.painter import Painter
from gpu_renderer.region import Region
from gpu_renderer.targets import Target

PAIRS_MAX = 32
"""Bilinear taps on each side of the centre that the shader takes."""
BOX_RADIUS_MAX = 16
"""A wider box first halves the picture."""
HALVING_SIGMA = 8.0
"""A wider blur first halves the picture: the result stays within a code value (see tests)."""


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """A symmetric kernel: the centre's weight, then taps at +-offsets px with the weights. Everything sums to 1."""

    center: float
    offsets: tuple[float, ...]
    weights: tuple[float, ...]

    @property
    def reach_px(self) -> float:
        """How far it looks."""
        return max(self.offsets, default=0.0)


def reference_gaussian(sigma: float) -> Kernel:
    """The 61 taps of the GPU route (effects.md 8.1): spaced 1 px up to a sigma of 12, then 2.5 sigma / 30."""
    spacing = max(1.0, 2.5 * sigma / 30)
    offsets = np.arange(31) * spacing
    weights = np.exp(-0.5 * (offsets / sigma) ** 2)
    weights /= weights[0] + 2 * weights[1:].sum()
    if spacing == 1.0:
        return paired(weights)
    return Kernel(float(weights[0]), tuple(offsets[1:].tolist()), tuple(weights[1:].tolist()))


def gaussian(sigma: float, cut: float) -> Kernel:
    """A Gaussian at every pixel up to `cut` sigmas."""
    weights = np.exp(-0.5 * (np.arange(max(1, math.ceil(cut * sigma)) + 1) / sigma) ** 2)
    return paired(weights / (weights[0] + 2 * weights[1:].sum()))


def triple_box(sigma: float) -> Kernel:
    """Three box blurs, as browsers blur for a sigma of 2 and more (compositing.md 5.3); a Gaussian below."""
    if sigma < 2:
        return gaussian(sigma, 4.0)
    width = math.floor(sigma * 3 * math.sqrt(2 * math.pi) / 4 + 0.5)
    box, wider = np.full(width, 1 / width), np.full(width + 1, 1 / (width + 1))
    once = np.convolve(box, box)
    # An even width: two boxes half a pixel to either side are one centred pair, then one box of width + 1.
    full = np.convolve(once, box if width % 2 else wider)
    return paired(full[len(full) // 2 :])


def blur_reach_px(sigma: float) -> float:
    """How far the Gaussian of the GPU route spreads what it blurs, in px."""
    return 30 * max(1.0, 2.5 * sigma / 30) if sigma > 7 else math.ceil(4.5 * max(0.0, sigma))


def box(width: float) -> Kernel:
    """The mean over a width in px, parts of the outermost pixels included."""
    side = (width - 1) / 2
    whole = math.floor(side)
    return paired(np.append(np.full(whole + 1, 1 / width), (side - whole) / width))


def box_blurred(
    painter: Painter, source: Target, radius: int, iterations: int, axes: tuple[int, ...], *, repeat_edge: bool
) -> Target:
    """Box blurs of 2 radius + 1 px, one axis after the other, bytes in between (effects.md 6). The caller owns it.

    A wide box is worked out at a smaller size.
    """
    levels = max(0, math.ceil(math.log2(max(1, radius) / BOX_RADIUS_MAX)))
    current = halved(painter, source, levels) if levels else painter.applied("effects/baked/crop.frag", source)
    kernel = box((2 * radius + 1) / 2**levels)
    for _ in range(iterations if radius > 0 else 0):
        for axis in axes:
            following = convolved(painter, current, kernel, axis, clear_outside=not repeat_edge)
            painter.pool.give_back(current)
            current = following
    if not levels:
        return current
    large = painter.applied("effects/enlarge.frag", current, region=source.region, uniforms={"u_factor": 2.0**levels})
    painter.pool.give_back(current)
    return large


def paired(weights: npt.NDArray[np.float64]) -> Kernel:
    """A kernel of whole-pixel weights (the centre first) as bilinear taps between two pixels each."""
    kept = weights[: max(1, int(np.searchsorted(-weights, -1e-5 * weights[0])))] if len(weights) > 1 else weights
    sides = np.append(kept[1:], [0.0] * (len(kept[1:]) % 2)).reshape(-1, 2)
    sums = sides.sum(axis=1)
    first = 1 + 2 * np.arange(len(sides))
    share = np.divide(sides[:, 1], sums, out=np.zeros_like(sums), where=sums > 0)
    return Kernel(float(weights[0]), tuple((first + share).tolist()), tuple(sums.tolist()))


def blurred(
    painter: Painter, source: Target, kernel: Kernel, *, region: Region | None = None, clear_outside: bool = False
) -> Target:
    """The source convolved along x, then y; premultiplied in and out. The caller owns it.

    Beyond the source its edge is repeated, or all is transparent.
    """
    whole = region or source.region
    across = convolved(painter, source, kernel, 0, region=_rows_of(source, whole), clear_outside=clear_outside)
    down = convolved(painter, across, kernel, 1, region=whole, clear_outside=clear_outside)
    painter.pool.give_back(across)
    return down


def convolved(
    painter: Painter,
    source: Target,
    kernel: Kernel,
    axis: int,
    *,
    region: Region | None = None,
    clear_outside: bool = False,
) -> Target:
    """The source convolved along one axis (0 = x). The caller owns it."""
    uniforms = {**_uniforms(kernel, axis), "u_clear_outside": int(clear_outside)}
    return painter.applied("effects/convolve.frag", source, region=region, uniforms=uniforms)


def gaussian_blurred(painter: Painter, source: Target, sigma: float, *, exact: bool = False) -> Target:
    """The blur of the GPU route, by the reference's own taps or, where wide and not `exact`, at a smaller size."""
    levels = 0 if exact or sigma < 2 * HALVING_SIGMA else int(math.log2(sigma / HALVING_SIGMA))
    if not levels:
        return blurred(painter, source, reference_gaussian(sigma))
    small = halved(painter, source, levels)
    factor = 2.0**levels
    # Halving and enlarging blur too: a box of `factor` and a tent of `factor`, in variances.
    narrowed = math.sqrt(max(1.0, sigma**2 - (factor**2 - 1) / 12 - factor**2 / 6)) / factor
    soft = blurred(painter, small, gaussian(narrowed, 2.5))
    painter.pool.give_back(small)
    large = painter.applied("effects/enlarge.frag", soft, region=source.region, uniforms={"u_factor": factor})
    painter.pool.give_back(soft)
    return large


def halved(painter: Painter, source: Target, levels: int) -> Target:
    """The source at 1/2, 1/4 ... of its size: region coordinates shrink with it. The caller owns it."""
    current = source
    for _ in range(levels):
        r = current.region
        left, top = math.floor(r.x / 2), math.floor(r.y / 2)
        half = Region(left, top, -(-r.right // 2) - left, -(-r.bottom // 2) - top)
        smaller = painter.applied("effects/halve.frag", current, region=half)
        if current is not source:
            painter.pool.give_back(current)
        current = smaller
    return current


def _rows_of(source: Target, region: Region) -> Region:
    return Region(region.x, source.region.y, region.width, source.region.height)


def _uniforms(kernel: Kernel, axis: int) -> dict[str, float | int | bytes | tuple[float, ...]]:
    count = len(kernel.offsets)
    assert count <= PAIRS_MAX, f"a kernel of {count} taps a side is too wide"
    return {
        "u_axis": (1.0, 0.0) if axis == 0 else (0.0, 1.0),
        "u_count": count,
        "u_center": kernel.center,
        "u_taps": np.asarray(
            [*zip(kernel.offsets, kernel.weights, strict=True)] + [(0.0, 0.0)] * (PAIRS_MAX - count), np.float32
        ).tobytes(),
    }
