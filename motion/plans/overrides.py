"""Overrides: values that a composition instance changes in the composition that it shows (animation.md 5, step 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from motion.schema.animation import NodeAnimation
from motion.schema.nodes import Node
from motion.stored import JsonValue, Record, finite, record

NUMBERS = frozenset({"x", "y", "rotation", "scaleX", "scaleY", "opacity"})
STRINGS = frozenset({"text", "fill", "color"})


@dataclass(frozen=True, slots=True)
class AnimatedNodes:
    """Nodes of a document and their animations, by id."""

    by_id: Mapping[str, Node]
    animations: Mapping[str, NodeAnimation]


def overridden(all_nodes: AnimatedNodes, instance: Node) -> AnimatedNodes:
    """Return the nodes with the instance's overrides, or the same object if it has none.

    An override also removes the property's animation.
    """
    overrides = record(instance.fx, "__compOverrides")
    if not overrides:
        return all_nodes
    changed, animations = dict(all_nodes.by_id), dict(all_nodes.animations)
    for address, value in overrides.items():
        node_id, _, prop = address.rpartition("/")
        if node_id not in changed or not _allowed(prop, value):
            continue
        changed[node_id] = _written(changed[node_id], prop, value)
        if node_id in animations:
            animations[node_id] = _without_animation(animations[node_id], prop)
    return AnimatedNodes(changed, animations)


def _allowed(prop: str, value: JsonValue) -> bool:
    if prop in NUMBERS:
        return finite(value) is not None
    return prop in STRINGS and isinstance(value, str)


def _written(node: Node, prop: str, value: JsonValue) -> Node:
    """Return the node with the value on the last component that has the property, else on its Transform."""
    owner = next((kind for kind, properties in reversed(node.components) if prop in properties), "Transform")
    components: list[tuple[str, Record]] = [
        (kind, {**properties, prop: value} if kind == owner else properties) for kind, properties in node.components
    ]
    if owner not in dict(node.components):
        components.append((owner, {prop: value}))
    return replace(node, components=tuple(components))


def _without_animation(animation: NodeAnimation, prop: str) -> NodeAnimation:
    gone = {prop}
    if prop in {"fill", "color"}:
        gone |= {f"{prop}_r", f"{prop}_g", f"{prop}_b"}
    return replace(animation, moving={path: value for path, value in animation.moving.items() if path not in gone})
