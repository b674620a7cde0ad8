"""Per-character 3D: every glyph of a text layer becomes a plane of its own in the layer's space (text.md 9)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from gpu_renderer.content.text.families import Fonts
from gpu_renderer.content.text.glyph_layout import GlyphPlace, glyph_places
from gpu_renderer.content.text.lines import DEFAULT_LINE_HEIGHT, measured_box
from motion.formulas.matrix4 import product, scaled, translation, turned
from motion.snapshot import (
    CompositionSource,
    Ghost,
    LayerSnapshot,
    Sample,
    Snapshot,
    TextRun,
    TextSource,
    Transform2D,
    Transform3D,
)

T = TypeVar("T", Sample, Ghost)
GLYPHS_MAX = 200
"""Number of glyphs above which per-character 3D keeps the text as one flat plane."""
REGULAR = 400.0
_PLANE_MARGIN_EM = 0.5


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
