"""Overrides: values that a composition instance changes in the composition that it shows (animation.md 5, step 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from motion.schema.animation import NodeAnimation
from motion.schema.nodes import Node
from motion.schema.stored import JsonValue, Record, finite, record

NUMBERS = frozenset({"x", "y", "rotation", "scaleX", "scaleY", "opacity"})
STRINGS = frozenset({"text", "fill", "color"})


@dataclass(frozen=True, slots=True)
class Scene:
    """All nodes by id, and what moves them."""

    nodes: Mapping[str, Node]
    moving: Mapping[str, NodeAnimation]


def overridden(scene: Scene, instance: Node) -> Scene:
    """Return the scene with the instance's overrides, the same object without any. An override also removes the
    property's animation.
    """
    overrides = record(instance.fx, "__compOverrides")
    if not overrides:
        return scene
    changed, animations = dict(scene.nodes), dict(scene.moving)
    for address, value in overrides.items():
        node_id, _, prop = address.rpartition("/")
        if node_id not in changed or not _allowed(prop, value):
            continue
        changed[node_id] = _written(changed[node_id], prop, value)
        if node_id in animations:
            animations[node_id] = _without_animation(animations[node_id], prop)
    return Scene(changed, animations)


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
