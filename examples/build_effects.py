"""Make `effects.motion`, a showcase of every drawn effect: `python -m examples.build_effects`. The result is committed.

Pages of tiles follow each other; every tile is one layer under one effect, whose most telling number moves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from examples.documents import EASE_IN_OUT, Layer, Record, bundle, composition, path, shape, stops, text
from gpu_renderer.effects import Effect, Route, every_effect
from gpu_renderer.effects.page import TELLING
from gpu_renderer.effects.parameters import Kind, Parameter

HERE = Path(__file__).parent
COLUMNS, ROWS = 6, 4
TILE_WIDTH, TILE_HEIGHT = 205, 170
WIDTH, HEIGHT = 1278, 720
FPS, PAGE_FRAMES = 30, 60
LAYER_MAPS = ("mapLayerId", "blurLayerId", "matteLayerId")
# Parameters that show an effect best when animated, in order of preference; else the first number.
MOVING = (
    "completion",
    "burn",
    "evolution",
    "phase",
    "phaseShift",
    "position",
    "rotation",
    "angle",
    "amount",
    "value",
    "time",
)


def showcase() -> Record:
    """1278 x 720: as many pages as the effects need, two seconds each."""
    layers = [layer for number, tiles in enumerate(pages()) for t in tiles for layer in tile(*t, number)]
    sky: Record = {"type": "linear", "angle": 60, "stops": stops("#0b1020", "#1b2440")}
    seconds = len(pages()) * PAGE_FRAMES / FPS
    return composition("effects", "Effects", WIDTH, HEIGHT, FPS, seconds, layers, sky)


def pages() -> list[list[tuple[Effect, float, float]]]:
    """Effects with their tiles' centres. Those of screen space stand in a row half way down: the reference's export mirrors
    their layer coordinates about the middle of the frame, and they miss layers elsewhere."""
    drawn = [effect for effect in every_effect() if effect.id not in ("posterize-time", "force-motion-blur")]
    rows = list(batched([effect for effect in drawn if effect.route.is_spatial], COLUMNS))
    grids = list(batched([effect for effect in drawn if not effect.route.is_spatial], COLUMNS * ROWS))
    one = [[(effect, 106.0 + 213 * k, HEIGHT / 2) for k, effect in enumerate(row)] for row in rows]
    many = [
        [(effect, 106.0 + 213 * (k % COLUMNS), 76.0 + 180 * (k // COLUMNS)) for k, effect in enumerate(grid)]
        for grid in grids
    ]
    return one + many


def batched(effects: list[Effect], count: int) -> Iterator[list[Effect]]:
    """The effects in lists of `count`."""
    return (effects[start : start + count] for start in range(0, len(effects), count))


def tile(effect: Effect, x: float, y: float, page: int) -> list[Layer]:
    """Return the layers of one effect: what it reads if it reads another layer, the subject, its name."""
    begin = page * PAGE_FRAMES / FPS
    subject = path(f"fx-{effect.id}", effect.label, x, y, star(62, 34), "#2b3cff")
    subject.fx = {"fill": {"type": "linear", "angle": 30, "stops": stops("#2b3cff", "#ff3d8b", "#ffb21a")}}
    subject.fx["effects"] = [{"id": "fx", "type": effect.id, "params": parameters(effect)}]
    if moving := moving_parameter(effect):
        start, end = travel(moving)
        subject.animate(f"effect.fx.{moving.key}", (begin, start), (begin + 1.9, end), bezier=EASE_IN_OUT)
    if effect.route is Route.TIME:
        subject.animate("x", (begin, x - 60), (begin + 1.9, x + 60))
    name = text(f"name-{effect.id}", effect.id, x, y + 86, effect.id, 14, "#cbd5e1", fontWeight="500")
    layers = [*maps(effect, x, y), subject, name]
    for layer in layers:
        layer.bar = (page * PAGE_FRAMES, PAGE_FRAMES)
    return layers


def parameters(effect: Effect) -> Record:
    """Return the stored values that show the effect well, and the layer to read."""
    stored: Record = {key: value for key, value in TELLING.get(effect.id, {}).items() if not isinstance(value, tuple)}
    return stored | {p.key: f"map-{effect.id}" for p in effect.parameters if p.key in LAYER_MAPS}


def maps(effect: Effect, x: float, y: float) -> list[Layer]:
    """Return the layer that an effect reads: a soft ramp behind the subject."""
    if not any(parameter.key in LAYER_MAPS for parameter in effect.parameters):
        return []
    ramp = shape(f"map-{effect.id}", "Map", x, y, TILE_WIDTH - 30, TILE_HEIGHT - 40, "#202838")
    ramp.fx = {"fill": {"type": "linear", "angle": 0, "stops": stops("#101010", "#f0f0f0")}}
    return [ramp]


def moving_parameter(effect: Effect) -> Parameter | None:
    """Return the number that is animated."""
    numbers = {p.key: p for p in effect.parameters if p.kind is Kind.NUMBER and p.ui_max is not None}
    wanted = next((numbers[key] for key in MOVING if key in numbers), None)
    return wanted or next(iter(numbers.values()), None)


def travel(parameter: Parameter) -> tuple[float, float]:
    """Return the first and last value of the number: across small ranges, else around its default."""
    low, high = parameter.ui_min or 0.0, parameter.ui_max or 0.0
    default = float(parameter.default) if isinstance(parameter.default, (int, float)) else 0.0
    if high - low <= 400:
        return low, high
    return default, default + (360.0 if parameter.unit == "°" else 60.0)


def star(outer: float, inner: float) -> list[tuple[float, float]]:
    """Return ten points of a star, the first one at the top."""
    radii = [outer if k % 2 == 0 else inner for k in range(10)]
    angles = [math.radians(36 * k - 90) for k in range(10)]
    return [(round(r * math.cos(a), 2), round(r * math.sin(a), 2)) for r, a in zip(radii, angles, strict=True)]


def main() -> None:
    """Write the bundle."""
    (HERE / "effects.motion").write_bytes(bundle(showcase()))


if __name__ == "__main__":
    main()
