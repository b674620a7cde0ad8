"""Layout glyph by glyph (text.md 4.2): every code point on its own, px from the centre of the box.

It is used for texts with a run, an animator or a text path (text.md 8). As in the reference, it splits joined emoji,
marks and Arabic letters, which whole-line shaping keeps together. In per-character 3D (text.md 9) every glyph of a text
layer becomes a plane of its own in the layer's space.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, groupby, pairwise
from typing import Any, NamedTuple, TypeVar

from gpu_renderer.content.text.families import Fonts, drawn_size
from gpu_renderer.content.text.lines import DEFAULT_LINE_HEIGHT, broken, chain_of, measured_box
from gpu_renderer.content.text.shaping import CACHED_MAX, NO_LIGATURES, prefix_widths, shaped, shaped_width
from gpu_renderer.content.vector.mask import expanded
from motion.formulas.expressions.values import SPACE
from motion.formulas.matrix4 import product, scaled, translation, turned
from motion.snapshot import (
    CompositionSource,
    Ghost,
    GlyphPose,
    LayerSnapshot,
    MaskPoint,
    PathPoint,
    Sample,
    Snapshot,
    TextPath,
    TextRun,
    TextSource,
    TextStyle,
    Transform2D,
    Transform3D,
)

T = TypeVar("T", Sample, Ghost)

AT_REST = GlyphPose()
CHORDS = 24
"""Number of chords of a curved segment, at equal steps of its parameter. A straight segment is one chord."""
WIDTHS_MAX = 8192
SPANS_MAX = 1024
GLYPHS_MAX = 200
"""Number of glyphs above which per-character 3D keeps the text as one flat plane."""
REGULAR = 400.0
_PLANE_MARGIN_EM = 0.5
_RUN_KEYS = ("family", "size", "weight", "italic", "letter_spacing", "fill")


class GlyphPlace(NamedTuple):
    """One code point: the character drawn, its style, and its centre before its pose moves it.

    `original`: the character before an animator replaced it by `character`. `in_run`: True if a run gives the style.
    `x`, `y`: horizontal centre of the character's own width, and middle of its line. `angle`: heading of a text path.
    """

    character: str
    original: str
    style: TextStyle
    in_run: bool
    pose: GlyphPose
    line_index: int = 0
    x: float = 0.0
    y: float = 0.0
    own_width: float = 0.0
    advance: float = 0.0
    angle: float = 0.0


def glyph_places(source: TextSource, box: tuple[float, float], fonts: Fonts) -> list[GlyphPlace]:
    """Return every code point that is drawn, in text order, without white space."""
    lines = _lines(source, fonts)
    largest = max([source.style.size, *(letter.style.size for line in lines for letter in line)])
    pitch = largest * source.line_height + source.paragraph_spacing
    middle = (len(lines) - 1) / 2
    places: list[GlyphPlace] = []
    for index, letters in enumerate(lines):
        line = list(_line_places(letters, (index - middle) * pitch, source.align, box[0], fonts))
        places += _along(line, source.path, source.align) if source.path else line
    return [place for place in places if place.character.strip(SPACE)]


def glyph_styles(count: int, base: TextStyle, runs: Sequence[TextRun]) -> list[tuple[TextStyle, bool]]:
    """Return the style of each code point, and True if a run gives it. Later runs override earlier ones key by key."""
    if not runs:
        return [(base, False)] * count
    by_key = [_last_runs(count, [run for run in runs if getattr(run, key) is not None]) for key in _RUN_KEYS]
    styles: dict[tuple[object, ...], TextStyle] = {}
    found = []
    for given, *over in zip(_last_runs(count, runs), *by_key, strict=True):
        values = tuple(run and getattr(run, key) for key, run in zip(_RUN_KEYS, over, strict=True))
        if values not in styles:
            changes: dict[str, Any] = {
                key: value for key, value in zip(_RUN_KEYS, values, strict=True) if value is not None
            }
            styles[values] = replace(base, **changes)
        found.append((styles[values], given is not None))
    return found


def _last_runs(count: int, runs: Sequence[TextRun]) -> list[TextRun | None]:
    """Return the last run over each code point. Each code point is visited once, however many runs cover it."""
    found: list[TextRun | None] = [None] * count
    free = list(range(count + 1))  # leads to the next code point without a run
    for run in reversed(runs):
        at = run.start
        while at < min(count, run.end):
            if found[at] is None:
                found[at], free[at] = run, at + 1
            free[at] = free[free[at]]
            at = free[at]
    return found


def _lines(source: TextSource, fonts: Fonts) -> list[list[GlyphPlace]]:
    """Return the letters of each line. Indices include the newlines that wrapping puts in place of spaces."""
    texts = broken(source.content, source.stored_style, source.stored_box_width, fonts)
    styles = glyph_styles(sum(len(line) + 1 for line in texts), source.style, source.runs)
    lines, at = [], 0
    for line_index, line in enumerate(texts):
        lines.append(
            [_letter(source, at + offset, character, styles, line_index) for offset, character in enumerate(line)]
        )
        at += len(line) + 1
    return lines


def _letter(
    source: TextSource, index: int, character: str, styles: Sequence[tuple[TextStyle, bool]], line_index: int
) -> GlyphPlace:
    style, in_run = styles[index]
    pose = source.poses[index] if index < len(source.poses) else AT_REST
    if source.has_animators and index < len(source.measured_content):
        character = source.measured_content[index]
    return GlyphPlace(pose.character or character, character, style, in_run, pose, line_index)


def _line_places(
    letters: list[GlyphPlace], y: float, align: str, box_width: float, fonts: Fonts
) -> Iterator[GlyphPlace]:
    advances = list(_advances(letters, fonts))
    width = sum(advances)
    pen = {"center": -width / 2, "right": box_width / 2 - width}.get(align, -box_width / 2)
    for letter, moved in zip(letters, advances, strict=True):
        own = _width(letter.character, letter.style, fonts)
        yield letter._replace(x=pen + own / 2, y=y, own_width=own, advance=moved)
        pen += moved


def _advances(letters: list[GlyphPlace], fonts: Fonts) -> Iterator[float]:
    """Yield the advance of each letter.

    Inside a span of equal style it is the difference of prefix widths. Inside a run every letter is its own span.
    """
    numbered = enumerate(letters)
    for _, group in groupby(numbered, key=lambda entry: entry[0] if entry[1].in_run else -1):
        span, before = [letter for _, letter in group], 0.0
        for letter, width in zip(span, _prefix_widths(span, fonts), strict=True):
            yield width - before + letter.pose.tracking
            before = width


def _prefix_widths(span: list[GlyphPlace], fonts: Fonts) -> Sequence[float]:
    """Return the widths of the beginnings of a span. They are cached because animators pose the same letters in every frame."""
    text, style = "".join(letter.character for letter in span), span[0].style
    return (_widths if len(text) <= CACHED_MAX else _widths.__wrapped__)(text, style, fonts)


@lru_cache(SPANS_MAX)
def _widths(text: str, style: TextStyle, fonts: Fonts) -> tuple[float, ...]:
    spacing = style.letter_spacing
    off = NO_LIGATURES if spacing else ()
    return tuple(prefix_widths(text, chain_of(style, fonts), drawn_size(style.size), spacing, off))


@lru_cache(WIDTHS_MAX)
def _width(character: str, style: TextStyle, fonts: Fonts) -> float:
    """Return a character's width in px. It is cached because animators pose the same letters in every frame."""
    return shaped_width(shaped(character, chain_of(style, fonts)), drawn_size(style.size))


