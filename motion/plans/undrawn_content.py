"""Warnings about content of a layer that is not drawn, or is drawn as something else."""

from __future__ import annotations

from collections.abc import Iterator

from motion.formulas.particles import particle_field
from motion.plans.overrides import AnimatedNodes
from motion.schema.animation import NOT_ANIMATED
from motion.schema.contents import TEXT_CHARACTERS_MAX
from motion.schema.nodes import Node
from motion.schema.styles import unknown_styles
from motion.stored import text

WITHOUT_PICTURE = frozenset({"group", "null", "camera", "audio"})
KINDS = WITHOUT_PICTURE | {"shape", "solid", "text", "image", "video", "svg", "comp", "light", "particle", "adjustment"}
"""Kinds of layers (document.md 2.3). Documents call solid shapes `solid`, too; any other kind is drawn as a shape."""


def comes_from_plugin(node: Node) -> bool:
    """Return True for a layer of a plugin. It has no picture and needs no other warning."""
    return "." in node.kind


def has_no_picture(node: Node) -> bool:
    """Return True for kinds of layers that are never painted, and for layers of plugins."""
    return node.kind in WITHOUT_PICTURE or comes_from_plugin(node)


def warnings(node: Node, all_nodes: AnimatedNodes) -> Iterator[str]:
    """Yield a sentence for each content of the node that is not drawn as it is stored."""
    if comes_from_plugin(node):
        yield f"Layer “{node.name}” comes from a plugin and is not drawn."
        return
    if node.kind not in KINDS:
        yield f"Layer “{node.name}” is of the kind {node.kind[:40]!r}, which is unknown; it is drawn as a shape."
    for style in unknown_styles(node):
        yield f"The layer style {style[:40]!r} of layer “{node.name}” is unknown and not drawn."
    if node.visible and node.string("content") == "" and node.kind == "text" and not _has_moving_text(node, all_nodes):
        yield f"Layer “{node.name}” shows nothing: its text is empty."
    if node.fx.get("contentAwareFill"):
        yield f"Layer “{node.name}” shows a generated fill, which is not drawn."
    if isinstance(waveform := node.fx.get("audioWaveform"), dict):
        heard = all_nodes.by_id.get(text(waveform, "sourceLayerId"))
        if heard is None or heard.kind != "audio":
            yield f"Layer “{node.name}” shows the waveform of no audio layer, and is not drawn."
    if any("__physics" in properties for _, properties in node.components):
        yield f"Layer “{node.name}” is moved by the physics simulation, which is not run."
    if len(node.string("content") or "") > TEXT_CHARACTERS_MAX:
        yield f"The text of layer “{node.name}” is cut after {TEXT_CHARACTERS_MAX} characters."
    if node.kind == "particle":
        for setting in particle_field(node.fx.get("particle")).unsupported:
            yield f"Layer “{node.name}” asks its particles for {setting}, which they are drawn without."


def _has_moving_text(node: Node, all_nodes: AnimatedNodes) -> bool:
    return "text.source" in all_nodes.animations.get(node.id, NOT_ANIMATED).data
