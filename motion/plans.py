"""Plans: the layers of each composition in paint order, with clones, spliced compositions and overrides expanded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter

from motion.clones import copies
from motion.errors import PropertyRefused
from motion.evaluate.cloner import Clone, CloneDrivers
from motion.evaluate.context import FRAME_LAYERS_MAX
from motion.evaluate.nesting import NESTING_MAX
from motion.evaluate.particles import particle_field
from motion.model.composition import Entry, Plan
from motion.model.content import Content, InstanceContent, NothingContent, ShapeContent
from motion.model.layer import Effect, Layer
from motion.model.layer_time import Bar
from motion.model.parity import Parity
from motion.overrides import AnimatedNodes, overridden
from motion.schema.animation import NOT_ANIMATED, NodeAnimation
from motion.schema.compositions import CompositionSettings
from motion.schema.contents import TEXT_CHARACTERS_MAX
from motion.schema.layers import LayerContext, is_unit, layer
from motion.schema.nodes import Node, root_ids
from motion.schema.stored import record, text
from motion.schema.styles import unknown_styles
from motion.schema.timelines import Timeline, bars_of
from motion.vocabulary import unknown_to

LAYERS_MAX = FRAME_LAYERS_MAX
"""Most layers of a frame, checked while layers are listed, before they are made."""
UNITS_MAX = 16
MAPS = frozenset({"matteLayerId", "mapLayerId", "blurLayerId"})
"""Parameters that name a layer whose picture an effect reads."""
WARNINGS_MAX = 200
UNPAINTED = frozenset({"group", "null", "camera", "audio"})
KINDS = UNPAINTED | {"shape", "solid", "text", "image", "video", "svg", "comp", "light", "particle", "adjustment"}
"""Kinds of layers (document.md 2.3). Documents call solid shapes `solid`, too; any other kind is drawn as a shape."""


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
        self._count = 0

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
        drafts = list(self._drafts(overridden(self._all_nodes, instance) if instance else self._all_nodes, settings))
        layers = self._layers(drafts, settings)
        has_solo = any(layer.solo for layer in layers.values())
        needed = {target for layer in layers.values() for target in _looked_at(layer)}
        return Plan(
            key=key,
            settings=settings,
            entries=_entries(drafts, layers, has_solo, needed),
            cameras=tuple(layer for layer in layers.values() if layer.kind == "camera"),
            lights=tuple(layer for layer in layers.values() if layer.kind == "light"),
            layers=layers,
        )

    def _drafts(self, all_nodes: AnimatedNodes, settings: CompositionSettings) -> Iterator[Draft]:
        """Return the nodes of the composition's subtree in walk order, with clones and spliced compositions in place."""
        roots = root_ids(all_nodes.by_id, settings.id)
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
        opens = is_unit(node) and draft.units < UNITS_MAX
        if is_unit(node) and not opens:
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
            or not _collapses(node)
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

    def _layers(self, drafts: list[Draft], settings: CompositionSettings) -> dict[str, Layer]:
        """Return each draft as a layer. Parents come from the nodes' links, if they lead to a layer of the composition."""
        by_id = {draft.id: draft for draft in drafts}
        layers: dict[str, Layer] = {}
        for draft in drafts:
            for draft_layer in _parents_first(draft, by_id, layers):
                parent = layers.get(_parent_id(draft_layer, by_id) or "")
                made = self._layer(draft_layer, parent, settings)
                layers[draft_layer.id] = _naming_copies(made, draft_layer, by_id) if draft_layer.prefix else made
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
        if "." in node.kind:
            self._warn(f"Layer “{node.name}” comes from a plugin and is not drawn.")
            return NothingContent()
        if node.kind not in KINDS:
            self._warn(
                f"Layer “{node.name}” is of the kind {node.kind[:40]!r}, which is unknown; it is drawn as a shape."
            )
        for style in unknown_styles(node):
            self._warn(f"The layer style {style[:40]!r} of layer “{node.name}” is unknown and not drawn.")
        if node.visible and node.string("content") == "" and node.kind == "text" and not self._has_moving_text(node):
            self._warn(f"Layer “{node.name}” shows nothing: its text is empty.")
        if node.fx.get("contentAwareFill"):
            self._warn(f"Layer “{node.name}” shows a generated fill, which is not drawn.")
        if isinstance(waveform := node.fx.get("audioWaveform"), dict):
            heard = self._all_nodes.by_id.get(text(waveform, "sourceLayerId"))
            if heard is None or heard.kind != "audio":
                self._warn(f"Layer “{node.name}” shows the waveform of no audio layer, and is not drawn.")
        if any("__physics" in properties for _, properties in node.components):
            self._warn(f"Layer “{node.name}” is moved by the physics simulation, which is not run.")
        if len(node.string("content") or "") > TEXT_CHARACTERS_MAX:
            self._warn(f"The text of layer “{node.name}” is cut after {TEXT_CHARACTERS_MAX} characters.")
        if node.kind == "particle":
            for setting in particle_field(node.fx.get("particle")).unsupported:
                self._warn(f"Layer “{node.name}” asks its particles for {setting}, which they are drawn without.")
        if node.kind != "comp" or node.composition_reference is None or _collapses(node):
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

    def _has_moving_text(self, node: Node) -> bool:
        return "text.source" in self._all_nodes.animations.get(node.id, NOT_ANIMATED).data

    def _warn(self, message: str) -> None:
        if len(self.warnings) < WARNINGS_MAX:
            self.warnings[message] = None


