"""Scene nodes as stored: identity, hierarchy, components, and the rules for finding a property (document.md 2.2 to 2.5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from motion.stored import (
    NAME_CHARACTERS_MAX,
    Document,
    JsonValue,
    Record,
    finite,
    record,
    records,
    scene_nodes,
    strings,
    text,
)

DEFAULT_KIND = "shape"


@dataclass(frozen=True, slots=True)
class Node:
    """One record of `scene.nodes`. `components` holds (type, properties); at most one of each type is left."""

    id: str
    name: str
    parent: str | None
    children: tuple[str, ...]
    components: tuple[tuple[str, Record], ...]
    kind: str
    visible: bool
    solo: bool
    fx: Record = field(init=False, repr=False, compare=False)
    """Properties of the effect component, cached because they are read often."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "fx", self.component("fx"))

    def number(self, key: str) -> float | None:
        """Return the number under a key: the last component that holds one wins."""
        for _, properties in reversed(self.components):
            if key in properties and (value := finite(properties[key])) is not None:
                return value
        return None

    def number_or(self, key: str, default: float) -> float:
        """Return the number under a key as `number` does, else the default."""
        value = self.number(key)
        return default if value is None else value

    def first_number(self, key: str) -> float | None:
        """Return the number under a key: the first component that holds one wins."""
        for _, properties in self.components:
            if key in properties and (value := finite(properties[key])) is not None:
                return value
        return None

    def string(self, key: str) -> str | None:
        """Return the string under a key: the last component that holds one wins."""
        for _, properties in reversed(self.components):
            if isinstance(value := properties.get(key), str):
                return value
        return None

    def anywhere(self, key: str) -> JsonValue:
        """Return the value under a key in the first component that has the key, None without one."""
        for _, properties in self.components:
            if properties.get(key) is not None:
                return properties[key]
        return None

    def component(self, component_type: str) -> Record:
        """Return the properties of the component of a type, or an empty object if there is none."""
        for kind, properties in self.components:
            if kind == component_type:
                return properties
        return {}

    @property
    def is_precomp(self) -> bool:
        """True if it composites its content as one unit (groups), or is a placed composition."""
        return self.fx.get("precomp") is True

    @property
    def is_unit(self) -> bool:
        """True for a group that composites its content as one unit."""
        return self.kind == "group" and self.is_precomp

    @property
    def is_muted(self) -> bool:
        """True if it is an audio layer or a video whose sound is switched off (audio.md 2.2)."""
        if self.kind == "audio":
            return self.component("Audio").get("__muted") is True
        return any(properties.get("audioMuted") is True for _, properties in self.components)

    @property
    def composition_reference(self) -> str | None:
        """The id of the composition that it places."""
        value = self.anywhere("__compRef")
        return value if isinstance(value, str) and value else None


def nodes(document: Document) -> dict[str, Node]:
    """Return all nodes by id, in file order. The first node with an id counts."""
    found: dict[str, Node] = {}
    for stored in scene_nodes(document):
        node_id = text(stored, "id")
        if node_id and node_id not in found:
            found[node_id] = _node(node_id, stored)
    return found


def repeated(document: Document) -> list[str]:
    """Return the names of records that are ignored because an earlier record has their id."""
    met: set[str] = set()
    names = []
    for stored in scene_nodes(document):
        node_id = text(stored, "id")
        if node_id and node_id in met:
            names.append(text(stored, "name", node_id)[:NAME_CHARACTERS_MAX])
        met.add(node_id)
    return names


def subtrees(by_id: Mapping[str, Node], roots: Iterable[str], *, nested: bool = False) -> Iterator[Node]:
    """Yield each root and all nodes below it, depth first, children in order. Each node is yielded once, so cycles end.

    `nested`: after a placed composition, also yield the nodes of the composition that it shows.
    """
    met: set[str] = set()
    pending = list(reversed(list(roots)))
    while pending:
        node_id = pending.pop()
        if node_id in met or node_id not in by_id:
            continue
        met.add(node_id)
        node = by_id[node_id]
        yield node
        pending.extend(reversed(node.children))
        if nested and node.kind == "comp" and node.composition_reference:
            pending.append(node.composition_reference)


def root_ids(by_id: Mapping[str, Node], composition_id: str) -> list[str]:
    """Return the root node of a composition. If it has no node, return all nodes without a parent, as the editor does."""
    if composition_id in by_id:
        return [composition_id]
    return [node.id for node in by_id.values() if node.parent is None]


def _node(node_id: str, stored: Record) -> Node:
    components = _components(stored)
    return Node(
        id=node_id,
        name=text(stored, "name", node_id)[:NAME_CHARACTERS_MAX],
        parent=text(stored, "parent") or None,
        children=tuple(dict.fromkeys(strings(stored, "children"))),
        components=components,
        kind=next(
            (kind for _, properties in components if isinstance(kind := properties.get("__kind"), str)), DEFAULT_KIND
        ),
        visible=stored.get("visible") is not False,
        solo=stored.get("solo") is True,
    )


def _components(stored: Record) -> tuple[tuple[str, Record], ...]:
    """Return the components as (type, properties), the last one of each type. The legacy type `transform` is left out."""
    found: dict[str, Record] = {}
    for component in records(stored, "components"):
        component_type = text(component, "type")
        if component_type != "transform":
            found[component_type] = record(component, "props")
    return tuple(found.items())
