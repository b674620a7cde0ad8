"""Documents with random combinations of features: small, short, and equal for equal seeds."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from gpu_renderer import effects
from gpu_renderer.display_list.graph import FIXED_BLENDS, MODES
from gpu_renderer.effects.parameters import Kind
from tests.gpu_renderer.random_features import add_features

Record = dict[str, Any]
SECONDS, FPS = 0.6, 10
SIZES = [(160, 90), (97, 61), (64, 64), (131, 40), (1, 1)]
SHAPES = ["rect", "rect", "ellipse", "gradient", "stroked", "text", "solid", "path"]
OTHERS = ["comp", "precomp", "adjustment", "light", "particle"]
BLENDS = [*FIXED_BLENDS, *MODES]
OFTEN = [
    "blur", "drop-shadow", "glow", "stroke", "mirror", "set-matte", "displacement-map", "compound-blur", "linear-wipe", "echo", "hue-rotate", "levels",
]  # fmt: skip
WIDEST_PX = 30.0
"""Maximum blur: with wider ones, so small frames show nothing."""


@dataclass
class RandomDocument:
    """Builder of a random document."""

    seed: int
    nodes: list[Record] = field(default_factory=list)
    tracks: Record = field(default_factory=dict)
    comps: Record = field(default_factory=dict)
    siblings: list[str] = field(default_factory=list)
    layers: int = 0
    """Number of layers so far, for names."""

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def made(self) -> Record:
        """Return the whole document."""
        self._composition("comp_root", 0)
        return {
            "version": "1.6.0",
            "scene": {"version": "1.0.0", "nodes": self.nodes},
            "animation": {"tracks": self.tracks, "expressions": {}},
            "comps": self.comps,
            "motionBlur": {"enabled": True, "shutterAngle": 360, "samples": 4, "adaptiveSampleLimit": 8},
        }

    def maybe(self, share: float) -> bool:
        return self.random.random() < share

    def _color(self) -> str:
        return f"#{self.random.randrange(1 << 24):06x}"

    def _moved(self, node: str, path: str, low: float, high: float) -> None:
        times = sorted(self.random.sample([0, 0.1, 0.2, 0.3, 0.4, 0.5], 2))
        kind = self.random.choice(["linear", "hold"])
        keys = [{"t": t, "value": self.random.uniform(low, high), "easing": kind} for t in times]
        self.tracks.setdefault(node, {})[path] = {"nodeId": node, "prop": path, "keyframes": keys}

    def _composition(self, id: str, depth: int) -> None:
        width, height = self.random.choice(SIZES[: 5 if depth else 4])
        settings = {"id": id, "name": id, "width": width, "height": height, "fps": FPS, "durationSeconds": SECONDS}
        self.comps[id] = settings | {"background": self._color(), "transparent": self.maybe(0.2)}
        outer, self.siblings = self.siblings, []
        in_space = self.maybe(0.5)
        count = self.random.randrange(1, 4 if depth else 7)
        children = [self._layer(id, (width, height), depth, in_space=in_space) for _ in range(count)]
        if in_space and self.maybe(0.6):
            children.append(self._camera(id, (width, height)))
        self.siblings = outer
        self.nodes.append(_node(id, None, children, _component(id, "group", {"__kind": "group"})))

    def _camera(self, parent: str, size: tuple[int, int]) -> str:
        name, props = f"camera{len(self.nodes)}", {"__kind": "camera", "x": size[0] / 2, "y": size[1] / 2}
        if self.maybe(0.5):
            props |= {"orbitYaw": self.random.uniform(-40, 40), "dofStrength": 12, "focusDistance": 100}
            self._moved(name, "x", 0, size[0])
        self.nodes.append(_node(name, parent, [], _component(name, "Transform", props)))
        return name

    def _layer(self, parent: str, size: tuple[int, int], depth: int, *, in_space: bool) -> str:
        pick, (w, h) = self.random, size
        name, kind = f"layer{self.layers}", pick.choice(SHAPES + (OTHERS if depth < 2 else []))
        self.layers += 1
        props: Record = {
            "__kind": "shape", "x": pick.uniform(-0.1, 1.1) * w, "y": pick.uniform(-0.1, 1.1) * h,
            "width": pick.uniform(2, 1.2 * w + 2), "height": pick.uniform(2, 1.2 * h + 2), "opacity": pick.choice([0, 50, 100, 100]),
            "rotation": pick.choice([0, 0, 90, pick.uniform(-180, 180)]), "scaleX": pick.choice([-1, 0, 0.5, 1, 1, 2]),
        }  # fmt: skip
        fx: Record = {}
        children: list[str] = []
        more: list[Record] = []
        if kind in SHAPES:
            more = self.shape(name, kind, props, fx)
            if in_space and self.maybe(0.6):
                props |= {"z": pick.uniform(-100, 200), "rotationX": pick.uniform(-70, 70), "rotationY": pick.uniform(-70, 70)}  # fmt: skip
                props |= {"acceptsLights": self.maybe(0.3), "extrusionDepth": pick.choice([0, 0, 0, 20])}
            add_features(pick, self._color, kind, props, fx, more[-1]["props"] if kind == "text" else None)
        elif kind == "comp":
            fx["__compRef"] = f"comp{len(self.comps)}"
            self._composition(fx["__compRef"], depth + 1)
            fx["collapseTransforms"] = self.maybe(0.3)
        elif kind == "precomp":
            fx["precomp"] = True
            children = [self._layer(name, size, depth + 1, in_space=in_space) for _ in range(pick.randrange(1, 4))]
        elif kind == "light":
            props |= {"radius": pick.uniform(10, 80), "z": -60, "castShadows": self.maybe(0.3)}
        fx["isAdjustment"] = kind == "adjustment"
        props["__kind"] = {"precomp": "group", "text": "text"}.get(kind, kind if kind in OTHERS else "shape")
        for path, low, high in (("x", 0, w), ("y", 0, h), ("rotation", -90, 90), ("opacity", 0, 100)):
            if self.maybe(0.25):
                self._moved(name, path, low, high)
        self._looks(name, fx, props)
        components = [*more, _component(name, "Transform", props), _component(name, "fx", fx)]
        self.nodes.append(_node(name, parent, children, *components))
        self.siblings.append(name)
        return name

    def shape(self, id: str, kind: str, props: Record, fx: Record) -> list[Record]:
        """Return the components of a layer of a kind, and add its properties."""
        props |= {
            "shapeType": "ellipse" if kind == "ellipse" else "rect",
            "cornerRadius": self.random.choice([0, 0, 9]),
        }
        fx["solid"] = kind == "solid"
        found = [_component(id, "Style", {"fill": self._color()})]
        if kind == "gradient":
            stops = [{"offset": 0, "color": self._color()}, {"offset": 1, "color": self._color()}]
            fx["fill"] = {"type": "linear", "angle": self.random.uniform(0, 360), "stops": stops}
        if kind == "stroked":
            fx["stroke"] = {"enabled": True, "paint": {"type": "solid", "color": self._color()}, "width": 5}
        if kind == "text":
            found.append(_component(id, "Text", {"content": "Ab c\nde", "fontSize": 22, "fill": self._color()}))
        if kind == "path":
            points = [{"x": self.random.uniform(-30, 30), "y": self.random.uniform(-30, 30)} for _ in range(5)]
            found.append(_component(id, "Geometry", {"points": points, "open": False}))
        return found

    def _looks(self, id: str, fx: Record, props: Record) -> None:
        """Add effects, a mask, a matte, a blend mode and other features, each with a small probability."""
        if fx["isAdjustment"] or self.maybe(0.4):
            fx["effects"] = [self.effect(id, index) for index in range(self.random.randrange(1, 4))]
        if self.maybe(0.2):
            fx["mask"] = {"paths": [self.mask()]}
        if "mask" in fx and "effects" in fx and self.maybe(0.2):
            fx["effects"][0]["maskId"] = "mask"
        if self.maybe(0.3):
            fx["blendMode"] = self.random.choice(BLENDS)
        if self.siblings and self.maybe(0.15):
            mode = self.random.choice(["alpha", "luma"])
            fx["matte"] = {"mode": mode, "inverted": self.maybe(0.3), "sourceId": self.random.choice(self.siblings)}
        if self.maybe(0.1):
            fx["layerStyles"] = {self.random.choice(["glass", "innerGlow", "outerGlow", "dropShadow"]): {"enabled": True}}  # fmt: skip
        fx |= {"motionBlur": self.maybe(0.15), "preserveTransparency": self.maybe(0.07)}
        props |= {"backdropBlur": self.random.choice([0, 0, 0, 0, 0, 0, 8]), "fillOpacity": self.random.choice([100] * 9 + [40])}  # fmt: skip

    def mask(self) -> Record:
        side, x, y = self.random.uniform(5, 40), self.random.uniform(-20, 20), self.random.uniform(-20, 20)
        corners = [(x - side, y - side), (x + side, y - 0.7 * side), (x + side, y + side), (x - side, y + side)]
        points = [{"x": px, "y": py, "inX": px, "inY": py, "outX": px, "outY": py} for px, py in corners]
        mode = self.random.choice(["add", "subtract", "intersect", "none", "lighten", "darken", "difference"])
        more = {"expansion": self.random.choice([0, 0, 0, -3, 5]), "inverted": self.maybe(0.15)}
        return {
            "id": "mask",
            "mode": mode,
            "closed": True,
            "points": points,
            "feather": self.random.choice([0, 12]),
            **more,
        }

    def effect(self, node: str, index: int) -> Record:
        every = [kind.id for kind in effects.every_effect()]
        kind = effects.find(self.random.choice(OFTEN if self.maybe(0.5) else every))
        assert kind is not None
        stored: Record = {}
        for parameter in kind.parameters:
            low, high = parameter.ui_min or 0.0, min(parameter.ui_max or 100.0, 1e4)
            high = min(high, WIDEST_PX) if parameter.unit == "px" and kind.is_soft else high
            if parameter.kind is Kind.NUMBER and self.maybe(0.7):
                stored[parameter.key] = self.random.uniform(low, high)
                if self.maybe(0.15):
                    self._moved(node, f"effect.fx{index}.{parameter.key}", low, high)
            elif parameter.kind is Kind.COLOR:
                stored[parameter.key] = self._color()
            elif parameter.kind is Kind.LAYER:
                stored[parameter.key] = self.random.choice([*self.siblings, ""])
        return {"id": f"fx{index}", "type": kind.id, "params": stored}


def _component(node: str, kind: str, props: Record) -> Record:
    return {"id": f"{node}-{kind}", "type": kind, "props": props}


def _node(id: str, parent: str | None, children: list[str], *components: Record) -> Record:
    return {"id": id, "name": id, "parent": parent, "children": children, "components": list(components)}
