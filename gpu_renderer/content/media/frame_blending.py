"""Blend two neighbouring frames of a video (layers.md 9.7; compositing.md, frame blending).

Frame mix draws the later frame over the earlier one in linear light. Pixel motion searches blocks of the earlier frame in the
later one, warps both frames along the motion vectors, and mixes them.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import skia

from gpu_renderer.content.vector import surface
from gpu_renderer.content.vector.surface import Pixels
from gpu_renderer.geometry.color import decoded_array, encoded_array

WEIGHT_MIN = 0.001
COMPARED_SIDE_PX = 384
"""Longer side of frames when they are compared, px."""
GRID_PX = 8
BLOCK_RADIUS_PX = 3
SEARCH_PX = 10
GAIN_MIN = 0.06
"""Minimum relative improvement of a block's match at another place for the block to count as moved."""

_LINEAR = decoded_array(np.arange(256) / 255.0).astype(np.float32)
_STEPS = 4095
_ENCODED = np.round(255.0 * encoded_array(np.arange(_STEPS + 1) / _STEPS)).astype(np.uint8)
_LUMA = np.array([0.299, 0.587, 0.114], np.float32) / np.float32(255.0)

_Floats = npt.NDArray[np.float32]
_Offset = npt.NDArray[np.int64]


def bracket(seconds: float, frames_per_second: float) -> tuple[float, float, float]:
    """Return the times of the frames before and after a time, and the weight of the later one (0: only the earlier one)."""
    position = seconds * frames_per_second
    first = math.floor(position)
    weight = position - first
    return first / frames_per_second, (first + 1) / frames_per_second, weight if weight > WEIGHT_MIN else 0.0


def mixed_opacity(opacity: float, weight: float) -> float:
    """Return the opacity at which a mix covers its backdrop: one frame at `opacity`, the next at `opacity` x `weight` over it."""
    return opacity * (1.0 + weight * (1.0 - opacity)) if 0.0 < opacity < 1.0 else opacity


def mixed(earlier: Pixels, later: Pixels, weight: float, opacity: float = 1.0) -> Pixels:
    """Return the picture that, drawn at `mixed_opacity`, looks like the two frames drawn one over the other.

    The frames are opaque, encoded sRGB, of the same shape.
    """
    share = np.float32(weight * opacity / mixed_opacity(opacity, weight)) if 0.0 < opacity < 1.0 else np.float32(weight)
    light = _LINEAR[earlier[..., :3]] * (1 - share) + _LINEAR[later[..., :3]] * share
    result = np.empty_like(earlier)
    result[..., :3] = _encoded(light)
    result[..., 3] = 255
    return result


def mixed_with_alpha(earlier: Pixels, later: Pixels, weight: float, opacity: float = 1.0) -> Pixels:
    """Return the same as `mixed` for premultiplied frames with alpha."""
    shown = opacity if 0.0 < opacity < 1.0 else 1.0
    (below, below_alpha), (above, above_alpha) = (_light(frame) for frame in (earlier, later))
    over, under = above_alpha * np.float32(shown * weight), below_alpha * np.float32(shown)
    alpha = over + under * (1 - over)
    light = (above * over + below * under * (1 - over)) / np.maximum(alpha, np.float32(1e-9))
    covered = alpha / np.float32(mixed_opacity(shown, weight))
    result = np.empty_like(earlier)
    result[..., :3] = np.round(_encoded(light) * covered)
    result[..., 3:] = np.round(covered * 255)
    return result


def _light(frame: Pixels) -> tuple[_Floats, _Floats]:
    """Return the straight linear colours and the alpha, 0..1, of premultiplied pixels."""
    alpha = frame[..., 3:].astype(np.float32)
    straight = np.minimum(255, np.round(frame[..., :3] * (255 / np.maximum(alpha, 1)))).astype(np.uint8)
    return _LINEAR[straight], alpha / np.float32(255)


def _encoded(light: _Floats) -> Pixels:
    """Return the encoded levels of linear colours."""
    levels: Pixels = _ENCODED[np.round(light * _STEPS).astype(np.int32)]
    return levels


def moved_frame(earlier: Pixels, later: Pixels, weight: float) -> Pixels:
    """Return the frame at `weight`, 0..1, between the two, by pixel motion. All are opaque uint8 RGBA of the same shape."""
    vectors = motion_vectors(earlier, later)
    before, after = _warped(earlier, vectors * -weight), _warped(later, vectors * (1 - weight))
    between = before + (after.astype(np.float32) - before) * np.float32(weight)
    return np.floor(between + np.float32(0.5)).astype(np.uint8)


def motion_vectors(earlier: Pixels, later: Pixels) -> _Floats:
    """Return the motion vectors of grid points from the earlier to the later frame, px: shape (rows, columns, 2).

    The grid starts at the frame's corner. Its spacing is `GRID_PX` at the compared size.
    """
    factor = _factor(earlier)
    a, b = (_luma(frame, factor) for frame in (earlier, later))
    ys, xs = (np.arange(0, side + GRID_PX, GRID_PX) for side in a.shape)
    y, x = (axis.ravel() for axis in np.meshgrid(ys, xs, indexing="ij"))
    found = _best_offsets(a, b, x, y)
    return _smoothed(found.reshape(len(ys), len(xs), 2)) * np.float32(factor)


