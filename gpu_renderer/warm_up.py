"""Render a small document once, so that the first job of a session does not pay one-time costs.

One-time costs are the compilation of shaders (on a GPU), the fonts' tables, the encoder's first frame and Python's imports. The
pixels of later frames do not depend on the warm-up.
"""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, cast

from PIL import Image

from gpu_renderer.session import Output, RenderSession
from motion.stored import Document

FRAMES: Final = 3
"""Frames of the warm-up. The first one draws everything, the others the moving layers."""
SIZE: Final = (320, 180)
SECONDS: Final = 1
PICTURE: Final = "picture.png"
_FPS: Final = 30
_GRADIENT: Final = {
    "type": "linear", "angle": 30,
    "stops": [{"offset": 0, "color": "#334155"}, {"offset": 0.5, "color": "#be185d"}, {"offset": 1, "color": "#f59e0b"}],
}  # fmt: skip
_BLUR: Final = {"id": "blur", "type": "gaussian-blur", "params": {"blurriness": 12, "repeatEdge": False}}
_GLOW: Final = {"id": "glow", "type": "glow", "params": {}}
_SHADOW: Final = {"id": "shadow", "type": "drop-shadow", "params": {}}


def warm_up(session: RenderSession) -> float:
    """Render the document and return the seconds taken. Raises the errors of rendering."""
    began = time.perf_counter()
    with TemporaryDirectory() as folder:
        picture = Path(folder) / PICTURE
        Image.new("RGBA", (64, 64), "#f59e0b80").save(picture)
        with session.open(document(), Output(*SIZE), lambda _: picture) as opened:
            session.render_segment(opened, 0, FRAMES, Path(folder) / "segment.mp4")
    return time.perf_counter() - began


def document() -> Document:
    """Return a document with the most common contents and effects."""
    fades: tuple[dict[str, Any], ...] = ({}, {"rotation": 12}, {"opacity": 60})
    layers = [
        _shape("back", 160, 90, 320, 180, fx={"fill": _GRADIENT}),
        _shape("still", 40, 40, 40, 30),
        *(_shape(f"rect{index}", 60 + 70 * index, 60, 50, 30, moves=True, **more) for index, more in enumerate(fades)),
        *(
            _shape(f"disc{index}", 60 + 70 * index, 120, 40, 40, shape="ellipse", moves=True, **more)
            for index, more in enumerate(fades)
        ),
        _shape("blurred", 60, 100, 60, 30, fx={"effects": [_BLUR]}),
        _shape("blended", 120, 100, 60, 30, moves=True, fx={"blendMode": "screen"}),
        _picture("picture", 270, 40),
        _picture("moving picture", 280, 90, moves=True, rotation=5),
        _text("still text", 160, 40),
        _text("text", 160, 90, moves=True),
        _text("turned", 200, 110, moves=True, rotation=10),
        _text("glowing", 240, 130, fx={"effects": [_GLOW]}),
        _text("shadow", 240, 150, moves=True, fx={"effects": [_SHADOW]}),
    ]
    return cast(Document, _composition(layers))


def _shape(
    name: str, x: float, y: float, width: float, height: float, *, shape: str = "rect", **more: Any
) -> dict[str, Any]:
    transform = {
        "__kind": "shape",
        "x": x,
        "y": y,
        "width": width,
        "height": height,
        "shapeType": shape,
        "cornerRadius": 6,
    }
    style = {"opacity": more.pop("opacity", 100), "fill": "#22d3ee"}
    return _layer(name, transform, {"Style": style}, **more)


def _picture(name: str, x: float, y: float, **more: Any) -> dict[str, Any]:
    transform = {"__kind": "image", "x": x, "y": y, "width": 40, "height": 40, "src": PICTURE}
    return _layer(name, transform, {"Style": {"opacity": 100}}, **more)


def _text(name: str, x: float, y: float, **more: Any) -> dict[str, Any]:
    text = {
        "content": "Warm up", "fontSize": 22, "fontFamily": "Inter", "fontWeight": "700", "align": "center",
        "fill": "#ffffff", "opacity": more.pop("opacity", 100),
    }  # fmt: skip
    return _layer(name, {"__kind": "text", "x": x, "y": y}, {"Text": text}, **more)


def _layer(
    name: str,
    transform: dict[str, Any],
    props: dict[str, Any],
    *,
    rotation: float = 0,
    moves: bool = False,
    fx: dict[str, Any] | None = None,
) -> dict[str, Any]:
    props = {"Transform": transform | ({"rotation": rotation} if rotation else {}), **props} | (
        {"fx": fx} if fx else {}
    )
    components = [{"id": f"{name}_{kind}", "type": kind, "props": values} for kind, values in props.items()]
    return {"node": _node(name, "root", [], components), "y": f"{transform['y']} + 20*time" if moves else None}


def _composition(layers: list[dict[str, Any]]) -> dict[str, Any]:
    names = [layer["node"]["id"] for layer in layers]
    meta = [{"id": "root_meta", "type": "group", "props": {"__kind": "group"}}]
    moving = {layer["node"]["id"]: layer["y"] for layer in layers if layer["y"] is not None}
    expressions = {name: {"y": {"src": source, "enabled": True}} for name, source in moving.items()}
    settings = {
        "id": "root", "name": "Warm-up", "width": SIZE[0], "height": SIZE[1], "fps": _FPS, "durationSeconds": SECONDS,
        "background": "#0f172a", "transparent": False, "startFrame": 0,
    }  # fmt: skip
    return {
        "version": "1.1.0",
        "scene": {
            "version": "1.0.0",
            "nodes": [_node("root", None, names, meta), *(layer["node"] for layer in layers)],
        },
        "animation": {"tracks": {}, "expressions": expressions},
        "comps": {"root": settings},
        "timelines": {},
    }


def _node(name: str, parent: str | None, children: list[str], components: list[dict[str, Any]]) -> dict[str, Any]:
    still = {"position": {"x": 0, "y": 0}, "rotation": 0, "scale": {"x": 1, "y": 1}}
    return {
        "id": name, "name": name, "parent": parent, "children": children, "transform": still, "components": components,
        "visible": True, "locked": False,
    }  # fmt: skip
