"""Write `.motion` documents by hand: nodes, tracks, compositions, and the zip around them.

Records have the shape that the editor writes, so that the examples exercise the same path as real projects.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Record = dict[str, Any]
EASE_OUT = (0.16, 1.0, 0.3, 1.0)
EASE_IN_OUT = (0.65, 0.0, 0.35, 1.0)
BACK_OUT = (0.34, 1.56, 0.64, 1.0)
ZIP_TIME = (2026, 1, 1, 0, 0, 0)


@dataclass
class Layer:
    """A node under construction: its kind, properties by component, tracks, and its bar on the timeline in frames."""

    id: str
    name: str
    kind: str
    transform: Record = field(default_factory=dict)
    style: Record = field(default_factory=dict)
    text: Record = field(default_factory=dict)
    geometry: Record = field(default_factory=dict)
    fx: Record = field(default_factory=dict)
    audio: Record = field(default_factory=dict)
    tracks: dict[str, list[Record]] = field(default_factory=dict)
    expressions: dict[str, str] = field(default_factory=dict)
    bar: tuple[int, int] | None = None
    children: list[Layer] = field(default_factory=list)

    def animate(self, path: str, *keys: tuple[float, float], bezier: Sequence[float] = EASE_OUT) -> Layer:
        """Add keyframes (seconds, value) on a property path, eased by the bezier handles."""
        self.tracks[path] = [
            {"t": time, "value": value, "easing": "bezier", "bezier": list(bezier)} for time, value in keys
        ]
        return self

    def express(self, path: str, source: str) -> Layer:
        """Drive a property path by an expression."""
        self.expressions[path] = source
        return self


def shape(id: str, name: str, x: float, y: float, width: float, height: float, fill: str, **more: Any) -> Layer:
    """A rectangle (or an ellipse, with shape="ellipse"), its centre at x, y."""
    transform = {"x": x, "y": y, "width": width, "height": height, "shapeType": more.pop("shape", "rect")}
    transform |= {key: more.pop(key) for key in ("cornerRadius", "rotation") if key in more}
    return Layer(id, name, "shape", transform, {"opacity": more.pop("opacity", 100), "fill": fill}, fx=more)


def path(
    id: str, name: str, x: float, y: float, points: Iterable[tuple[float, float]], fill: str, **more: Any
) -> Layer:
    """A closed polygon, its points in px from the layer's centre."""
    corners = [{"x": px, "y": py, "inX": px, "inY": py, "outX": px, "outY": py} for px, py in points]
    made = shape(
        id, name, x, y, 2 * max(abs(p["x"]) for p in corners), 2 * max(abs(p["y"]) for p in corners), fill, **more
    )
    made.geometry = {"points": corners, "open": False}
    return made


def text(id: str, name: str, x: float, y: float, content: str, size: float, fill: str, **more: Any) -> Layer:
    """A text layer, its box centred on x, y."""
    fx: Record = {key: more.pop(key) for key in ("effects", "layerStyles", "blendMode") if key in more}
    props = {"content": content, "fontSize": size, "fontFamily": "Inter", "fontWeight": "700", "align": "center"}
    return Layer(id, name, "text", {"x": x, "y": y}, text=props | {"fill": fill, "opacity": 100} | more, fx=fx)


def media(
    id: str, name: str, kind: str, x: float, y: float, width: float, height: float, src: str, **more: Any
) -> Layer:
    """An image or video layer showing `src`, stretched to its box."""
    transform = {"x": x, "y": y, "width": width, "height": height, "src": src}
    transform |= {key: more.pop(key) for key in ("cornerRadius",) if key in more}
    return Layer(id, name, kind, transform, {"opacity": 100}, fx=more)


def audio(id: str, name: str, src: str, seconds: float) -> Layer:
    """A layer that plays a file with a length in seconds."""
    component = {"__assetId": id, "__src": src, "__duration": seconds, "__start": 0, "__in": 0, "__out": seconds}
    return Layer(id, name, "audio", {"x": 0, "y": 0}, audio=component)


def null(id: str, name: str, x: float, y: float, *children: Layer) -> Layer:
    """A null that carries its children."""
    return Layer(id, name, "null", {"x": x, "y": y}, children=list(children))


