"""Small documents for tests of sessions and commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests import documents

Record = dict[str, Any]


def layer(id: str, **properties: Any) -> Record:
    """Return a layer, a shape unless `__kind` is given."""
    placed = {"__kind": "shape", "x": 80, "y": 45, "width": 40, "height": 40, **properties}
    if placed["__kind"] == "shape":
        placed.setdefault("fill", "#ff0000")
    made = documents.node(id)
    made["components"][0]["props"] = placed
    return made


def document(*layers: Record, seconds: float = 1.0, size: tuple[int, int] = (160, 90), **tracks: Record) -> Record:
    """Return a document of one composition at 30 frames per second. `tracks` maps layer ids to their tracks."""
    settings = {"width": size[0], "height": size[1], "durationSeconds": seconds, "background": "#0000ff"}
    made = documents.document(*layers, composition=settings)
    made["animation"]["tracks"] = tracks
    return made


def track(path: str, *keys: tuple[float, float]) -> Record:
    """Return one linear track: (seconds, value) pairs."""
    return {
        path: {"nodeId": "", "prop": path, "keyframes": [{"t": t, "value": v, "easing": "linear"} for t, v in keys]}
    }


def moving_square() -> Record:
    """Return a red square that moves right for half a second over blue, and then stops."""
    return document(layer("square"), square=track("x", (0.0, 30.0), (0.5, 130.0)))


def write_document(folder: Path, doc: Record) -> Path:
    """Write the document to a file."""
    path = folder / "project.motion"
    path.write_text(json.dumps(doc))
    return path
