"""Drafts: the nodes of a composition in walk order, with clones and spliced compositions in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from motion.errors import PropertyRefused
from motion.evaluate.context import FRAME_LAYERS_MAX
from motion.evaluate.nesting import NESTING_MAX
from motion.formulas.cloner import Clone, CloneDrivers
from motion.model.layer import Layer
from motion.plans.clones import copies
from motion.plans.overrides import AnimatedNodes, overridden
from motion.schema.nodes import Node, root_ids, subtrees

LAYERS_MAX = FRAME_LAYERS_MAX
"""Most layers of a project, checked while layers are listed, before they are made."""
UNITS_MAX = 16
"""Deepest nesting of groups that composite as one unit."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A node that becomes a layer.

    `id`, `parent` and `unit` are ids of layers: the id of the node, after `prefix` in a copy or in a spliced composition. `unit` is the
    innermost group around the layer that composites as one unit, and `units` counts these groups. `splices` are the collapsed
    compositions around the layer. A copy of a cloner has `clone` and `clone_drivers`; `delay` (seconds) and `is_copy` also hold for
    everything below it.
    """

    id: str
    node: Node
    all_nodes: AnimatedNodes
    parent: str | None
    unit: str | None
    prefix: str = ""
    spliced: bool = False
    clone: Clone | None = None
    clone_drivers: CloneDrivers | None = None
    delay: float = 0.0
    splices: tuple[str, ...] = ()
    is_copy: bool = False
    units: int = 0


class Walk:
    """Walk over the nodes of compositions. One walk counts the layers of all compositions of a project."""

    def __init__(self, all_nodes: AnimatedNodes, warn: Callable[[str], None]) -> None:
        self._all_nodes = all_nodes
        self._warn = warn
        self._count = 0

    def drafts(self, composition_id: str, instance: Node | None) -> Iterator[Draft]:
        """Yield the drafts of a composition, as its instance shows it if the instance overrides values.

        Raises PropertyRefused above LAYERS_MAX.
        """
        all_nodes = self._all_nodes if instance is None else overridden(self._all_nodes, instance)
        roots = root_ids(all_nodes.by_id, composition_id)
        if self._count + sum(1 for _ in subtrees(all_nodes.by_id, roots)) > LAYERS_MAX:  # without copies: a cheap count
            raise _too_many_layers()
        pending = [Draft(root, all_nodes.by_id[root], all_nodes, None, None) for root in reversed(roots)]
        met: set[str] = set()
        while pending:
            draft = pending.pop()
            if draft.id in met:
                continue
            met.add(draft.id)
            self._count += 1
            if self._count > LAYERS_MAX:
                raise _too_many_layers()
            yield draft
            pending.extend(reversed(self._below(draft)))

    def _below(self, draft: Draft) -> list[Draft]:
        node = draft.node
        opens = node.is_unit and draft.units < UNITS_MAX
        if node.is_unit and not opens:
            self._warn(f"Groups lie more than {UNITS_MAX} deep in each other: the innermost are not composited as one.")
        shared = replace(
            draft, unit=draft.id if opens else draft.unit, units=draft.units + opens, parent=draft.id,
            clone=None, clone_drivers=None,
        )  # fmt: skip
        below: list[Draft] = []
        for child in (*self._spliced(draft, shared), *_children(shared, node)):
            below += _copied(child)
            if len(below) > LAYERS_MAX:
                raise _too_many_layers()
        return below

    def _spliced(self, draft: Draft, shared: Draft) -> list[Draft]:
        """Return the top layers of the composition that a collapsed instance places, before the instance's own children."""
        node = draft.node
        reference = node.composition_reference or ""
        if (
            node.kind != "comp"
            or not collapses(node)
            or reference in draft.splices
            or len(draft.splices) >= NESTING_MAX
        ):
            return []
        all_nodes = overridden(self._all_nodes, node)
        if reference not in all_nodes.by_id:
            return []
        prefix, splices = f"{draft.id}::", (*draft.splices, reference)
        inner = replace(shared, all_nodes=all_nodes, prefix=prefix, spliced=True, splices=splices)
        return _children(inner, all_nodes.by_id[reference])


def parent_id_of(draft: Draft, by_id: Mapping[str, Draft]) -> str | None:
    """Return the parent's id: the instance for top layers of a spliced composition, else the parent that the node
    names.
    """
    named = draft.node.parent
    if named is None:
        return None
    own = draft.prefix + named
    if own in by_id:
        return own
    return draft.parent if draft.spliced or draft.clone is not None else None


def parents_first(draft: Draft, by_id: Mapping[str, Draft], done: Mapping[str, Layer]) -> list[Draft]:
    """Return the draft and its parents that are not layers yet, outermost first. A cycle is cut at its last link."""
    chain: list[Draft] = []
    met: set[str] = set()
    current: Draft | None = draft
    while current is not None and current.id not in met and current.id not in done:
        met.add(current.id)
        chain.append(current)
        parent_id = parent_id_of(current, by_id)
        current = by_id[parent_id] if parent_id is not None else None
    return list(reversed(chain))


def collapses(node: Node) -> bool:
    """Return True for a placed composition whose layers are drawn in its place."""
    return any(properties.get("collapseTransforms") is True for _, properties in node.components)


def _too_many_layers() -> PropertyRefused:
    return PropertyRefused(
        f"The project has more than {LAYERS_MAX:,} layers. Each copy of a cloner counts: remove layers, or lower the counts of cloners."
    )


def _children(shared: Draft, node: Node) -> list[Draft]:
    """Return the existing children of a node as drafts."""
    return [
        replace(shared, id=shared.prefix + child, node=shared.all_nodes.by_id[child])
        for child in node.children
        if child in shared.all_nodes.by_id
    ]


def _copied(draft: Draft) -> list[Draft]:
    """Return the draft, or the copies that its cloner puts in its place; cloners inside of copies are ignored."""
    made = None if draft.is_copy else copies(draft.node, draft.all_nodes.by_id)
    if made is None:
        return [draft]
    return [
        replace(
            draft,
            id=f"{draft.prefix}{index}~{draft.node.id}",
            prefix=f"{draft.prefix}{index}~",
            clone=clone,
            clone_drivers=clone_drivers and _with_layer_ids(clone_drivers, draft.prefix),
            delay=clone.delay_seconds,
            is_copy=True,
        )
        for index, (clone, clone_drivers) in enumerate(made)
    ]


def _with_layer_ids(clone_drivers: CloneDrivers, prefix: str) -> CloneDrivers:
    """Return the drivers with the ids that they have as layers."""
    path_id, driver_id = (wanted and prefix + wanted for wanted in (clone_drivers.path_id, clone_drivers.driver_id))
    return replace(clone_drivers, path_id=path_id, driver_id=driver_id)
