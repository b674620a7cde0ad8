"""Stored content of each kind of layer (layers.md 2, text.md 1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from motion.formulas.booleans import Operation
from motion.formulas.mask_keys import mask_paths
from motion.formulas.outline import stored_runs
from motion.formulas.particles import particle_field
from motion.formulas.path_ops import path_operators
from motion.formulas.text_animators import text_animators
from motion.model.content import (
    Content,
    LightContent,
    MediaContent,
    NothingContent,
    ParticleContent,
    ShapeContent,
    SoundContent,
    TextContent,
    WaveformSettings,
)
from motion.schema import paints
from motion.schema.nodes import Node
from motion.snapshot import MaskPath, PathPoint, SolidPaint, TextPath, TextRun, TextStyle
from motion.stored import Record, finite, flag, number, record, records, strings, text, text_or_none

FALLBACK_FILLS = {
    "shape": "#14b8a6",
    "text": "#60a5fa",
    "adjustment": "#a78bfa",
    "particle": "#f472b6",
    "light": "#fbbf24",
}
ELLIPSE_WORDS = ("circle", "ellip", "dot", "orb")
OPERATIONS: dict[str, Operation] = {
    "union": "union",
    "subtract": "subtract",
    "intersect": "intersect",
    "exclude": "exclude",
}
TEXT_CHARACTERS_MAX = 100_000
WAVEFORM_SAMPLES_MAX = 4096
"""Places at which a waveform is read. Its envelope has 1024: more places only repeat them."""
SANITIZE_POLICY = 2
_LIGHTS: Mapping[str, Literal["ambient", "spot", "parallel"]] = {
    "ambient": "ambient",
    "spot": "spot",
    "parallel": "parallel",
}
_VIDEO_NAME = re.compile(r"[^?#]*\.(?:mp4|webm|mov|m4v)(?:[?#]|\Z)", re.IGNORECASE)
"""Address whose path ends as that of a video (document.md 5.5)."""


def content(node: Node) -> Content:
    """Return the node's content. Placed compositions are resolved where their plans are made."""
    match node.kind:
        case "group" | "null" | "camera" | "comp":
            return NothingContent()
        case "audio":
            return sound_content(node)
        case "text":
            return text_content(node)
        case "image" | "video" | "svg":
            return media_content(node, _media_kind(node))
        case "particle":
            return ParticleContent(particle_field(node.fx.get("particle")))
        case "light":
            return light_content(node)
        case _:
            return shape_content(node)


def solid_color(node: Node) -> str:
    """Return the colour of solid fills: the fill object's, else the last fill string, else the kind's own."""
    stored = record(node.fx, "fill")
    if stored.get("type") == "solid" and isinstance(stored.get("color"), str):
        return text(stored, "color")
    return node.string("fill") or FALLBACK_FILLS.get(node.kind, "#000000")


def shape_content(node: Node) -> ShapeContent:
    """Return a shape with its outline, paints and operators (layers.md 4 to 8)."""
    fx, geometry = node.fx, node.component("Geometry")
    color = solid_color(node)
    runs = stored_runs(geometry)
    return ShapeContent(
        primitive=_primitive(node),
        color=color,
        fills=paints.fill_stack(fx, paints.paint(record(fx, "fill")) or SolidPaint(color)),
        stroke=paints.primary_stroke(fx),
        further_strokes=paints.further_strokes(fx),
        runs=runs,
        closed=geometry.get("open") is not True,
        operators=path_operators(fx.get("pathOps")),
        brush_strokes=paints.brush_strokes(fx),
        is_solid=fx.get("solid") is True,
        boolean_operation=OPERATIONS.get(text(fx, "booleanOp")),
        boolean_sources=strings(fx, "booleanSources"),
        waveform=_waveform(fx),
    )


