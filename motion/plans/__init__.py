"""Plans: the layers of each composition in paint order, with clones, spliced compositions and overrides expanded.

A plan is made in two steps: `drafts.py` walks the nodes, and `PlanMaker` makes a layer of each draft.
"""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

from motion.evaluate.nesting import NESTING_MAX
from motion.model.composition import Entry, Plan
from motion.model.content import Content, InstanceContent, NothingContent
from motion.model.layer import Layer
from motion.model.layer_time import Bar
from motion.model.parity import Parity
from motion.model.settings import CompositionSettings
from motion.plans import undrawn_content
from motion.plans.drafts import Draft, Walk, collapses, parent_id_of, parents_first
from motion.plans.overrides import AnimatedNodes
from motion.plans.references import ids_read_by_effects, with_copied_references
from motion.schema.animation import NOT_ANIMATED, NodeAnimation
from motion.schema.layers import LayerContext, layer
from motion.schema.nodes import Node
from motion.schema.timelines import Timeline, bars_of
from motion.stored import record
from motion.vocabulary import unknown_to

WARNINGS_MAX = 200
"""Most warnings of a document. Further ones are dropped."""


class PlanMaker:
    """Make the plan of a composition and of every composition that it places, each once."""

    def __init__(
        self,
        nodes: Mapping[str, Node],
        table: Mapping[str, CompositionSettings],
        timelines: Mapping[str, Timeline],
        moving: Mapping[str, NodeAnimation],
        rendered: Timeline,
        parity: Parity,
    ) -> None:
        self.plans: dict[str, Plan] = {}
        self.warnings: dict[str, None] = {}
        self._all_nodes, self._table, self._timelines = AnimatedNodes(nodes, moving), table, timelines
        self._rendered, self._parity = rendered, parity
        self._pending: list[tuple[str, CompositionSettings, Node | None]] = []
        self._walk = Walk(self._all_nodes, self._warn)

    def plan(self, settings: CompositionSettings) -> Plan:
        """Return the plan of the composition; those of the compositions placed in it are in `plans`."""
        self._pending.append((settings.id, settings, None))
        while self._pending:
            key, wanted, instance = self._pending.pop()
            if key not in self.plans:
                self.plans[key] = self._made(key, wanted, instance)
        self._warn_of_nesting()
        return self.plans[settings.id]

    def _warn_of_nesting(self) -> None:
        """Warn of compositions that are placed in themselves or too deep. Frames show them black (document.md 2.10.5)."""
        placed = {
            key: [inner for layer in plan.layers.values() if (inner := _placed_in(layer))]
            for key, plan in self.plans.items()
        }
        depths: dict[str, int] = {}
        try:
            for key in TopologicalSorter(placed).static_order():
                depths[key] = 1 + max((depths[inner] for inner in placed[key]), default=0)
        except CycleError as found:
            name = self.plans[found.args[1][0]].settings.name
            self._warn(f"The composition “{name}” is placed in itself; its innermost copies are painted black.")
        if max(depths.values(), default=0) > NESTING_MAX + 1:
            self._warn(
                f"Compositions are placed more than {NESTING_MAX} deep in each other; the innermost are painted black."
            )

    def _made(self, key: str, settings: CompositionSettings, instance: Node | None) -> Plan:
        drafts = list(self._walk.drafts(settings.id, instance))
        layers = self._layers(drafts, settings)
        has_solo = any(layer.solo for layer in layers.values())
        needed = {target for layer in layers.values() for target in ids_read_by_effects(layer)}
        return Plan(
            key=key,
            settings=settings,
            entries=_entries(drafts, layers, has_solo, needed),
            cameras=tuple(layer for layer in layers.values() if layer.kind == "camera"),
            lights=tuple(layer for layer in layers.values() if layer.kind == "light"),
            layers=layers,
            in_space=any(layer.is_3d for layer in layers.values()),
        )

    def _layers(self, drafts: list[Draft], settings: CompositionSettings) -> dict[str, Layer]:
        """Return each draft as a layer. Parents come from the nodes' links, if they lead to a layer of the composition."""
        by_id = {draft.id: draft for draft in drafts}
        layers: dict[str, Layer] = {}
        for draft in drafts:
            for draft_layer in parents_first(draft, by_id, layers):
                parent = layers.get(parent_id_of(draft_layer, by_id) or "")
                made = self._layer(draft_layer, parent, settings)
                layers[draft_layer.id] = (
                    with_copied_references(made, draft_layer, by_id) if draft_layer.prefix else made
                )
        return {draft.id: layers[draft.id] for draft in drafts}

    def _layer(self, draft: Draft, parent: Layer | None, settings: CompositionSettings) -> Layer:
        node = draft.node
        context = LayerContext(
            id=draft.id,
            parent=parent,
            animation=draft.all_nodes.animations.get(node.id, NOT_ANIMATED),
            bars=self._bars(node),
            composition=settings,
            content=self._content(node, settings),
            clone=draft.clone,
            clone_drivers=draft.clone_drivers,
            delay=draft.delay,
            solo=node.solo and not draft.spliced and not draft.is_copy,
        )
        made = layer(node, context)
        for line in unknown_to(made):
            self._warn(line)
        return made

    def _bars(self, node: Node) -> tuple[Bar, ...]:
        """Return the node's bars in frames at the outermost rate; other rates are read as if they were that one (Q3)."""
        timeline = self._timelines.get(node.parent or "", self._rendered)
        bars = bars_of(node, self._timelines, self._rendered)
        if self._parity.nested_bars_at_outer_rate or timeline.fps == self._rendered.fps:
            return bars
        factor = self._rendered.fps / timeline.fps
        return tuple(Bar(*(value * factor for value in bar)) for bar in bars)

    def _content(self, node: Node, host: CompositionSettings) -> Content | None:
        """Return the content of a placed composition, nothing for plugin layers, or None for the node's own content."""
        for line in undrawn_content.warnings(node, self._all_nodes):
            self._warn(line)
        if undrawn_content.comes_from_plugin(node):
            return NothingContent()
        if node.kind != "comp" or node.composition_reference is None or collapses(node):
            return None
        return self._instance(node, node.composition_reference, host)

    def _instance(self, node: Node, reference: str, host: CompositionSettings) -> InstanceContent:
        settings = self._table.get(reference)
        if settings is not None and reference not in self._all_nodes.by_id:
            self._warn(f"Layer “{node.name}” places a composition without layers; it is painted black.")
            return InstanceContent(None, settings.width, settings.height)
        if settings is None:
            self._warn(f"Layer “{node.name}” places a composition that is not in the project; it is painted black.")
            return InstanceContent(None, host.width, host.height, fills_host=True)
        key = f"{reference}<{node.id}" if record(node.fx, "__compOverrides") else reference
        self._pending.append((key, settings, node if key != reference else None))
        return InstanceContent(key, settings.width, settings.height)

    def _warn(self, message: str) -> None:
        if len(self.warnings) < WARNINGS_MAX:
            self.warnings[message] = None


def _placed_in(layer: Layer) -> str | None:
    return layer.content.plan if isinstance(layer.content, InstanceContent) else None


def _entries(drafts: list[Draft], layers: Mapping[str, Layer], has_solo: bool, needed: set[str]) -> tuple[Entry, ...]:
    """Return the paint list; units are filled from the innermost outwards."""
    lists: dict[str | None, list[Draft]] = {}
    for draft in drafts:
        if draft.node.is_unit or not _unpainted(draft.node):
            lists.setdefault(draft.unit, []).append(draft)

    def entry(draft: Draft) -> Entry:
        layer = layers[draft.id]
        shown = layer.visible and (layer.solo or not has_solo)
        unit = tuple(map(entry, lists.get(draft.id, ()))) if draft.node.is_unit else None
        return Entry(layer, shown, layer.source_id in needed or layer.id in needed, unit)

    return tuple(map(entry, lists.get(None, ())))


def _unpainted(node: Node) -> bool:
    """Return True for nodes that are never painted: containers, guides, operands, placed compositions without content."""
    if undrawn_content.has_no_picture(node) or node.fx.get("guide") is True or node.fx.get("booleanOperand") is True:
        return True
    return node.kind == "comp" and (node.composition_reference is None or collapses(node))
