"""Functions for the sandbox that read untrusted bytes. Each one returns, or refuses its input with a known error."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from farm_core.assets.inspection import kind_at
from farm_core.errors import BadRequest
from gpu_renderer.content.media.bitmaps import bitmap_pixels
from gpu_renderer.content.media.video_file import opened
from gpu_renderer.content.svg import svg_pixels
from gpu_renderer.errors import RenderError
from motion.build import build
from motion.bundle import read_file
from motion.errors import DocumentError
from motion.evaluate import snapshot
from motion.notices import of_document
from motion.snapshot_key import key
from motion.template import apply, discover, media_sources
from tests.gpu_renderer.fonts import reference_fonts

REFUSED = "refused"


def document(path: str) -> str:
    """Import the project, apply input values and evaluate two frames."""
    try:
        read = read_file(Path(path))
        fields = discover(read, include_text=True).fields
        list(of_document(read))
        values: dict[str, str | float] = {field.id: 7.0 if field.kind == "number" else "#f00" for field in fields}
        changed = apply(read, fields, values)
        media_sources(changed)
        made = build(changed)
        for at in (0.0, 1.37):
            key(snapshot(made, at))
    except DocumentError:
        return REFUSED
    return "evaluated"


def svg(path: str) -> str:
    """Inspect the SVG as an upload; draw it if it is accepted."""
    try:
        kind_at(path, None)
    except BadRequest:
        return REFUSED
    try:
        svg_pixels(Path(path).read_text(encoding="utf-8", errors="replace"), _fonts())
    except RenderError:
        return "not drawn"
    return "drawn"


def media(path: str) -> str:
    """Inspect the file as an upload; if it is accepted, open it and decode its start."""
    try:
        kind = kind_at(path, None)
    except BadRequest:
        return REFUSED
    return _decoded(Path(path), kind)


def _decoded(path: Path, kind: str) -> str:
    import av

    try:
        if kind.startswith("image/") and kind != "image/svg+xml":
            bitmap_pixels(path.read_bytes())
        elif kind.startswith("video/"):
            with opened(path) as container:
                frames = container.decode(video=0)
                for _ in range(3):
                    next(frames, None)
    except (RenderError, av.FFmpegError, StopIteration, IndexError):
        return "not decoded"
    return "decoded"


@cache
def _fonts() -> Any:
    return reference_fonts()