def sound_content(node: Node) -> SoundContent:
    """Return an audio layer's file and the part of it that plays (audio.md 1.1)."""
    stored = node.component("Audio")
    source = stored.get("__src") or stored.get("__assetId")
    end, duration = finite(stored.get("__out")), finite(stored.get("__duration"))
    end = duration if end is None else end
    return SoundContent(
        source=source if isinstance(source, str) else "",
        start_seconds=number(stored, "__start", 0.0),
        first_seconds=number(stored, "__in", 0.0),
        end_seconds=end if end is not None and end > 0.0 else None,
        is_muted=node.is_muted,
    )


def _waveform(fx: Record) -> WaveformSettings | None:
    stored = fx.get("audioWaveform")
    if not isinstance(stored, dict):
        return None
    moves = text(stored, "mode") == "playhead-window"
    return WaveformSettings(
        source_layer=text(stored, "sourceLayerId"),
        samples=max(2, int(min(WAVEFORM_SAMPLES_MAX, number(stored, "samples", 128.0)))),
        height_scale=number(stored, "heightScale", 1.0),
        thickness=max(0.0, number(stored, "thickness", 2.0)),
        window_seconds=max(0.0, number(stored, "windowSec", 1.0)) if moves else None,
    )


def text_content(node: Node) -> TextContent:
    """Return a text with its styles, runs and animators. Longer texts than TEXT_CHARACTERS_MAX are cut."""
    stored = node.component("Text")
    box_width = node.first_number("boxWidth")
    content = node.string("content")
    return TextContent(
        content=None if content is None else content[:TEXT_CHARACTERS_MAX],
        style=_text_style(node),
        line_height=node.number_or("lineHeight", 1.2),
        paragraph_spacing=node.number_or("paragraphSpacing", 0.0),
        align=node.string("align") or "left",
        box_width=box_width if box_width is not None and box_width > 0 else None,
        stroke_over_fill=_last_flag(node, "strokeOverFill"),
        runs=_text_runs(stored, TEXT_CHARACTERS_MAX if content is None else len(content)),
        animators=text_animators(stored.get("__animators")),
        path=_text_path(node),
        per_character_3d=flag(node.component("Transform"), "perChar3D"),
        has_weight=_weight(node) is not None,
    )


def media_content(node: Node, kind: Literal["image", "video", "svg"]) -> MediaContent:
    """Return a picture, video or SVG document, with the fill and stroke that colour it (layers.md 9 and 10)."""
    fx, svg, sequence = node.fx, node.component("svg"), record(node.fx, "sequence")
    fill = paints.paint(record(fx, "fill"))
    color = node.string("fill")
    return MediaContent(
        kind=kind,
        src=node.string("src") or "",
        cover=text(node.component("Transform"), "slotFit") == "cover",
        frames=strings(sequence, "frames"),
        frames_fps=number(sequence, "fps", 30.0),
        frames_loop=flag(sequence, "loop"),
        markup=_markup(svg) if kind == "svg" else None,
        intrinsic_width=finite(svg.get("intrinsicWidth")),
        intrinsic_height=finite(svg.get("intrinsicHeight")),
        live_playback=flag(svg, "livePlayback"),
        fill=fill if fill is not None else SolidPaint(color) if color else None,
        svg_fill=color or None,
        stroke=paints.primary_stroke(fx),
    )


def _media_kind(node: Node) -> Literal["image", "video", "svg"]:
    """Return the layer's kind. A picture layer whose source has the name of a video is a video (document.md 5.3)."""
    if node.kind == "svg":
        return "svg"
    return "video" if node.kind == "video" or _VIDEO_NAME.match(node.string("src") or "") else "image"


def _markup(svg: Record) -> str | None:
    """Return the sanitised SVG document, or its source if another policy than the current one sanitised it (layers.md 10)."""
    sanitized = text_or_none(svg, "sanitizedMarkup")
    if sanitized is None or number(svg, "sanitizePolicy", 0.0) == SANITIZE_POLICY:
        return sanitized
    return text_or_none(svg, "sourceMarkup") or sanitized


def light_content(node: Node) -> LightContent:
    """Return a light's kind, colour and switches. Its numbers are properties of the layer."""
    kind, falloff = node.string("lightType"), node.string("falloff")
    casts = node.anywhere("castShadows")
    return LightContent(
        light=_LIGHTS.get(kind or "", "point"),
        color=node.string("fill") or "#fff3c0",
        falloff=falloff if falloff in {"smooth", "inverse-square"} else "none",
        casts_shadows=casts is True or casts == 1,
    )


