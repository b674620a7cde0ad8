"""Milliseconds per 1080p frame of every drawn effect, at its default values: wall time, and processor time of all threads.

Run as `./farm bench effects`, which stores the result, or as a program to print the table:

    python -m benchmarks.effects [WORD]...
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.runner.benchmark import Benchmark, Row
from gpu_renderer.backends.cpu.kernel_operations import of_drawable
from gpu_renderer.backends.cpu.kernel_texels import KernelTexels
from gpu_renderer.backends.gl import quads
from gpu_renderer.content.raster import Raster
from gpu_renderer.display_list.paint import Filter, Image
from gpu_renderer.effects import Box, Effect, EffectScene, EffectStack, Route, bake, chain, color_stage, every_effect
from gpu_renderer.frame.renderer import Optimisations, backend_of
from gpu_renderer.geometry import matrix
from gpu_renderer.geometry.region import Region
from gpu_renderer.kernels.bindings import Backdrop
from gpu_renderer.kernels.draw_ops import DrawOps
from gpu_renderer.kernels.loading import kernels
from gpu_renderer.opengl.context import create_context
from gpu_renderer.opengl.painter import Painter
from motion.snapshot import EffectSnapshot, LayerSnapshot, ShapeSource, Transform2D

WIDTH, HEIGHT = 1920, 1080
LIMIT_MS = 150
REPEATS_MIN, REPEATS_SECONDS = 3, 0.2
"""Runs of an effect: the minimum number, and the minimum time."""
# What takes values to do anything at all.
SHOWN: dict[str, dict[str, Any]] = {
    "offset": {"shiftX": 100.0},
    "optics-compensation": {"fieldOfView": 60.0},
    "hue-saturation": {"hue": 40.0},
    "exposure": {"exposure": 1.0},
    "lumetri": {"exposure": 0.5},
}
_HALFWAY = {"completion": 50.0, "burn": 50.0}


def _rows(quick: bool) -> Iterator[Row]:
    """Each effect's milliseconds, route and tier. Quick: every eighth effect."""
    context = create_context()
    drawn = [effect for effect in every_effect() if effect.route is not Route.TIME]
    for effect in drawn[::8] if quick else drawn:
        yield _row(Painter(context), effect)
    context.release()


def _row(painter: Painter, effect: Effect) -> Row:
    ms, cpu_ms = _fastest_ms(painter, _work(painter, effect))
    painter.pool.release()
    return {"effect": effect.id, "ms": ms, "cpu_ms": cpu_ms, "route": effect.route.value, "tier": effect.tier.value}


def _work(painter: Painter, effect: Effect) -> Callable[[], None]:
    stored = SHOWN.get(effect.id, {}) | {k: v for k, v in _HALFWAY.items() if k in {p.key for p in effect.parameters}}
    entry = EffectSnapshot("fx", effect.id, tuple(stored.items()))
    if effect.route is Route.RASTER:
        return lambda: _baked(painter, entry)
    if effect.route.is_spatial:
        return lambda: _chained(painter, entry)
    return lambda: _graded(painter, entry)


def _baked(painter: Painter, entry: EffectSnapshot) -> None:
    layer = LayerSnapshot("l", "l", ShapeSource("rect", WIDTH, HEIGHT, ()), Transform2D(0, 0), effects=(entry,))
    raster = Raster(_PICTURE, WIDTH, HEIGHT)
    painter.pool.give_back(bake(painter, raster, layer, lambda *_: _PICTURE[..., 3]))


def _chained(painter: Painter, entry: EffectSnapshot) -> None:
    frame = Region(0, 0, WIDTH, HEIGHT)
    source = painter.pool.take(frame, clear=False)
    source.texture.write(_HALF_FLOATS)
    scene = EffectScene(frame, Box(0, 0, WIDTH, HEIGHT), WIDTH, HEIGHT)
    painter.pool.give_back(chain(painter, source, EffectStack.unbaked((entry,)), scene))


def _graded(painter: Painter, entry: EffectSnapshot) -> None:
    """Composite a picture with the colour stage, with the backend that the renderer uses on this machine."""
    stage = color_stage((entry,))
    assert stage is not None
    style = quads.Style(filter=Filter(stage=stage, table=None if stage.table is None else stage.table.tobytes()))
    shown, quad, frame = Image(_PICTURE, WIDTH, HEIGHT), matrix.scaling(WIDTH, HEIGHT), Region(0, 0, WIDTH, HEIGHT)
    native = kernels()
    if backend_of(painter, Optimisations()) == "cpu" and native is not None:
        draw_op = of_drawable(shown, quad, KernelTexels(painter), frame, style)
        assert draw_op is not None, "the kernels have the colour stage"
        native.composite_linear(Backdrop(), DrawOps([draw_op]), _COMPOSITED, frame, painter.thread_count)
        return
    with painter.pool.acquired(frame) as into:
        quads.draw(painter, shown, quad, into, style)


def _fastest_ms(painter: Painter, work: Callable[[], None]) -> tuple[float, float]:
    """Return the least wall time and the least processor time of all threads, which other processes disturb least."""
    work()
    painter.calls.finish()
    walls, processors = list[float](), list[float]()
    while len(walls) < REPEATS_MIN or sum(walls) < REPEATS_SECONDS:
        start, processor_start = time.perf_counter(), time.process_time()
        work()
        painter.calls.finish()
        walls.append(time.perf_counter() - start)
        processors.append(time.process_time() - processor_start)
        if walls[-1] > 2:
            break
    return round(1000 * min(walls), 1), round(1000 * min(processors), 1)


def _picture() -> np.ndarray[Any, np.dtype[np.uint8]]:
    """A colourful picture with a soft round hole, premultiplied."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float32)
    color = np.stack([x / WIDTH, y / HEIGHT, 0.5 + 0.5 * np.sin(x / 40) * np.cos(y / 60)], axis=2)
    alpha = np.clip((np.hypot(x - WIDTH / 2, y - HEIGHT / 2) - 180) / 40, 0, 1)[..., None]
    pixels: np.ndarray[Any, np.dtype[np.uint8]] = np.rint(np.concatenate([color * alpha, alpha], axis=2) * 255).astype(
        np.uint8
    )
    return pixels


_PICTURE = _picture()
_COMPOSITED = np.empty((HEIGHT, WIDTH, 4), np.uint16)
_HALF_FLOATS = (_PICTURE / np.float32(255)).astype(np.float16).tobytes()


def main(words: list[str]) -> int:
    """Print the table, of the effects named or of all."""
    context = create_context()
    painter = Painter(context)
    for effect in every_effect():
        if effect.route is not Route.TIME and (not words or effect.id in words):
            row = _row(painter, effect)
            print(f"{row['ms']:9.1f} ms {row['cpu_ms']:9.1f} ms  {row['route']:2s} {row['effect']}", flush=True)
    return 0


BENCHMARK = Benchmark(
    "How long does each effect take on a 1920 x 1080 layer that fills the frame, at its defaults?",
    _rows,
    label="effect",
    bar="ms",
    limit=LIMIT_MS,
    is_ranked=True,
)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
