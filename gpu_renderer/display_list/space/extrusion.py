"""Bodies: the planes behind an extruded layer (three-d.md 8)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from gpu_renderer import effects
from gpu_renderer.effects import EffectValues, Route
from gpu_renderer.geometry import color
from gpu_renderer.geometry.matrix import Point
from motion.formulas.matrix4 import product, translation, turned
from motion.snapshot import (
    STYLE_PREFIX,
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
_INTERIOR = tuple(f"{STYLE_PREFIX}{style}" for style in ("innerShadow", "innerGlow", "satin", "bevel", "stroke"))
"""Layer styles that apply to undivided walls and the back only."""
_OVERLAYS = (f"{STYLE_PREFIX}colorOverlay", f"{STYLE_PREFIX}gradientOverlay")
"""Layer styles that change the colour of a face."""

CENTRE: Point = (0.0, 0.0)
Stack = tuple[EffectSnapshot, ...]


@dataclass(frozen=True, slots=True)
class Face:
    """One plane of a body: its content and its place."""

    layer: LayerSnapshot
    transform: Transform3D
    is_wall: bool = True
    """True for a flat piece of the body: lit on its outer side, without a soft edge.

    False for a copy of the content.
    """
    is_back: bool = False
    """True for the copy of the content that closes a box or a cylinder. It is also lit on its outer side."""
    gain: float = 1.0
    """Shade, a factor of encoded colours. Textures are multiplied by its decoded value (compositing.md 1.4)."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A wall before its content is chosen."""

    kind: str
    local: Matrix4
    width: float
    height: float
    is_whole: bool = False
    """True if the piece is a whole side of the body."""

    @property
    def at(self) -> Point:
        """Point of the front from which the piece takes its colour."""
        return self.local[3], self.local[7]


@dataclass(frozen=True, slots=True)
class _Body:
    """An extruded layer without its front. `is_lit`: True if lights give the shade."""

    layer: LayerSnapshot
    transform: Transform3D
    extrusion: Extrusion
    is_lit: bool

    def copies(self) -> Iterator[Face]:
        """Yield the copies of content without flat sides, spaced closely to look solid. The farthest is the back."""
        layer, depth = self.layer, self.extrusion.depth
        count = min(max(math.ceil(depth / LAYER_SPACING_PX), 2), LAYERS_MAX)
        stack = _kept_effects(layer.effects, count)
        for index in range(count, 0, -1):
            own_fill, gain = self._fill_and_shade("back" if index == count else "side")
            fill = own_fill or _overlaid_content(layer)
            source = layer.source if fill is None else _repainted(layer.source, fill)
            place = _moved(self.transform, translation(0, 0, depth * index / count))
            yield Face(replace(layer, source=source, effects=stack), place, is_wall=False, gain=gain)

    def faces(self, outline: ShapeSource) -> Iterator[Face]:
        """Yield the back and the walls of a box or a cylinder: a layer with an outline."""
        pieces = list(_pieces(outline, self.extrusion))
        for piece in pieces:
            own_fill, gain = self._fill_and_shade(piece.kind)
            fill = own_fill or _overlaid(_sampled(outline, piece.at), self.layer.effects, outline, piece.at)
            kept = _kept_effects(self.layer.effects, len(pieces), has_interior=piece.is_whole)
            if piece.kind == "back":
                yield Face(self._back(piece, fill, kept), _moved(self.transform, piece.local), False, True, gain)
                continue
            wall = replace(
                self.layer, source=ShapeSource("rect", piece.width, piece.height, (SolidPaint(fill),)),
                effects=kept, masks=(), fill_opacity=1.0,
            )  # fmt: skip
            unanchored = replace(self.transform, anchor_x=0.0, anchor_y=0.0)
            yield Face(wall, _moved(unanchored, piece.local), gain=gain)

    def _fill_and_shade(self, kind: str) -> tuple[str | None, float]:
        """Return the fill that the extrusion sets for a kind of face, or None, and its shade.

        Lights replace the shade.
        """
        e = self.extrusion
        fill, gain = {
            "side": (e.side_fill, e.side_gain), "bevel": (e.bevel_fill, e.bevel_gain), "back": (e.back_fill, e.back_gain),
        }[kind]  # fmt: skip
        return fill, 1.0 if self.is_lit else gain

    def _back(self, piece: _Piece, fill: str, kept: Stack) -> LayerSnapshot:
        """Return the layer in the size of the back. A solid fill takes the back's colour."""
        source, overlays = _sized(self.layer.source, piece.width, piece.height), _overlays(self.layer.effects)
        if not isinstance(source, ShapeSource):
            return replace(self.layer, source=source, effects=(*kept, *overlays))
        painted = replace(source, fills=(SolidPaint(fill),)) if overlays else _repainted(source, fill)
        return replace(self.layer, source=painted, effects=kept)