def _along(line: list[GlyphPlace], wanted: TextPath, align: str) -> Iterator[GlyphPlace]:
    """Yield the line's glyphs moved onto the path (text.md 8)."""
    path = ArcPath.of(wanted)
    if not line or path.length <= 0:
        yield from line
        return
    left = line[0].x - line[0].own_width / 2
    room = path.length - sum(place.advance for place in line)
    base = {"center": room / 2, "right": room}.get(align, 0.0)
    for place in line:
        along = wanted.first_margin + base + (place.x - left)
        x, y, heading = path.at(path.length - along if wanted.reversed else along)
        heading += 180.0 if wanted.reversed else 0.0
        dx, dy = -math.sin(math.radians(heading)), math.cos(math.radians(heading))
        yield place._replace(x=x + dx * place.y, y=y + dy * place.y, angle=heading if wanted.perpendicular else 0.0)


@dataclass(frozen=True, slots=True)
class ArcPath:
    """Outline of a text path: points of a polyline with the arc length at each."""

    points: tuple[tuple[float, float], ...]
    lengths: tuple[float, ...]
    closed: bool

    @staticmethod
    @lru_cache(maxsize=256)
    def of(path: TextPath) -> ArcPath:
        """Return the path flattened. A closed one includes its closing chord."""
        corners = path_vertices(path)
        points = [corners[0][:2]]
        for start, end in pairwise((*corners, corners[0]) if path.closed else corners):
            points += _chords(start, end)
        chords = (math.dist(a, b) for a, b in pairwise(points))
        return ArcPath(tuple(points), tuple(accumulate(chords, initial=0.0)), path.closed)

    @property
    def length(self) -> float:
        """Arc length in px."""
        return self.lengths[-1]

    def at(self, distance: float) -> tuple[float, float, float]:
        """Return point and heading, degrees. A closed path wraps, an open one continues straight beyond its ends."""
        if self.closed and self.length > 0:
            distance %= self.length
        index = min(max(bisect_right(self.lengths, distance) - 1, 0), len(self.points) - 2)
        while index > 0 and self.lengths[index + 1] == self.lengths[index]:
            index -= 1
        (x0, y0), (x1, y1) = self.points[index : index + 2]
        chord = (self.lengths[index + 1] - self.lengths[index]) or 1.0
        u = (distance - self.lengths[index]) / chord
        return x0 + (x1 - x0) * u, y0 + (y1 - y0) * u, math.degrees(math.atan2(y1 - y0, x1 - x0))


