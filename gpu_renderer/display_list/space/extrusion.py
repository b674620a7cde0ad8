"""Bodies: the planes behind an extruded layer (format/three-d.md 8)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from gpu_renderer import effects
from gpu_renderer.display_list.space.projection import times
from gpu_renderer.effects import EffectValues, Route
from gpu_renderer.geometry import color
from motion.snapshot import (
    EffectSnapshot,
    Extrusion,
    ImageSource,
    LayerSnapshot,
    LinearGradient,
    Matrix4,
    Paint,
    RadialGradient,
    ShapeSource,
    SolidPaint,
    Source,
    TextSource,
    Transform3D,
    VideoSource,
)

FALLBACK_FILL = "#2a2a2a"
LAYER_SPACING_PX = 1.5
LAYERS_MAX = 400
ARC_CHORDS, ELLIPSE_CHORDS, GRADIENT_STRIPS = 6, 20, 20
STRIP_OVERLAP = 1.25
SPATIAL_FACES_MAX = 16
_NEVER_ON_FACES = ("drop-shadow", "radial-shadow", "glow")
_INTERIOR = tuple(f"layerstyle:{style}" for style in ("innerShadow", "innerGlow", "satin", "bevel", "stroke"))
"""Layer styles that apply to undivided walls and the back only."""
_OVERLAYS = ("layerstyle:colorOverlay", "layerstyle:gradientOverlay")
"""Layer styles that change the colour of a face."""


@dataclass(frozen=True, slots=True)
class Face:
    """One plane of a body: its content and its place."""

    layer: LayerSnapshot
    transform: Transform3D
    is_wall: bool = True
    """True for a flat piece of the body, lit on its outer side, without a soft edge.

    False for a copy of the content.
    """
    is_back: bool = False
    """True for the copy of the content that closes a box or a cylinder: it too is lit on its outer side."""
    gain: float = 1.0
    """Shade, a factor of encoded colours. Textures are multiplied by the decoded value (compositing.md 1.4)."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A wall before its content is chosen. `at`: point of the front that gives its colour."""

    kind: str
    local: Matrix4
    width: float
    height: float
    at: tuple[float, float]
    is_whole: bool = False
    """True if the piece is a whole side."""


def faces(layer: LayerSnapshot, transform: Transform3D, *, is_lit: bool) -> list[Face]:
    """Return everything behind the front, farthest first, or nothing for a layer without depth.

    `is_lit`: lights give the shade.
    """
    extrusion = transform.extrusion
    if extrusion is None or extrusion.depth <= 0:
        return []
    body = replace(transform, material=replace(transform.material, metal=0.0), extrusion=None)
    bare = replace(layer, glass=None, backdrop_blur=0.0, preserve_transparency=False, samples=(), mesh=None, matte=None)
    outline = _outline_source(layer)
    if outline is None:
        return list(_copies(bare, body, extrusion, is_lit))
    pieces = list(_pieces(outline, extrusion))
    return [_face(bare, outline, body, extrusion, piece, len(pieces), is_lit) for piece in pieces]


def front(layer: LayerSnapshot, transform: Transform3D) -> LayerSnapshot:
    """Return the front of a body. The front of a bevelled box is smaller than the layer."""
    extrusion, source, outline = transform.extrusion, layer.source, _outline_source(layer)
    if extrusion is None or outline is None or not isinstance(source, (ShapeSource, ImageSource, VideoSource)):
        return layer
    b = _bevel_px(outline, extrusion)
    return replace(layer, source=replace(source, width=source.width - 2 * b, height=source.height - 2 * b))


def _outline_source(layer: LayerSnapshot) -> ShapeSource | None:
    """Return the rectangle or ellipse whose sides become walls, or None for text and paths.

    A picture is a box without a fill.
    """
    source = layer.source
    if isinstance(source, ShapeSource):
        return None if source.primitive == "path" else source
    if isinstance(source, (ImageSource, VideoSource)):
        return ShapeSource("rect", source.width, source.height, (SolidPaint(FALLBACK_FILL),))
    return None