def faces(layer: LayerSnapshot, transform: Transform3D, *, is_lit: bool) -> list[Face]:
    """Return all planes behind the front, farthest first, or nothing for a layer without depth."""
    extrusion = transform.extrusion
    if extrusion is None or extrusion.depth <= 0:
        return []
    place = replace(transform, material=replace(transform.material, metal=0.0), extrusion=None)
    bare = replace(layer, glass=None, backdrop_blur=0.0, preserve_transparency=False, samples=(), mesh=None, matte=None)
    outline = _outline_source(layer.source)
    body = _Body(bare, place, extrusion, is_lit)
    return list(body.copies() if outline is None else body.faces(outline))


def front(layer: LayerSnapshot, transform: Transform3D) -> LayerSnapshot:
    """Return the front of a body. The front of a bevelled box is smaller than the layer."""
    extrusion, outline = transform.extrusion, _outline_source(layer.source)
    if extrusion is None or outline is None:
        return layer
    b = _bevel_px(outline, extrusion)
    return replace(layer, source=_sized(layer.source, outline.width - 2 * b, outline.height - 2 * b))


def _sized(source: Source, width: float, height: float) -> Source:
    assert isinstance(source, (ShapeSource, ImageSource, VideoSource)), "only they have an outline"
    return replace(source, width=width, height=height)


def _moved(transform: Transform3D, local: Matrix4) -> Transform3D:
    return replace(transform, matrix=product(transform.matrix, local), lit_at=None)


def _outline_source(source: Source) -> ShapeSource | None:
    """Return the rectangle or ellipse whose sides become walls, or None. A picture is a box without a fill."""
    if isinstance(source, ShapeSource):
        return None if source.primitive == "path" else source
    if isinstance(source, (ImageSource, VideoSource)):
        return ShapeSource("rect", source.width, source.height, (SolidPaint(FALLBACK_FILL),))
    return None


def _pieces(source: ShapeSource, extrusion: Extrusion) -> Iterator[_Piece]:
    w, h, d, b = source.width, source.height, extrusion.depth, _bevel_px(source, extrusion)
    yield _Piece("back", translation(0, 0, d), w - 2 * b, h - 2 * b, is_whole=True)
    if source.primitive != "rect" or any(source.radii):
        yield from _chord_walls(source, d)
        return
    yield from _box_walls(w, h, d, b, 1 if isinstance(_fill(source), SolidPaint) else GRADIENT_STRIPS)
    if b:
        yield from _chamfers(w, h, d, b)


def _bevel_px(source: ShapeSource, extrusion: Extrusion) -> float:
    if source.primitive != "rect" or any(source.radii):
        return 0.0
    return max(0.0, min(extrusion.bevel, source.width / 2, source.height / 2, extrusion.depth / 2))


def _box_walls(w: float, h: float, d: float, b: float, strips: int) -> Iterator[_Piece]:
    deep = d - 2 * b
    for x, y, turn in ((w / 2, 0, turned(0, 90, 0)), (-w / 2, 0, turned(0, 270, 0)), (0, -h / 2, turned(90, 0, 0)), (0, h / 2, turned(270, 0, 0))):  # fmt: skip
        side = h if x else w
        step = side / strips
        for index in range(strips):
            long = step * (STRIP_OVERLAP if index < strips - 1 else 1.0)
            along = -side / 2 + step * index + long / 2
            place = translation(x, along, d / 2) if x else translation(along, y, d / 2)
            size = (deep, long) if x else (long, deep)
            yield _Piece("side", product(place, turn), *size, is_whole=strips == 1)


def _chamfers(w: float, h: float, d: float, b: float) -> Iterator[_Piece]:
    slope, x, y = b * math.sqrt(2), w / 2 - b / 2, h / 2 - b / 2
    for z, one, other in ((b / 2, 135, 225), (d - b / 2, 45, 315)):
        yield _Piece("bevel", product(translation(x, 0, z), turned(0, one, 0)), slope, h)
        yield _Piece("bevel", product(translation(-x, 0, z), turned(0, other, 0)), slope, h)
        yield _Piece("bevel", product(translation(0, -y, z), turned(one, 0, 0)), w, slope)
        yield _Piece("bevel", product(translation(0, y, z), turned(other, 0, 0)), w, slope)


def _chord_walls(source: ShapeSource, d: float) -> Iterator[_Piece]:
    outline = _outline(source)
    for (ax, ay), (bx, by) in pairwise([*outline, outline[0]]):
        length = math.hypot(bx - ax, by - ay)
        if length > 1e-6:
            turn = turned(90, 0, math.degrees(math.atan2(by - ay, bx - ax)))
            yield _Piece("side", product(translation((ax + bx) / 2, (ay + by) / 2, d / 2), turn), length, d)