def path_vertices(path: TextPath) -> tuple[PathPoint, ...]:
    """Return the path's vertices as in its mask: expanded along their normals."""
    moved = expanded([MaskPoint(*point) for point in path.points], path.expansion)
    return tuple(PathPoint(*point[:6]) for point in moved)


def _chords(start: PathPoint, end: PathPoint) -> Iterator[tuple[float, float]]:
    if start[4:6] == start[:2] and end[2:4] == end[:2]:
        yield end[:2]
        return
    for step in range(1, CHORDS + 1):
        # The last bit differs from `motion.formulas.bezier`, and decides the heading of a glyph that stands on a joint.
        t = step / CHORDS
        weights = ((1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t * t, t**3)
        xs, ys = (start.x, start.out_x, end.in_x, end.x), (start.y, start.out_y, end.in_y, end.y)
        yield sum(w * x for w, x in zip(weights, xs, strict=True)), sum(w * y for w, y in zip(weights, ys, strict=True))


def with_character_planes(snapshot: Snapshot, fonts: Fonts, readers: tuple[LayerSnapshot, ...] = ()) -> Snapshot:
    """Return the snapshot with layers of per-character 3D replaced by their planes, or the same object without any.

    `readers`: all layers of the composition, whose effects can refer to layers of a group.
    """
    readers = readers or snapshot.layers
    layers = tuple(made for layer in snapshot.layers for made in _replaced(layer, snapshot, fonts, readers))
    is_same = len(layers) == len(snapshot.layers) and all(a is b for a, b in zip(layers, snapshot.layers, strict=True))
    return snapshot if is_same else replace(snapshot, layers=layers)


def _replaced(
    layer: LayerSnapshot, host: Snapshot, fonts: Fonts, readers: tuple[LayerSnapshot, ...]
) -> Iterator[LayerSnapshot]:
    source, transform = layer.source, layer.transform
    if isinstance(source, CompositionSource):
        inner = with_character_planes(source.composition, fonts, () if source.sealed else readers)
        is_same = inner is source.composition
        yield layer if is_same else replace(layer, source=replace(source, composition=inner))
    elif isinstance(source, TextSource) and source.per_character_3d and isinstance(transform, Transform3D):
        if layer.visible:
            yield from _planes(layer, source, transform, fonts)
        if not layer.visible or _is_read(layer.id, readers):
            planes = tuple(_planes(_as_picture(layer), source, transform, fonts))
            yield from _grouped(layer, planes, host)
    else:
        yield layer


def _as_picture(layer: LayerSnapshot) -> LayerSnapshot:
    """Return a layer as mattes and effects read it (compositing.md 6)."""
    return replace(
        layer, visible=True, opacity=1.0, blend="normal", matte=None, preserve_transparency=False,
        casts_shadows=False, shadow_only=False,
    )  # fmt: skip


def _is_read(layer_id: str, readers: tuple[LayerSnapshot, ...]) -> bool:
    """Return True if an effect of another layer refers to the layer. Layers in groups are included."""
    for layer in readers:
        group, values = layer.source, (value for entry in layer.effects for _, value in entry.stored)
        if layer.id != layer_id and layer_id in values:
            return True
        if isinstance(group, CompositionSource) and not group.sealed and _is_read(layer_id, group.composition.layers):
            return True
    return False


def _grouped(layer: LayerSnapshot, planes: tuple[LayerSnapshot, ...], host: Snapshot) -> Iterator[LayerSnapshot]:
    """Yield the planes as one hidden layer with the text's id, so that mattes and effects find it."""
    if any(isinstance(plane.source, TextSource) and plane.source.plane for plane in planes):
        group = CompositionSource(Snapshot(host.width, host.height, planes), host.width, host.height, sealed=False)
        yield LayerSnapshot(layer.id, layer.name, group, Transform2D(0.0, 0.0), visible=False)
    elif not layer.visible:
        yield layer  # a text that is too long stays one flat plane


def _planes(layer: LayerSnapshot, source: TextSource, transform: Transform3D, fonts: Fonts) -> Iterator[LayerSnapshot]:
    """Yield a layer for each glyph. Without a stored weight the glyphs are regular.

    A run over the whole text is added, so that glyphs are spaced without kerning.
    """
    style = source.style if source.has_weight else replace(source.style, weight=REGULAR)
    apart = replace(source, style=style, runs=(TextRun(0, len(source.content)), *source.runs), path=None)
    places = glyph_places(apart, measured_box(source, fonts), fonts)
    if len(places) > GLYPHS_MAX:
        yield layer
        return
    home = transform.matrix[3], transform.matrix[7], transform.matrix[11]
    for index, place in enumerate(places):
        faded = max(0.0, place.pose.opacity)
        yield replace(
            layer,
            id=f"{layer.id}::{index}",
            source=_plane_source(source, place),
            transform=_plane_transform(transform, home, place),
            opacity=layer.opacity * faded,
            samples=tuple(_moved_with(sample, home, place, faded) for sample in layer.samples),
            ghosts=tuple(_moved_with(ghost, home, place, faded) for ghost in layer.ghosts),
        )


def _moved_with(copy: T, home: tuple[float, float, float], place: GlyphPlace, faded: float) -> T:
    """Return a glyph's part of a sub-frame or ghost, which has its own transform and opacity."""
    there = copy.transform
    if isinstance(there, Transform3D):
        there = _plane_transform(there, home, place)
    return replace(copy, transform=there, opacity=copy.opacity * faded)


def _plane_source(source: TextSource, place: GlyphPlace) -> TextSource:
    """Return the content of a plane: the original character in the layer's base style, with only the fill of its run."""
    size = source.style.size
    width, height = max(1.0, place.advance), size * (source.line_height or DEFAULT_LINE_HEIGHT)
    style = replace(source.style, fill=place.style.fill)
    return TextSource(
        place.original,
        place.original,
        style,
        style,
        line_height=source.line_height,
        align=source.align,
        path=source.path,
        plane=(width + _PLANE_MARGIN_EM * size, height + _PLANE_MARGIN_EM * size),
    )


def _plane_transform(transform: Transform3D, home: tuple[float, float, float], place: GlyphPlace) -> Transform3D:
    """Return the transform of a glyph. The layer's anchor applies in the glyph's own frame (text.md 9)."""
    pose = place.pose
    there = translation(place.x + pose.dx, place.y + pose.dy, pose.dz)
    local = product(there, turned(pose.rotation_x, pose.rotation_y, pose.rotation))
    matrix = product(transform.matrix, scaled(local, pose.scale_x, pose.scale_x, 1.0))
    material = replace(transform.material, metal=0.0)  # not passed to the planes (three-d.md 8)
    return replace(transform, matrix=matrix, material=material, sorted_at=home, extrusion=None, lit_at=None)