def composition(
    id: str,
    name: str,
    width: int,
    height: int,
    fps: int,
    seconds: float,
    layers: list[Layer],
    background: Any,
    fields: Sequence[Record] = (),
) -> Record:
    """A whole document of one composition. `background` is a colour or a gradient paint."""  # fmt: skip
    nodes: list[Record] = []
    tracks: Record = {}
    expressions: Record = {}
    meta: Record = {"__kind": "group"} | ({"__templateFields": list(fields)} if fields else {})
    root = _node(id, name, None, [layer.id for layer in layers], [{"id": f"{id}_meta", "type": "group", "props": meta}])
    nodes.append(root)
    for layer in layers:
        _add(layer, id, nodes, tracks, expressions)
    settings: Record = {
        "id": id,
        "name": name,
        "width": width,
        "height": height,
        "fps": fps,
        "durationSeconds": seconds,
    }
    settings |= {
        "background": background if isinstance(background, str) else "#101014",
        "transparent": False,
        "startFrame": 0,
    }
    if not isinstance(background, str):
        settings["backgroundPaint"] = background
    return {
        "version": "1.1.0",
        "scene": {"version": "1.0.0", "nodes": nodes},
        "animation": {"tracks": tracks, "expressions": expressions},
        "comps": {id: settings},
        "timelines": {id: _timeline(id, fps, round(seconds * fps), layers)},
    }


def bundle(document: Mapping[str, Any], folder: str = "") -> bytes:
    """Return the document as the bytes of a zipped bundle, with the manifest's change detectors filled in."""
    chunks = {
        "scene.json": document["scene"],
        "animation.json": document["animation"],
        "timeline.json": {"timelines": document["timelines"]},
        "meta.json": {"comps": document["comps"]},
    }
    texts = {name: json.dumps(value, separators=(",", ":"), ensure_ascii=False) for name, value in chunks.items()}
    manifest = {
        "bundleFormat": "2.0.0",
        "documentVersion": document["version"],
        "chunks": {name: fnv1a(text) for name, text in texts.items()},
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {"manifest.json": json.dumps(manifest), **texts}.items():
            archive.writestr(zipfile.ZipInfo(folder + name, ZIP_TIME), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def fnv1a(text: str) -> str:
    """64-bit FNV-1a over the text's UTF-16 code units, low byte first, as sixteen hex digits."""
    value = 0xCBF29CE484222325
    for byte in text.encode("utf-16-le"):
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def _add(layer: Layer, parent: str, nodes: list[Record], tracks: Record, expressions: Record) -> None:
    props = {"Transform": {"__kind": layer.kind, **layer.transform}, "Style": layer.style, "Text": layer.text}
    props |= {"Geometry": layer.geometry, "fx": layer.fx, "Audio": layer.audio}
    components = [
        {"id": f"{layer.id}_{kind.lower()}", "type": kind, "props": values} for kind, values in props.items() if values
    ]
    nodes.append(_node(layer.id, layer.name, parent, [child.id for child in layer.children], components))
    if layer.tracks:
        tracks[layer.id] = {
            path: {"nodeId": layer.id, "prop": path, "keyframes": keys} for path, keys in layer.tracks.items()
        }
    if layer.expressions:
        expressions[layer.id] = {path: {"src": source, "enabled": True} for path, source in layer.expressions.items()}
    for child in layer.children:
        _add(child, layer.id, nodes, tracks, expressions)


def _node(id: str, name: str, parent: str | None, children: list[str], components: list[Record]) -> Record:
    still = {"position": {"x": 0, "y": 0}, "rotation": 0, "scale": {"x": 1, "y": 1}}
    flags = {"visible": True, "locked": False}
    return {
        "id": id,
        "name": name,
        "parent": parent,
        "children": children,
        "transform": still,
        "components": components,
    } | flags


def _timeline(id: str, fps: int, frames: int, layers: list[Layer]) -> Record:
    bars = [
        {
            "id": f"bar_{layer.id}", "name": layer.name, "trackId": f"track_{id}", "enabled": True, "locked": False,
            "clip": {"start": start, "duration": duration, "sourceIn": 0, "sourceDuration": None},
            "sourceId": layer.id, "markers": [], "metadata": {},
        }
        for layer in layers
        for start, duration in [layer.bar or (0, frames)]
    ]  # fmt: skip
    track = {"id": f"track_{id}", "name": "Composition", "kind": "group", "layers": bars, "markers": [], "metadata": {}}
    rate = {"fps": fps, "nominal": fps, "dropFrame": False}
    return {
        "version": 1,
        "id": f"timeline_{id}",
        "name": "Composition",
        "frameRate": rate,
        "duration": frames,
        "tracks": [track],
    }


def stops(*colors: str) -> list[Record]:
    """Evenly spaced gradient stops."""
    return [{"id": f"s{i}", "offset": i / (len(colors) - 1), "color": color} for i, color in enumerate(colors)]
