"""Time to evaluate a frame, and to make its key, for 50 layers that all move."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.runner.benchmark import Benchmark, Row
from motion.build import build
from motion.evaluate import snapshot
from motion.migrations import migrate
from motion.snapshot_key import key

LAYERS = 50
FRAMES = 150
FPS = 30


def _rows(quick: bool) -> Iterator[Row]:
    """Yield the median milliseconds a frame of evaluation, of the key, and of both for a static frame."""
    frames = FRAMES // 5 if quick else FRAMES
    for name, still in (("moving", False), ("at rest", True)):
        evaluated, keyed = _timed(build(migrate(animated_document(still))), frames)
        yield {"layers": f"{LAYERS} {name}", "evaluate_ms": round(evaluated, 3), "key_ms": round(keyed, 3)}


def animated_document(still: bool) -> dict[str, Any]:
    """Shape and texts under nulls, with keyframes, effects, masks, gradients and a few expressions; or all at rest."""
    nodes: list[dict[str, Any]] = [_node("comp_root", None, "group", [f"n{index}" for index in range(LAYERS)])]
    nodes += [_layer(index) for index in range(LAYERS)]
    tracks = {} if still else {f"n{index}": _tracks(index) for index in range(LAYERS)}
    wiggles = {f"n{index}": {"rotation": {"src": "wiggle(2,30)", "enabled": True}} for index in range(0, LAYERS, 10)}
    return {
        "version": "1.6.0",
        "scene": {"version": "1.0.0", "nodes": nodes},
        "animation": {"tracks": tracks, "expressions": {} if still else wiggles},
        "comps": {"comp_root": {"id": "comp_root", "width": 1920, "height": 1080, "fps": FPS, "durationSeconds": 5}},
    }


def _timed(composition: Any, frames: int) -> tuple[float, float]:
    evaluated, keyed = [], []
    for index in range(frames):
        start = time.perf_counter()
        frame = snapshot(composition, index / FPS)
        middle = time.perf_counter()
        key(frame)
        evaluated.append(middle - start)
        keyed.append(time.perf_counter() - middle)
    return statistics.median(evaluated) * 1000, statistics.median(keyed) * 1000


def _node(node_id: str, parent: str | None, kind: str, children: list[str], **properties: Any) -> dict[str, Any]:
    transform = {"id": f"{node_id}_t", "type": "Transform", "props": {"__kind": kind, **properties}}
    return {"id": node_id, "name": node_id, "parent": parent, "children": children, "components": [transform]}


def _layer(index: int) -> dict[str, Any]:
    """Every fifth layer is a text, every third has a gradient, every fourth a shadow and a mask."""
    kind = "text" if index % 5 == 0 else "shape"
    node = _node(f"n{index}", "comp_root", kind, [], x=index * 30, y=500, width=200, height=120, cornerRadius=12)
    fx: dict[str, Any] = {}
    if index % 3 == 0:
        stops = [{"offset": 0, "color": "#ff0000"}, {"offset": 1, "color": "#0000ff"}]
        fx["fill"] = {"type": "linear", "angle": 45, "stops": stops}
    if index % 4 == 0:
        fx["effects"] = [{"id": "s", "type": "drop-shadow", "params": {"distance": 8, "softness": 10}}]
        points = [{"x": x, "y": y} for x, y in ((-80, -50), (80, -50), (80, 50), (-80, 50))]
        fx["mask"] = {"paths": [{"id": "m", "mode": "add", "points": points}]}
    node["components"].append({"id": "fx", "type": "fx", "props": fx})
    if kind == "text":
        node["components"].append({"id": "tx", "type": "Text", "props": {"content": f"Headline {index}"}})
    return node


def _tracks(index: int) -> dict[str, Any]:
    def keys(*values: float) -> dict[str, Any]:
        bezier = {"easing": "bezier", "bezier": [0.16, 1, 0.3, 1]}
        return {"keyframes": [{"t": second * 1.25, "value": value, **bezier} for second, value in enumerate(values)]}

    return {
        "x": keys(index, 900, 200, 1500, index * 9),
        "y": keys(100, 300, 800, 500, 120),
        "opacity": keys(0, 100, 40, 100, 0),
        "scaleX": keys(0.5, 1, 1.4, 0.9, 1),
        "fillAngle": keys(0, 90, 180, 270, 360),
        "effect.s.distance": keys(0, 10, 30, 5, 0),
    }


BENCHMARK = Benchmark(
    "How many milliseconds does a frame of 50 animated layers take to evaluate, and its key to make?",
    _rows,
    label="layers",
    bar="evaluate_ms",
)