def stored_masks(node: Node) -> tuple[MaskPath, ...]:
    """Return the layer's static mask paths."""
    return mask_paths(node.fx.get("mask"))


def _primitive(node: Node) -> Literal["rect", "ellipse", "path"]:
    """Return the primitive of a shape (layers.md 4.1). A path can turn out to have no geometry."""
    geometry = node.component("Geometry")
    if any(isinstance(geometry.get(key), list) for key in ("points", "subpaths")):
        return "path"
    if text(node.fx, "booleanOp") in OPERATIONS:
        return "path"
    if node.fx.get("solid") is True:
        return "rect"
    shape_type = node.component("Transform").get("shapeType")
    if shape_type is None:
        name = node.name.lower()
        return "ellipse" if any(word in name for word in ELLIPSE_WORDS) else "rect"
    return "ellipse" if shape_type == "ellipse" else "rect"


def _text_style(node: Node) -> TextStyle:
    return TextStyle(
        family=node.string("fontFamily") or "Inter",
        size=node.number_or("fontSize", 48.0),
        weight=600.0 if (weight := _weight(node)) is None else weight,
        italic=node.string("fontStyle") == "italic",
        letter_spacing=node.number_or("letterSpacing", 0.0),
        fill=solid_color(node),
    )


def _weight(node: Node) -> float | None:
    """Return the last component's weight: a number, a string with a number, or a CSS word. None if none is stored."""
    for _, properties in reversed(node.components):
        if (weight := css_weight(properties.get("fontWeight"))) is not None:
            return weight
    return None


def css_weight(value: object) -> float | None:
    """Return the CSS weight of a number, a numeric string or a word, or None for other values."""
    if isinstance(value, str):
        words = {"normal": 400.0, "bold": 700.0}
        stripped = value.strip().lower()
        return words.get(stripped) or (float(stripped) if stripped.isascii() and stripped.isdigit() else None)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return finite(value)
    return None


def _text_runs(stored: Record, length: int) -> tuple[TextRun, ...]:
    """Return the runs cut to the first `length` code points, without empty ones (text.md 5)."""
    found = (_text_run(entry, length) for entry in records(stored, "__runs"))
    return tuple(run for run in found if run is not None and run.start < run.end)


def _text_run(entry: Record, length: int) -> TextRun | None:
    style = entry.get("style")
    start, end = finite(entry.get("start")), finite(entry.get("end"))
    if not isinstance(style, dict) or start is None or end is None:
        return None
    font_style = style.get("fontStyle")
    return TextRun(
        start=min(length, int(max(0.0, start) // 1)),
        end=min(length, int(max(0.0, end) // 1)),
        family=text_or_none(style, "fontFamily"),
        size=finite(style.get("fontSize")),
        weight=css_weight(style.get("fontWeight")),
        italic=None if not isinstance(font_style, str) else font_style == "italic",
        letter_spacing=finite(style.get("letterSpacing")),
        fill=text_or_none(style, "fill"),
    )


def _text_path(node: Node) -> TextPath | None:
    """Return the stored mask that the text runs along; without one the text is laid out as usual (text.md 8)."""
    stored = node.fx.get("textPath")
    if not isinstance(stored, dict):
        return None
    wanted = text(stored, "pathId")
    path = next((mask for mask in stored_masks(node) if wanted in {"", mask.id}), None)
    if path is None or len(path.points) < 2:
        return None
    return TextPath(
        points=tuple(PathPoint(*point[:6]) for point in path.points),
        closed=path.closed,
        first_margin=number(stored, "firstMargin", 0.0),
        reversed=flag(stored, "reversed"),
        perpendicular=flag(stored, "perpendicular", True),
        expansion=path.expansion,
    )


def _last_flag(node: Node, key: str) -> bool:
    values = [properties[key] for _, properties in node.components if isinstance(properties.get(key), bool)]
    return bool(values and values[-1])
