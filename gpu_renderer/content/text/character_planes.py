"""Per-character 3D (text.md 9): every glyph of a 3D text layer becomes a plane of its own in the layer's space."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpu_renderer.content.text.families import Fonts
from gpu_renderer.content.text.glyph_layout import GlyphPlace, glyph_places
from gpu_renderer.content.text.lines import DEFAULT_LINE_HEIGHT, measured_box
from motion.evaluate.matrix4 import product, scaled, translation, turned
from motion.snapshot import CompositionSource, LayerSnapshot, Matrix4, Snapshot, TextRun, TextSource, Transform3D

GLYPHS_MAX = 200
"""A longer text stays one flat plane."""
REGULAR = 400.0
_MARGIN_EM = 0.5


def with_character_planes(snapshot: Snapshot, fonts: Fonts) -> Snapshot:
    """The snapshot with such layers replaced by their planes; the same object where there is none."""
    layers = tuple(made for layer in snapshot.layers for made in _replaced(layer, fonts))
    is_same = len(layers) == len(snapshot.layers) and all(a is b for a, b in zip(layers, snapshot.layers, strict=True))
    return snapshot if is_same else replace(snapshot, layers=layers)


def _replaced(layer: LayerSnapshot, fonts: Fonts) -> Iterator[LayerSnapshot]:
    source, transform = layer.source, layer.transform
    if isinstance(source, CompositionSource):
        inner = with_character_planes(source.composition, fonts)
        is_same = inner is source.composition
        yield layer if is_same else replace(layer, source=replace(source, composition=inner))
    elif isinstance(source, TextSource) and source.per_character_3d and isinstance(transform, Transform3D):
        yield from _planes(layer, source, transform, fonts)
    else:
        yield layer


def _planes(layer: LayerSnapshot, source: TextSource, transform: Transform3D, fonts: Fonts) -> Iterator[LayerSnapshot]:
    places = glyph_places(_apart(source), measured_box(source, fonts), fonts)
    if len(places) > GLYPHS_MAX:
        yield layer
        return
    for index, place in enumerate(places):
        yield replace(
            layer,
            id=f"{layer.id}::{index}",
            source=_plane_source(source, place),
            transform=replace(transform, matrix=_matrix(transform, place), anchor_x=0.0, anchor_y=0.0, extrusion=None),
            opacity=layer.opacity * max(0.0, place.pose.opacity),
            masks=(),
        )


def _apart(source: TextSource) -> TextSource:
    """The text as its planes are spaced: a run over everything without kerning, regular where no weight is stored."""
    runs = (TextRun(0, len(source.content)), *(_only_fill(run) for run in source.runs))
    style = source.style if source.has_weight else replace(source.style, weight=REGULAR)
    return replace(source, style=style, runs=runs, path=None)


def _only_fill(run: TextRun) -> TextRun:
    return TextRun(run.start, run.end, fill=run.fill)


def _plane_source(source: TextSource, place: GlyphPlace) -> TextSource:
    size, margin = place.style.size, _MARGIN_EM * place.style.size
    height = size * (source.line_height or DEFAULT_LINE_HEIGHT) + margin
    character, style = place.character, replace(place.style, weight=source.style.weight)
    return TextSource(
        character,
        character,
        style,
        style,
        line_height=source.line_height,
        align=source.align,
        plane=(max(1.0, place.advance) + margin, height),
    )


def _matrix(transform: Transform3D, place: GlyphPlace) -> Matrix4:
    pose = place.pose
    x, y = place.x + pose.dx - transform.anchor_x, place.y + pose.dy - transform.anchor_y
    local = product(translation(x, y, pose.dz), turned(pose.rotation_x, pose.rotation_y, pose.rotation))
    return product(transform.matrix, scaled(local, pose.scale_x, pose.scale_x, pose.scale_x))
