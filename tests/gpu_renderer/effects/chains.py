"""Run spatial effects on small linear buffers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gpu_renderer.effects import Box, EffectScene, EffectStack, chain
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target
from motion.snapshot import EffectSnapshot, ParameterValue

Buffer = npt.NDArray[np.float64]
"""Linear premultiplied, shape (rows, columns, 4)."""


def entry(effect: str, **stored: ParameterValue) -> EffectSnapshot:
    return EffectSnapshot("fx", effect, tuple(stored.items()))


def target_of(painter: Painter, buffer: Buffer, x: int = 0, y: int = 0) -> Target:
    rows, columns = buffer.shape[:2]
    target = painter.pool.take(Region(x, y, columns, rows), "f2")
    target.texture.write(buffer.astype(np.float16).tobytes())
    return target


def buffer_of(target: Target) -> Buffer:
    width, height = target.size
    return np.frombuffer(target.texture.read(), np.float16).reshape(height, width, 4).astype(np.float64)


def scene_of(
    buffer: Buffer,
    *,
    box: Box | None = None,
    mirrored: bool = False,
    exact_blur: bool = True,
    layer_target: Callable[[str], Target | None] = lambda _id: None,
) -> EffectScene:
    """Return a frame of the buffer's size with a layer over the box, or over the whole frame."""
    rows, columns = buffer.shape[:2]
    placed = box or Box(0, 0, columns, rows)
    return EffectScene(
        Region(0, 0, columns, rows),
        placed,
        placed.width,
        placed.height,
        mirrored=mirrored,
        exact_blur=exact_blur,
        layer_target=layer_target,
    )


def chained(painter: Painter, buffer: Buffer, *effects: EffectSnapshot, scene: EffectScene | None = None) -> Buffer:
    """Return the buffer after the chain of effects."""
    result = chain(painter, target_of(painter, buffer), EffectStack.unbaked(effects), scene or scene_of(buffer))
    found = buffer_of(result)
    painter.pool.give_back(result)
    assert painter.pool.acquired_count == 0
    return found


def picture(rows: int = 40, columns: int = 60, margin: int = 12) -> Buffer:
    """Return an opaque coloured gradient with a transparent margin."""
    y, x = np.mgrid[0:rows, 0:columns]
    inside = (x >= margin) & (x < columns - margin) & (y >= margin) & (y < rows - margin)
    color = np.stack([x / columns, y / rows, 0.5 + 0.3 * np.sin(x / 3), np.ones_like(x)], axis=2)
    return np.asarray(color * inside[..., None], np.float16).astype(np.float64)