def _pieces(source: ShapeSource, extrusion: Extrusion) -> Iterator[_Piece]:
    w, h, d, b = source.width, source.height, extrusion.depth, _bevel_px(source, extrusion)
    is_box = source.primitive == "rect" and not any(source.radii)
    yield _Piece("back", _moved(0, 0, d), w - 2 * b, h - 2 * b, (0.0, 0.0), is_whole=True)
    if not is_box:
        yield from _chord_walls(source, d)
        return
    yield from _box_walls(w, h, d, b, 1 if isinstance(_fill(source), SolidPaint) else GRADIENT_STRIPS)
    if b:
        yield from _chamfers(w, h, d, b)


def _box_walls(w: float, h: float, d: float, b: float, strips: int) -> Iterator[_Piece]:
    deep = d - 2 * b
    for x, y, turn in ((w / 2, 0, _turned_y(90)), (-w / 2, 0, _turned_y(270)), (0, -h / 2, _turned_x(90)), (0, h / 2, _turned_x(270))):  # fmt: skip
        side = h if x else w
        step = side / strips
        for index in range(strips):
            long = step * (STRIP_OVERLAP if index < strips - 1 else 1.0)
            along = -side / 2 + step * index + long / 2
            at = (x, along) if x else (along, y)
            size = (deep, long) if x else (long, deep)
            yield _Piece("side", times(_moved(at[0], at[1], d / 2), turn), *size, at, is_whole=strips == 1)


def _chamfers(w: float, h: float, d: float, b: float) -> Iterator[_Piece]:
    slope = b * math.sqrt(2)
    for z, degrees in ((b / 2, (135, 225, 135, 225)), (d - b / 2, (45, 315, 45, 315))):
        x, y = w / 2 - b / 2, h / 2 - b / 2
        yield _Piece("bevel", times(_moved(x, 0, z), _turned_y(degrees[0])), slope, h, (x, 0.0))
        yield _Piece("bevel", times(_moved(-x, 0, z), _turned_y(degrees[1])), slope, h, (-x, 0.0))
        yield _Piece("bevel", times(_moved(0, -y, z), _turned_x(degrees[2])), w, slope, (0.0, -y))
        yield _Piece("bevel", times(_moved(0, y, z), _turned_x(degrees[3])), w, slope, (0.0, y))


def _chord_walls(source: ShapeSource, d: float) -> Iterator[_Piece]:
    outline = _outline(source)
    for (ax, ay), (bx, by) in pairwise([*outline, outline[0]]):
        length = math.hypot(bx - ax, by - ay)
        if length > 1e-6:
            middle = ((ax + bx) / 2, (ay + by) / 2)
            turn = times(_turned_z(math.degrees(math.atan2(by - ay, bx - ax))), _turned_x(90))
            yield _Piece("side", times(_moved(*middle, d / 2), turn), length, d, middle)


def _outline(source: ShapeSource) -> list[tuple[float, float]]:
    """Return the corners of the outline, clockwise on screen."""
    x, y = source.width / 2, source.height / 2
    if source.primitive == "ellipse":
        turns = [2 * math.pi * index / ELLIPSE_CHORDS for index in range(ELLIPSE_CHORDS)]
        return [(x * math.cos(turn), y * math.sin(turn)) for turn in turns]
    tl, tr, br, bl = source.radii
    corners = (
        (-x + tl, -y + tl, tl, 180),
        (x - tr, -y + tr, tr, 270),
        (x - br, y - br, br, 0),
        (-x + bl, y - bl, bl, 90),
    )
    found = []
    for cx, cy, radius, start in corners:
        for index in range(ARC_CHORDS + 1):
            turn = math.radians(start + 90 * index / ARC_CHORDS)
            found.append((cx + radius * math.cos(turn), cy + radius * math.sin(turn)))
    return found


def _face(
    layer: LayerSnapshot, source: ShapeSource, body: Transform3D, extrusion: Extrusion, piece: _Piece, count: int,
    is_lit: bool,
) -> Face:  # fmt: skip
    gain = 1.0 if is_lit else _gain(extrusion, piece.kind)
    kept = _kept_effects(layer.effects, count, has_interior=piece.is_whole)
    if piece.kind == "back":
        overlays = () if isinstance(layer.source, ShapeSource) else _overlays(layer)
        back = replace(layer, source=_back_source(layer, source, extrusion, piece), effects=(*kept, *overlays))
        return Face(back, _turned(body, piece.local), is_wall=False, is_back=True, gain=gain)
    paint = SolidPaint(_piece_color(layer.effects, source, extrusion, piece))
    wall = replace(
        layer, source=ShapeSource("rect", piece.width, piece.height, (paint,)), effects=kept, masks=(), fill_opacity=1.0
    )
    return Face(wall, _turned(replace(body, anchor_x=0.0, anchor_y=0.0), piece.local), gain=gain)