def _luma(frame: Pixels, factor: float) -> _Floats:
    """Return the frame's luma, 0..1, reduced by averaging."""
    luma: _Floats = frame[..., :3] @ _LUMA
    if factor == 1.0:
        return luma
    for axis in (0, 1):
        count = max(1, math.floor(luma.shape[axis] / factor + 0.5))
        edges = np.arange(count) * luma.shape[axis] // count
        sizes = np.diff([*edges, luma.shape[axis]])
        luma = (np.add.reduceat(luma, edges, axis=axis) / np.expand_dims(sizes, 1 - axis)).astype(np.float32)
    return luma


def _best_offsets(a: _Floats, b: _Floats, x: _Offset, y: _Offset) -> _Floats:
    """Return the subpixel offset at which each block of `a` matches `b` best: shape (blocks, 2)."""
    blocks = _blocks(a, x, y)

    def costs(dx: _Offset | int, dy: _Offset | int) -> _Floats:
        found: _Floats = np.abs(blocks - _blocks(b, x + dx, y + dy)).mean(axis=1)
        return found

    def keep_better(dx: _Offset | int, dy: _Offset | int) -> None:
        cost = costs(dx, dy)
        is_better = cost < best
        for kept, value in ((best, cost), (best_x, dx), (best_y, dy)):
            np.copyto(kept, value, where=is_better)

    unmoved = costs(0, 0)
    best, best_x, best_y = unmoved.copy(), np.zeros_like(x), np.zeros_like(y)
    steps = range(-SEARCH_PX, SEARCH_PX + 1, 2)
    for dx, dy in sorted(product(steps, steps), key=lambda step: math.hypot(*step)):
        keep_better(dx, dy)
    rough_x, rough_y = best_x.copy(), best_y.copy()
    for dx, dy in product((-1, 0, 1), (-1, 0, 1)):
        keep_better(rough_x + dx, rough_y + dy)
    sharp_x = best_x + _lowest(costs(best_x - 1, best_y), best, costs(best_x + 1, best_y))
    sharp_y = best_y + _lowest(costs(best_x, best_y - 1), best, costs(best_x, best_y + 1))
    has_moved = best < unmoved * (1 - GAIN_MIN)
    return (np.stack([sharp_x, sharp_y], axis=1) * has_moved[:, None]).astype(np.float32)


def _blocks(luma: _Floats, x: _Offset, y: _Offset) -> _Floats:
    """Return the pixels around each position, shape (positions, pixels). Outside the frame, edge pixels repeat."""
    around = np.arange(-BLOCK_RADIUS_PX, BLOCK_RADIUS_PX + 1)
    rows = np.clip(y[:, None] + around, 0, luma.shape[0] - 1)
    columns = np.clip(x[:, None] + around, 0, luma.shape[1] - 1)
    found: _Floats = luma[rows[:, :, None], columns[:, None, :]].reshape(len(x), -1)
    return found


def _lowest(before: _Floats, here: _Floats, after: _Floats) -> _Floats:
    """Return the minimum of the parabola through three neighbours, as an offset of -0.5 to 0.5 px from the middle one."""
    bend = before - 2 * here + after
    shift = np.where(bend > 1e-9, (before - after) / np.where(bend > 1e-9, 2 * bend, 1), 0)
    return np.clip(shift, -0.5, 0.5).astype(np.float32)


def _smoothed(vectors: _Floats) -> _Floats:
    """Return the vectors, each averaged over its 3 x 3 neighbourhood."""
    padded = np.pad(vectors, ((1, 1), (1, 1), (0, 0)), mode="edge")
    rows, columns = vectors.shape[:2]
    parts = [padded[dy : dy + rows, dx : dx + columns] for dy, dx in product(range(3), range(3))]
    mean: _Floats = np.mean(parts, axis=0, dtype=np.float32)
    return mean


def _warped(frame: Pixels, shifts: _Floats) -> Pixels:
    """Return the warped frame: each grid point shows the pixel at its shift. Interpolate between points and repeat edges."""
    rows, columns = frame.shape[:2]
    step = GRID_PX * _factor(frame)
    y, x = np.mgrid[0 : shifts.shape[0], 0 : shifts.shape[1]] * step
    places = np.stack([x, y], axis=-1)
    pixels, canvas = surface.rgba(columns, rows)
    shader = surface.image(frame).makeShader(
        skia.TileMode.kClamp, skia.TileMode.kClamp, skia.SamplingOptions(skia.FilterMode.kLinear)
    )
    triangles = skia.Vertices.VertexMode.kTriangles_VertexMode
    mesh = skia.Vertices(triangles, _triangle_corners(places), _triangle_corners(places + shifts))
    canvas.drawVertices(mesh, skia.Paint(Shader=shader))
    return pixels


def _triangle_corners(grid: npt.NDArray[Any]) -> list[Any]:
    """Return the corners of two triangles for each cell of a grid of shape (rows, columns, 2), triangle by triangle."""
    top_left, top_right, bottom_left, bottom_right = grid[:-1, :-1], grid[:-1, 1:], grid[1:, :-1], grid[1:, 1:]
    corners = [top_left, top_right, bottom_left, top_right, bottom_right, bottom_left]
    return [skia.Point(x, y) for x, y in np.stack(corners, axis=2).reshape(-1, 2).tolist()]


def _factor(frame: Pixels) -> float:
    """Return the ratio of the frame's size to the compared size, at least 1."""
    return max(1.0, float(max(frame.shape[:2])) / COMPARED_SIDE_PX)
