"""Features of shapes, texts and masks that random documents combine: path operators, paints, pins, clones, animators."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

Record = dict[str, Any]
Color = Callable[[], str]
WHOLE = (0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0)
"""Corners of a quad without a pin."""


def add_features(pick: random.Random, color: Color, kind: str, props: Record, fx: Record, text: Record | None) -> None:
    """Add features to a shape or text, each with a small probability. `text`: properties of its text component."""
    if pick.random() < 0.15:
        props["skew"] = pick.uniform(-30, 30)
    if text is not None:
        _add_to_text(pick, color, fx, text, props)
        return
    if kind in ("rect", "ellipse", "path") and pick.random() < 0.25:
        fx["pathOps"] = [path_operator(pick, index) for index in range(pick.randrange(1, 3))]
    if kind in ("rect", "ellipse", "path") and pick.random() < 0.2:
        fx["fills"] = [gradient(pick, color), {"type": "solid", "color": color()}]
        fx["strokes"] = [stroke(pick, color) for _ in range(pick.randrange(1, 3))]
    if pick.random() < 0.12:
        fx["cornerPin"] = [corner + pick.uniform(-0.2, 0.2) for corner in WHOLE]
    if pick.random() < 0.08:
        fx["__cloner"] = cloner(pick)
    if kind != "solid" and pick.random() < 0.08:
        fx["paint"] = {"strokes": [brush(pick, color, index) for index in range(2)]}


def _add_to_text(pick: random.Random, color: Color, fx: Record, text: Record, props: Record) -> None:
    if pick.random() < 0.3:
        text["__animators"] = [animator(pick)]
    if pick.random() < 0.2:
        text["__runs"] = [{"start": 0, "end": 2, "fill": color(), "fontSize": pick.choice([14, 30])}]
    if pick.random() < 0.2:
        text["boxWidth"] = pick.uniform(20, 90)
    if pick.random() < 0.2:
        fx["textPath"] = {"pathId": "", "firstMargin": 3.0, "reversed": False, "perpendicular": pick.random() < 0.5}
    if "rotationY" in props and pick.random() < 0.4:
        props["perChar3D"] = True


def path_operator(pick: random.Random, index: int) -> Record:
    """Return an operator on the outline of a shape."""
    kind = pick.choice(["roundCorners", "trim", "pucker", "offset", "roughen", "twist", "zigzag", "repeater"])
    found = {"id": f"op{index}", "type": kind, "amount": pick.uniform(-8, 8), "detail": pick.randrange(1, 5)}
    if kind == "trim":
        found |= {"start": pick.uniform(0, 40), "end": pick.uniform(50, 100), "offset": pick.uniform(0, 90)}
    if kind == "repeater":
        found |= {
            "copies": 3,
            "offsetX": pick.uniform(-20, 20),
            "offsetRotation": 12,
            "offsetOpacity": 0.8,
            "offsetScale": 0.9,
        }
    if kind == "roughen":
        found |= {"seed": pick.randrange(99), "wigglesPerSecond": 2, "correlation": 30}
    return found


def gradient(pick: random.Random, color: Color) -> Record:
    stops = [{"id": f"s{offset}", "offset": offset, "color": color()} for offset in (0, 1)]
    if pick.random() < 0.5:
        return {"type": "radial", "cx": 0.4, "cy": 0.5, "radius": 0.6, "stops": stops}
    return {"type": "linear", "angle": pick.uniform(0, 360), "stops": stops}


def stroke(pick: random.Random, color: Color) -> Record:
    found = {
        "enabled": True, "color": color(), "width": pick.uniform(1, 8), "opacity": pick.choice([0.6, 1]), "dash": pick.choice([[], [9, 4]]),
        "align": pick.choice(["inside", "center", "outside"]), "cap": pick.choice(["butt", "round"]), "join": "miter",
    }  # fmt: skip
    if pick.random() < 0.3:
        found["paint"] = gradient(pick, color)
    if pick.random() < 0.3:
        found["taper"] = {"startWidth": 0.2, "endWidth": 0.7, "startLength": 0.4, "endLength": 0.3}
    return found


def cloner(pick: random.Random) -> Record:
    step = {"x": 5, "y": 3, "rotation": 8, "scale": -0.1, "opacity": -20, "time": pick.choice([0, 0.1])}
    return {
        "enabled": True, "mode": pick.choice(["linear", "grid", "radial"]), "count": 3, "countX": 2, "countY": 2, "offsetX": 22, "offsetY": 15,
        "radius": 30, "step": step, "random": {"seed": 4, "position": 0, "rotation": 40, "scale": 0.2},
    }  # fmt: skip


def brush(pick: random.Random, color: Color, index: int) -> Record:
    points = [{"x": pick.uniform(-30, 30), "y": pick.uniform(-20, 20)} for _ in range(3)]
    return {
        "id": f"p{index}", "points": points, "color": color(), "size": 9, "opacity": pick.choice([0.5, 1]), "hardness": 0.5,
        "mode": pick.choice(["paint", "erase"]),
    }  # fmt: skip


def animator(pick: random.Random) -> Record:
    selector = {
        "id": "s", "kind": "range", "enabled": True, "basedOn": pick.choice(["characters", "words", "lines"]), "units": "percentage", "mode": "add",
        "start": pick.uniform(0, 40), "end": 80, "offset": 0, "amount": 80, "shape": pick.choice(["square", "rampUp", "round"]),
    }  # fmt: skip
    moved = pick.choice(["x", "y", "rotation", "scale", "skew", "opacity", "blur", "rotationY", "z", "tracking"])
    return {"id": "a", "name": "a", "enabled": True, "selectors": [selector], moved: pick.uniform(5, 40)}