def _back_source(layer: LayerSnapshot, source: ShapeSource, extrusion: Extrusion, piece: _Piece) -> Source:
    """Return the layer's content in the size of the back. A solid fill takes the back's colour."""
    own = layer.source
    assert isinstance(own, (ShapeSource, ImageSource, VideoSource)), "what has an outline"
    if not isinstance(own, ShapeSource):
        return replace(own, width=piece.width, height=piece.height)
    sized = replace(own, width=piece.width, height=piece.height)
    is_solid = len(own.fills) == 1 and isinstance(own.fills[0], SolidPaint)
    if not is_solid and not _overlays(layer):
        return sized
    return replace(sized, fills=(SolidPaint(_piece_color(layer.effects, source, extrusion, piece)),))


def _overlays(layer: LayerSnapshot) -> tuple[EffectSnapshot, ...]:
    return tuple(entry for entry in layer.effects if entry.id in _OVERLAYS)


def _turned(body: Transform3D, local: Matrix4) -> Transform3D:
    return replace(body, matrix=times(body.matrix, local))


def _gain(extrusion: Extrusion, kind: str) -> float:
    return {"side": extrusion.side_gain, "bevel": extrusion.bevel_gain, "back": extrusion.back_gain}[kind]


def _piece_color(stack: tuple[EffectSnapshot, ...], source: ShapeSource, extrusion: Extrusion, piece: _Piece) -> str:
    """Return the colour of a face before its shade."""
    own = {"side": extrusion.side_fill, "bevel": extrusion.bevel_fill, "back": extrusion.back_fill}[piece.kind]
    return own or _overlaid(_sampled(_fill(source), source, piece.at), stack, source, piece.at)


def _copies(layer: LayerSnapshot, body: Transform3D, extrusion: Extrusion, is_lit: bool) -> Iterator[Face]:
    """Yield copies of the content, close enough to look solid, for a body without flat sides.

    The farthest one is the back.
    """
    count = min(max(math.ceil(extrusion.depth / LAYER_SPACING_PX), 2), LAYERS_MAX)
    stack = _kept_effects(layer.effects, count)
    for index in range(count, 0, -1):
        kind = "back" if index == count else "side"
        fill = (extrusion.back_fill if kind == "back" else extrusion.side_fill) or _overlaid_content(layer)
        source = layer.source if fill is None else _repainted(layer.source, fill)
        place = _turned(body, _moved(0, 0, extrusion.depth * index / count))
        gain = 1.0 if is_lit else _gain(extrusion, kind)
        yield Face(replace(layer, source=source, effects=stack), place, is_wall=False, gain=gain)


def _repainted(source: Source, fill: str) -> Source:
    """Return the content with another fill. Text runs and gradients keep their colours."""
    if isinstance(source, TextSource):
        return replace(source, style=replace(source.style, fill=fill))
    if isinstance(source, ShapeSource) and len(source.fills) == 1 and isinstance(source.fills[0], SolidPaint):
        return replace(source, fills=(SolidPaint(fill),))
    return source


def _overlaid(fill: str, stack: tuple[EffectSnapshot, ...], source: ShapeSource, at: tuple[float, float]) -> str:
    """Return the encoded colour of a face with the overlays of the layer's styles."""
    mixed = color.parse(fill)
    for entry in stack:
        if entry.id in _OVERLAYS and (effect := effects.find(entry.type)) is not None:
            values = effects.resolve(effect, entry)
            tone, share = _overlay(entry, values, source, at)
            r, g, b = (p + (q - p) * share for p, q in zip(mixed[:3], tone, strict=True))
            mixed = color.Rgba(r, g, b, mixed.alpha)
            fill = _written(mixed)
    return fill


def _overlaid_content(layer: LayerSnapshot) -> str | None:
    """Return the colour of a text or a path under the overlays of its styles, or None without any."""
    if not any(entry.id in _OVERLAYS for entry in layer.effects):
        return None
    source = layer.source
    if isinstance(source, ShapeSource):
        return _overlaid(_sampled(_fill(source), source, (0.0, 0.0)), layer.effects, source, (0.0, 0.0))
    fill = source.style.fill if isinstance(source, TextSource) else FALLBACK_FILL
    return _overlaid(fill, layer.effects, ShapeSource("rect", 1.0, 1.0, ()), (0.0, 0.0))