def _too_many_layers() -> PropertyRefused:
    return PropertyRefused(f"The project has more than {LAYERS_MAX:,} layers.")


def _placed_in(layer: Layer) -> str | None:
    return layer.content.plan if isinstance(layer.content, InstanceContent) else None


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


def _collapses(node: Node) -> bool:
    return any(properties.get("collapseTransforms") is True for _, properties in node.components)


def _parent_id(draft: Draft, by_id: Mapping[str, Draft]) -> str | None:
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


def _parents_first(draft: Draft, by_id: Mapping[str, Draft], done: Mapping[str, Layer]) -> list[Draft]:
    """Return the draft and its parents that are not layers yet, outermost first. A cycle is cut at its last link."""
    chain: list[Draft] = []
    met: set[str] = set()
    current: Draft | None = draft
    while current is not None and current.id not in met and current.id not in done:
        met.add(current.id)
        chain.append(current)
        parent_id = _parent_id(current, by_id)
        current = by_id[parent_id] if parent_id is not None else None
    return list(reversed(chain))


def _entries(drafts: list[Draft], layers: Mapping[str, Layer], has_solo: bool, needed: set[str]) -> tuple[Entry, ...]:
    """Return the paint list; units are filled from the innermost outwards."""
    lists: dict[str | None, list[Draft]] = {}
    for draft in drafts:
        if is_unit(draft.node) or not _unpainted(draft.node):
            lists.setdefault(draft.unit, []).append(draft)

    def entry(draft: Draft) -> Entry:
        layer = layers[draft.id]
        shown = layer.visible and (layer.solo or not has_solo)
        unit = tuple(map(entry, lists.get(draft.id, ()))) if is_unit(draft.node) else None
        return Entry(layer, shown, layer.source_id in needed or layer.id in needed, unit)

    return tuple(map(entry, lists.get(None, ())))


def _unpainted(node: Node) -> bool:
    """Return True for nodes that are never painted: containers, guides, operands, placed compositions without content."""
    if node.kind in UNPAINTED or node.fx.get("guide") is True or node.fx.get("booleanOperand") is True:
        return True
    return "." in node.kind or (node.kind == "comp" and (node.composition_reference is None or _collapses(node)))


def _naming_copies(made: Layer, draft: Draft, by_id: Mapping[str, Draft]) -> Layer:
    """Return a spliced or cloned layer whose effects, matte and boolean name the copies that were made with it."""
    outside, around, _ = draft.prefix.rpartition("::")
    prefixes = (draft.prefix, outside + around)

    def copied(node_id: str) -> str:
        return next((prefix + node_id for prefix in prefixes if prefix + node_id in by_id), node_id)

    def looking(effect: Effect) -> Effect:
        stored = tuple(
            (name, copied(value) if name in MAPS and isinstance(value, str) else value)
            for name, value in effect.static.stored
        )
        return (
            effect if stored == effect.static.stored else replace(effect, static=replace(effect.static, stored=stored))
        )

    content, matte = made.content, made.matte
    if matte is not None and matte.source_id is not None:
        matte = replace(matte, source_id=copied(matte.source_id))
    if isinstance(content, ShapeContent) and content.boolean_sources:
        content = replace(content, boolean_sources=tuple(map(copied, content.boolean_sources)))
    return replace(made, content=content, matte=matte, effects=tuple(map(looking, made.effects)))


def _looked_at(layer: Layer) -> Iterator[str]:
    """Return the ids of the layers that this layer's effects read."""
    for effect in layer.effects:
        for name, value in effect.static.stored:
            if name in MAPS and isinstance(value, str) and value:
                yield value
