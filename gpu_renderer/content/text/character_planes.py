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
    """Return the snapshot with such layers replaced by their planes; the same object where there is none."""
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
    home = transform.matrix[3], transform.matrix[7], transform.matrix[11]
    for index, place in enumerate(places):
        yield replace(
            layer,
            id=f"{layer.id}::{index}",
            source=_plane_source(source, place),
            transform=replace(transform, matrix=_matrix(transform, place), sorted_at=home, extrusion=None),
            opacity=layer.opacity * max(0.0, place.pose.opacity),
        )


def _apart(source: TextSource) -> TextSource:
    """Return the text as its planes are spaced: a run over everything without kerning, regular where no weight is stored."""
    style = source.style if source.has_weight else replace(source.style, weight=REGULAR)
    return replace(source, style=style, runs=(TextRun(0, len(source.content)), *source.runs), path=None)


def _plane_source(source: TextSource, place: GlyphPlace) -> TextSource:
    """Return the picture of a plane: the original character in the layer's base style, of its run the fill alone."""
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
        plane=(width + _MARGIN_EM * size, height + _MARGIN_EM * size),
    )


def _matrix(transform: Transform3D, place: GlyphPlace) -> Matrix4:
    """Return the matrix of a glyph. The layer's anchor is subtracted in the glyph's own frame (text.md 9)."""
    pose = place.pose
    there = translation(place.x + pose.dx, place.y + pose.dy, pose.dz)
    local = product(there, turned(pose.rotation_x, pose.rotation_y, pose.rotation))
    return product(transform.matrix, scaled(local, pose.scale_x, pose.scale_x, 1.0))