def _outline(source: ShapeSource) -> list[Point]:
    """Return the corners of the outline, clockwise on screen."""
    x, y = source.width / 2, source.height / 2
    if source.primitive == "ellipse":
        turns = [2 * math.pi * index / ELLIPSE_CHORDS for index in range(ELLIPSE_CHORDS)]
        return [(x * math.cos(turn), y * math.sin(turn)) for turn in turns]
    tl, tr, br, bl = source.radii
    corners = (
        (-x + tl, -y + tl, tl, 180), (x - tr, -y + tr, tr, 270), (x - br, y - br, br, 0), (-x + bl, y - bl, bl, 90),
    )  # fmt: skip
    return [
        (cx + radius * math.cos(turn), cy + radius * math.sin(turn))
        for cx, cy, radius, start in corners
        for turn in (math.radians(start + 90 * index / ARC_CHORDS) for index in range(ARC_CHORDS + 1))
    ]


def _kept_effects(stack: Stack, count: int, *, has_interior: bool = False) -> Stack:
    """Return the effects that a face of a body of `count` faces keeps."""

    def stays(entry: EffectSnapshot) -> bool:
        if entry.id in _INTERIOR or entry.id in _OVERLAYS:
            return has_interior and entry.id in _INTERIOR
        effect = effects.find(entry.type)
        if effect is None or entry.mask_id or entry.type in _NEVER_ON_FACES or effect.route is Route.RASTER:
            return False
        return effect.route in (Route.MATRIX, Route.TABLE) or count <= SPATIAL_FACES_MAX

    return tuple(filter(stays, stack))


def _overlays(stack: Stack) -> Stack:
    return tuple(entry for entry in stack if entry.id in _OVERLAYS)


def _repainted(source: Source, fill: str) -> Source:
    """Return the content with another fill. Text runs and gradients keep their colours."""
    if isinstance(source, TextSource):
        return replace(source, style=replace(source.style, fill=fill))
    if isinstance(source, ShapeSource) and len(source.fills) == 1 and isinstance(source.fills[0], SolidPaint):
        return replace(source, fills=(SolidPaint(fill),))
    return source


def _overlaid(fill: str, stack: Stack, source: ShapeSource, at: Point) -> str:
    """Return the encoded colour of a face with the overlays of the layer's styles applied."""
    mixed = color.parse(fill)
    for effect, entry in effects.known(_overlays(stack)):
        tone, share = _overlay(effects.resolve(effect, entry), source, at)
        mixed = color.Rgba(*_mixed(mixed[:3], tone, share))._replace(alpha=mixed.alpha)
        fill = _css_text(mixed)
    return fill


def _overlaid_content(layer: LayerSnapshot) -> str | None:
    """Return the colour of a text or a path under the overlays of its styles, or None without overlays."""
    source = layer.source
    if not _overlays(layer.effects):
        return None
    if isinstance(source, ShapeSource):
        return _overlaid(_sampled(source, CENTRE), layer.effects, source, CENTRE)
    fill = source.style.fill if isinstance(source, TextSource) else FALLBACK_FILL
    return _overlaid(fill, layer.effects, ShapeSource("rect", 1.0, 1.0, ()), CENTRE)


def _overlay(values: EffectValues, source: ShapeSource, at: Point) -> tuple[tuple[float, ...], float]:
    """Return the colour and the strength of an overlay at a point of the front."""
    if values.effect.id == "fill":
        return values.color("color")[:3], min(1.0, max(0.0, values.fraction("opacity")))
    t = _offset(LinearGradient(values.number("angle"), ()), source, at)
    tone = _mixed(values.color("colorA")[:3], values.color("colorB")[:3], t)
    return tone, min(1.0, max(0.0, values.fraction("blend")))


def _fill(source: ShapeSource) -> Paint:
    return source.fills[0] if source.fills else SolidPaint(FALLBACK_FILL)


def _sampled(source: ShapeSource, at: Point) -> str:
    """Return the colour of the first fill at a point of the front (layers.md 6)."""
    paint = _fill(source)
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
    return _css_text(color.Rgba(*_mixed(color.parse(before.color), color.parse(after.color), t)))


def _offset(paint: LinearGradient | RadialGradient, source: ShapeSource, at: Point) -> float:
    w, h = source.width, source.height
    if isinstance(paint, RadialGradient):
        x, y = at[0] - (paint.center_x - 0.5) * w, at[1] - (paint.center_y - 0.5) * h
        return min(1.0, math.hypot(x, y) / (max(0.01, paint.radius) * math.hypot(w, h) / 2))
    dx, dy = math.cos(math.radians(paint.angle)), math.sin(math.radians(paint.angle))
    half = max(1e-6, (abs(dx) * w + abs(dy) * h) / 2)
    return min(max(((at[0] * dx + at[1] * dy) / half + 1) / 2, 0.0), 1.0)


def _mixed(one: Iterable[float], other: Iterable[float], share: float) -> tuple[float, ...]:
    return tuple(p + (q - p) * share for p, q in zip(one, other, strict=True))


def _css_text(c: color.Rgba) -> str:
    return f"rgba({c.red * 255:.4f}, {c.green * 255:.4f}, {c.blue * 255:.4f}, {c.alpha:.6f})"
