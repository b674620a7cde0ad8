"""Small documents in the form that an editor writes."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]


def node(node_id: str, kind: str = "shape", **properties: Any) -> Json:
    """Return a layer under the composition root. `fx`, `text`, `style`, `geometry` fill the components of that name."""
    components: list[Json] = [{"id": f"{node_id}_t", "type": "Transform", "props": {"__kind": kind}}]
    named = {"fx": "fx", "text": "Text", "style": "Style", "geometry": "Geometry", "group": "group", "svg": "svg"}
    named["audio"] = "Audio"
    own = ("name", "parent", "children", "visible", "solo")
    for key, component_type in named.items():
        if key in properties:
            components.append({"id": f"{node_id}_{key}", "type": component_type, "props": properties.pop(key)})
    record: Json = {"id": node_id, "name": node_id, "parent": "comp_root", "children": [], "visible": True}
    record.update({key: properties.pop(key) for key in own if key in properties})
    components[0]["props"].update(properties)
    return {**record, "components": components}


def root(*children: str, node_id: str = "comp_root", **properties: Any) -> Json:
    """Return a composition's root node."""
    meta = {"__kind": "group", **properties}
    return {
        "id": node_id,
        "name": node_id,
        "parent": None,
        "children": list(children),
        "components": [{"id": f"{node_id}_meta", "type": "group", "props": meta}],
    }


def document(
    *layers: Json,
    tracks: Mapping[str, Mapping[str, list[Json]]] | None = None,
    expressions: Mapping[str, Mapping[str, str]] | None = None,
    data: Json | None = None,
    composition: Json | None = None,
    fields: list[Json] | None = None,
    roots: tuple[Json, ...] = (),
    comps: Json | None = None,
    **top: Any,
) -> Json:
    """Return a document of one composition (400 x 300, 30 fps, 10 s) with the layers and exposed fields, and other given
    roots and compositions."""
    exposed: dict[str, Any] = {} if fields is None else {"__templateFields": fields}
    listed = [layer["id"] for layer in layers if layer["parent"] == "comp_root"]
    settings = {"id": "comp_root", "name": "Main", "width": 400, "height": 300, "fps": 30, "durationSeconds": 10}
    return {
        "version": "1.6.0",
        "scene": {"version": "1.0.0", "nodes": [root(*listed, **exposed), *layers, *roots]},
        "animation": {
            "tracks": {
                node_id: {path: {"nodeId": node_id, "prop": path, "keyframes": keys} for path, keys in paths.items()}
                for node_id, paths in (tracks or {}).items()
            },
            "expressions": {
                node_id: {path: {"src": source, "enabled": True} for path, source in paths.items()}
                for node_id, paths in (expressions or {}).items()
            },
            "data": data or {},
        },
        "comps": {"comp_root": {**settings, **(composition or {})}, **(comps or {})},
        **top,
    }


def keys(*pairs: tuple[float, float], **more: Any) -> list[Json]:
    """Return linear keyframes of (seconds, value)."""
    return [{"t": t, "value": value, "easing": "linear", **more} for t, value in pairs]


def bundle(
    doc: Json, folder: str = "", leave_out: tuple[str, ...] = (), files: Mapping[str, bytes] | None = None
) -> bytes:
    """Return the document as a zipped bundle."""
    chunks: Json = {
        "scene.json": doc["scene"],
        "animation.json": doc["animation"],
        "timeline.json": {key: doc[key] for key in ("timelines", "motionBlur") if key in doc},
        "meta.json": {key: doc[key] for key in ("comps", "comp") if key in doc},
    }
    manifest = {"bundleFormat": "2.0.0", "documentVersion": doc["version"], "chunks": dict.fromkeys(chunks, "0" * 16)}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in {"manifest.json": manifest, **chunks}.items():
            if name not in leave_out:
                archive.writestr(folder + name, json.dumps(value))
        for name, content in (files or {}).items():
            archive.writestr(name, content)
    return packed.getvalue()