def _overlay(
    entry: EffectSnapshot, values: EffectValues, source: ShapeSource, at: tuple[float, float]
) -> tuple[tuple[float, ...], float]:
    """Return the colour and the strength of an overlay at a point of the front."""
    if entry.type == "fill":
        return values.color("color")[:3], min(1.0, max(0.0, values.fraction("opacity")))
    t = _offset(LinearGradient(values.number("angle"), ()), source, at)
    first, last = values.color("colorA")[:3], values.color("colorB")[:3]
    tone = tuple(p + (q - p) * t for p, q in zip(first, last, strict=True))
    return tone, min(1.0, max(0.0, values.fraction("blend")))


def _kept_effects(
    stack: tuple[EffectSnapshot, ...], count: int, *, has_interior: bool = False
) -> tuple[EffectSnapshot, ...]:
    return tuple(entry for entry in stack if _stays(entry, count, has_interior))


def _stays(entry: EffectSnapshot, count: int, has_interior: bool) -> bool:
    if entry.id in _INTERIOR:
        return has_interior
    if entry.id in _OVERLAYS:
        return False
    effect = effects.find(entry.type)
    if effect is None or entry.mask_id or entry.type in _NEVER_ON_FACES or effect.route is Route.RASTER:
        return False
    return effect.route in (Route.MATRIX, Route.TABLE) or count <= SPATIAL_FACES_MAX


def _bevel_px(source: ShapeSource, extrusion: Extrusion) -> float:
    if source.primitive != "rect" or any(source.radii):
        return 0.0
    return max(0.0, min(extrusion.bevel, source.width / 2, source.height / 2, extrusion.depth / 2))


def _fill(source: ShapeSource) -> Paint:
    return source.fills[0] if source.fills else SolidPaint(FALLBACK_FILL)


def _sampled(paint: Paint, source: ShapeSource, at: tuple[float, float]) -> str:
    """Return the colour of a paint at a point of the front (layers.md 6)."""
    if isinstance(paint, SolidPaint):
        return paint.color
    if not paint.stops:
        return FALLBACK_FILL
    offset = _offset(paint, source, at)
    stops = sorted(paint.stops, key=lambda stop: stop.offset)
    before = next((stop for stop in reversed(stops) if stop.offset <= offset), stops[0])
    after = next((stop for stop in stops if stop.offset >= offset), stops[-1])
    span = after.offset - before.offset
    t = (offset - before.offset) / span if span > 0 else 0.0
    mixed = [p + (q - p) * t for p, q in zip(color.parse(before.color), color.parse(after.color), strict=True)]
    return _written(color.Rgba(*mixed))


def _offset(paint: LinearGradient | RadialGradient, source: ShapeSource, at: tuple[float, float]) -> float:
    w, h = source.width, source.height
    if isinstance(paint, RadialGradient):
        x, y = at[0] - (paint.center_x - 0.5) * w, at[1] - (paint.center_y - 0.5) * h
        return min(1.0, math.hypot(x, y) / (max(0.01, paint.radius) * math.hypot(w, h) / 2))
    dx, dy = math.cos(math.radians(paint.angle)), math.sin(math.radians(paint.angle))
    half = max(1e-6, (abs(dx) * w + abs(dy) * h) / 2)
    return min(max(((at[0] * dx + at[1] * dy) / half + 1) / 2, 0.0), 1.0)


def _written(c: color.Rgba) -> str:
    return f"rgba({c.red * 255:.4f}, {c.green * 255:.4f}, {c.blue * 255:.4f}, {c.alpha:.6f})"


def _moved(x: float, y: float, z: float) -> Matrix4:
    return (1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z, 0, 0, 0, 1)


def _turned_x(degrees: float) -> Matrix4:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return (1, 0, 0, 0, 0, c, -s, 0, 0, s, c, 0, 0, 0, 0, 1)


def _turned_y(degrees: float) -> Matrix4:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return (c, 0, s, 0, 0, 1, 0, 0, -s, 0, c, 0, 0, 0, 0, 1)


def _turned_z(degrees: float) -> Matrix4:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return (c, -s, 0, 0, s, c, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)
