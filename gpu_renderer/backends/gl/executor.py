"""Draws a render graph: walks its steps bottom up and composites each into a target.

The Executor holds what outlives a frame (textures, kept layers and groups); a _Walk is one pass over one graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from gpu_renderer import effects
from gpu_renderer.backends.gl import adjustment, background, blend, depth, glass, glow_cache, layers, quads
from gpu_renderer.backends.gl.batches import Batch
from gpu_renderer.backends.gl.glow_cache import KeptLights, Shone
from gpu_renderer.backends.gl.layer_contents import Inks, effect_scene, has_passes
from gpu_renderer.backends.gl.plane_cache import Sheets
from gpu_renderer.backends.gl.textures import Textures
from gpu_renderer.cache.targets import KeptTargets
from gpu_renderer.content.source import ContentSource
from gpu_renderer.display_list import bounds, unsupported
from gpu_renderer.display_list.graph import MODES, DepthGroup, Draw, Regrade, RenderGraph, Step
from gpu_renderer.display_list.operations import Buffer, Coarse, Content, Laid, LaidStep
from gpu_renderer.display_list.paint import PLAIN, Ink, Layered, quad_of, smooth
from gpu_renderer.effects import Lit
from gpu_renderer.geometry.damage import Tiled
from gpu_renderer.geometry.region import Parts, around, common, shared, without
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target
from gpu_renderer.optimisation import Levers
from motion.snapshot import CompositionSource

OWED_PARTS_MAX = 64
"""Of more rectangles than this, all is passed through 8 bits at once: each costs every later layer a look at it."""


Passed = Callable[[Step], None]
"""Is told of a pass over the target, and whose it was."""


@dataclass(frozen=True, slots=True)
class _Own:
    """What a layer's own buffer pictures, with its light in it or apart."""

    step: Draw
    is_flat: bool
    maps: tuple[tuple[str, Draw], ...]
    """The layers that its effects read."""


class Executor:
    """Draws graphs on one context; owned by its thread."""

    def __init__(self, painter: Painter, contents: ContentSource, levers: Levers) -> None:
        self.painter = painter
        self.levers = levers
        self.textures = Textures(painter.context, keep=levers.keep_textures)
        self.inks = Inks(painter, contents, self.textures)
        self.layers: KeptTargets[tuple[_Own, Lit]] = KeptTargets(painter.pool)
        self.groups: KeptTargets[RenderGraph] = KeptTargets(painter.pool)
        self.sheets = Sheets(painter, keep=levers.keep_layers)
        self.lights = KeptLights(painter, keep=levers.keep_layers)
        self.warnings: dict[str, None] = {}

    @property
    def kept_count(self) -> int:
        """How many targets are on loan between frames."""
        kept = (self.layers, self.groups, self.inks.baked, self.sheets, self.lights)
        return sum(targets.count for targets in kept)

    def end_frame(self) -> None:
        """Brings the kept textures and targets within their budgets."""
        self.inks.end_frame()
        self.textures.trim()
        self.layers.trim()
        self.groups.trim()
        self.inks.baked.trim()
        self.sheets.end_frame()
        self.lights.end_frame()
        self.painter.pool.end_frame()
        self.painter.collect()

    def release(self) -> None:
        """Frees everything on the GPU that the executor keeps."""
        self.layers.clear()
        self.groups.clear()
        self.inks.baked.clear()
        self.sheets.clear()
        self.lights.clear()
        self.textures.release()

    def draw(self, graph: RenderGraph, into: Target, parts: Parts, place: str = "") -> None:
        """Draws what of the composition lies in the parts, over whatever the target holds there."""
        owed = self.draw_owing(graph, into, parts, place)
        blend.coarsen(self.painter, into, owed, in_place=self.levers.read_in_place)

    def draw_owing(self, graph: RenderGraph, into: Target, parts: Parts, place: str = "") -> Parts:
        """Draws the same, but for the passage through 8 bits that blended layers want of the parts it returns."""
        return _Walk(self, graph, into, shared(parts, graph.scene.clip), place).run()

    @contextmanager
    def laying(self, graph: RenderGraph, into: Target) -> Iterator[LaidStep]:
        """Answers what drawing each step comes to, for the length of a block: then its targets may be given back."""
        walk = _Walk(self, graph, into, (), "")
        walk.warn()
        try:
            yield lambda index: walk.laid(graph.steps[index], f"/{index}")
        finally:
            walk.give_back()

    def draw_passes(self, graph: RenderGraph, into: Target, parts: Parts, passed: Passed) -> None:
        """Draws all steps but the lowest over nothing, and tells after each pass over the target whose it was."""
        bare = replace(graph, background=None, background_paint=None)
        _Walk(self, bare, into, shared(parts, graph.scene.clip), "", passed).run(1)


class _Walk:
    """One pass over one graph into one target."""

    def __init__(
        self,
        executor: Executor,
        graph: RenderGraph,
        into: Target,
        parts: Parts,
        place: str,
        passed: Passed | None = None,
    ) -> None:
        self._executor = executor
        self._painter = executor.painter
        self._inks = executor.inks
        self._graph = graph
        self._scene = graph.scene
        self._into = into
        self._parts = parts
        self._tiled = Tiled(parts)
        self._place = place
        self._is_opaque = blend.is_opaque(graph, into.region)
        self._loans: list[Target] = []
        self._owed: Parts = ()
        """What has yet to pass through 8 bits, before anything else is drawn there: often the last pass does it as well."""
        self._batch = Batch(executor.painter)
        self._passed = passed

    def run(self, first: int = 0) -> Parts:
        self.warn()
        background.draw(self._painter, self._graph, self._inks, self._into, self._parts)
        for index, step in enumerate(self._graph.steps[first:], first):
            try:
                self._step(step, f"{self._place}/{index}")
                self._tell(step)
            finally:
                self.give_back()
        self._batch.flush()
        return self._owed

    def warn(self) -> None:
        """Notes what the steps ask for in vain."""
        for step in self._graph.steps:
            if not (isinstance(step, Draw) and step.is_bare):
                self._executor.warnings.update(dict.fromkeys(unsupported.of_step(step)))

    def give_back(self) -> None:
        """Ends the loans of what the last step was drawn of."""
        if self._loans:
            self._batch.flush()
            self._painter.pool.give_back(*self._loans)
            self._loans.clear()

    def _step(self, step: Step, place: str) -> None:
        parts = self._tiled.shared(bounds.of_step(step, self._scene, self._inks))
        if not parts:
            return
        if isinstance(step, Draw) and step.is_bare:
            self._settle(parts)
            self._bare(step, parts)
            return
        if isinstance(step, Draw) and bounds.rewrites_all(step):
            self._batch.flush()
            self._blended(step, place, parts)
            return
        self._settle(self._parts if bounds.reads_around(step) else parts)
        self._batch.flush()
        if isinstance(step, Regrade):
            in_place = self._executor.levers.read_in_place
            adjustment.regrade(
                self._painter, self._into, step.layer, self._scene, self._inks, parts, self._map, in_place=in_place
            )
        elif isinstance(step, DepthGroup):
            sheets = [self._sheet(plane, f"{place}/{index}") for index, plane in enumerate(step.planes)]
            region = bounds.of_step(step, self._scene, self._inks).snapped(self._scene.frame)
            depth.draw(self._painter, self._into, sheets, region, parts, split_edges=self._executor.levers.split_edges)
        elif _is_direct(step):
            self._direct(step, place, parts)
        else:
            self._apart(step, place, parts)

    def _tell(self, step: Step) -> None:
        if self._passed is not None:
            self._batch.flush()
            self._passed(step)

    def laid(self, step: Step, place: str) -> tuple[Laid, ...] | None:
        """What `_step` draws, where that is not to be drawn into the target."""
        if isinstance(step, DepthGroup):
            return depth.laid([self._sheet(plane, f"{place}/{index}") for index, plane in enumerate(step.planes)])
        if not isinstance(step, Draw):
            return None
        if blend.is_blended(step):
            return self._laid_blended(step, place)
        if not bounds.lies_over(step):
            return None
        if step.is_bare:
            spot, look = self._inks.spot(step, self._scene), self._inks.look(step, self._scene)
            return () if spot is None else (Content(smooth(spot.ink), spot.quad, step.opacity, look, known=spot),)
        if _is_direct(step):
            return depth.laid_alone(self._sheet(step, place))
        if step.matte is not None:
            matte, lit = self._matte(step, place), self._lit(step, step.opacity, place)
            return () if lit is None else (Buffer(lit, 1.0, layers.matte_mode(step.matte), matte),)
        shone = self._shone(step, place) if step.opacity == 1.0 else None
        if shone is None:
            lit = self._lit(step, 1.0, place)
            return () if lit is None else (Buffer(lit, step.opacity),)
        ink = None if shone.is_alone else self._inks.ink(step, self._scene)
        if ink is None:
            return (shone.light,)
        look, quad = self._inks.look(step, self._scene), quad_of(ink, step.placement)
        return shone.light, Content(ink, quad, step.opacity, look, is_smooth=False)

    def _laid_blended(self, step: Draw, place: str) -> tuple[Laid, ...] | None:
        """What `_blended` draws; None where that is more than content as it is."""
        if has_passes(step.layer) or step.samples:
            return None
        region = bounds.layer_region(step, self._scene, self._inks)
        ink = None if region.is_empty else self._ink(step, place)
        if ink is None:
            return (Coarse(),)
        look, quad = self._inks.look(step, self._scene), quad_of(ink, step.placement)
        return Coarse(), Content(ink, quad, step.opacity, look, is_smooth=False, mode=MODES[step.blend])

    # ---------------------------------------------------------------------------------------- straight into the target

    def _bare(self, step: Draw, parts: Parts) -> None:
        """Content that passes through nothing, straight onto what is below; it may wait for the next."""
        spot = self._inks.spot(step, self._scene)
        if spot is not None:
            levers = self._executor.levers
            quads.draw(
                self._painter, smooth(spot.ink), spot.quad, self._into, opacity=step.opacity,
                look=self._inks.look(step, self._scene), blend=blend.fixed(step), scissor=parts,
                split_edges=levers.split_edges, batch=self._batch if levers.batch_quads else None, known=spot,
            )  # fmt: skip

    def _direct(self, step: Draw, place: str, parts: Parts) -> None:
        """Content straight onto what is below: four samples a pixel, no buffer of its own."""
        split_edges = self._executor.levers.split_edges
        depth.draw_alone(self._painter, self._into, self._sheet(step, place), parts, split_edges=split_edges)

    # ----------------------------------------------------------------------------------- blended with all that is below

    def _blended(self, step: Draw, place: str, parts: Parts) -> None:
        """Content where it stands, one sample a pixel; with effects or motion blur through a buffer of its own."""
        in_place = self._executor.levers.read_in_place
        if has_passes(step.layer) or step.samples:
            layer = self._layer(step, step.opacity, place)
            done = blend.combine(
                self._painter, self._into, layer, step, self._scene, parts, is_opaque=self._is_opaque, in_place=in_place
            )
        else:
            region = bounds.layer_region(step, self._scene, self._inks)
            ink, look = None if region.is_empty else self._ink(step, place), self._inks.look(step, self._scene)
            done = blend.draw(
                self._painter, self._into, ink, look, step, self._scene, parts, is_opaque=self._is_opaque,
                in_place=in_place, split_edges=self._executor.levers.split_edges,
            )  # fmt: skip
        self._owed = without(parts, done)
        if not self._bounded:
            self._settle(parts)

    def _settle(self, parts: Parts) -> None:
        """Passes what of the parts is owed through 8 bits."""
        if not self._owed:
            return
        self._batch.flush()
        settled = parts if len(self._owed) <= OWED_PARTS_MAX else self._owed
        in_place = self._executor.levers.read_in_place
        blend.coarsen(self._painter, self._into, common(self._owed, settled), in_place=in_place)
        self._owed = without(self._owed, settled)

    def _ink(self, step: Draw, place: str) -> Ink | None:
        if step.group is None:
            return self._inks.ink(step, self._scene)
        target = self._group(step, step.group, place)
        return None if target is None else Layered(target, *self._inks.box(step.layer), _is_cropped(step))

    def _group(self, step: Draw, group: RenderGraph, place: str) -> Target | None:
        """The group drawn on its own; a kept one has only its changes drawn again."""
        region = bounds.of_group(step, group, self._scene, self._inks)
        if region.is_empty:
            return None
        region = region.grown(1).snapped(self._scene.frame) if self._bounded else self._scene.frame
        kept = self._executor.groups.find(place)
        if kept is not None and kept[1].region == region:
            target, parts = kept[1], shared(bounds.changed(kept[0], group, self._inks).parts(), region)
        else:
            target, parts = self._painter.pool.take(region), (region,)
        if parts:
            self._painter.pool.renew(target)
            self._painter.erase(target, parts)
            self._executor.draw(group, target, parts, place)
        self._keep_group(place, group, target)
        return target

    def _keep_group(self, place: str, group: RenderGraph, target: Target) -> None:
        if self._executor.levers.keep_layers:
            self._executor.groups.put(place, group, target)
        else:
            self._loans.append(target)

    # ------------------------------------------------------------------------------------------- through its own buffer

    def _apart(self, step: Draw, place: str, parts: Parts) -> None:
        """Content, effects, opacity, matte, blend: in this order (compositing.md 2.5)."""
        early = blend.takes_opacity_first(step)
        content_opacity = step.opacity if early else 1.0
        opacity = 1.0 if early else step.opacity
        if _is_plain(step) and step.matte is None and step.blend == "normal" and step.opacity == 1.0:
            shone = self._shone(step, place)
            if shone is not None:
                self._over_light(step, shone, parts)
                return
        matte = self._matte(step, place)
        if _is_plain(step):
            lit = self._lit(step, content_opacity, place)
            if lit is not None:
                layers.composite(self._painter, self._into, lit, opacity, blend.fixed(step), parts, step.matte, matte)
            return
        target = self._layer(step, content_opacity, place)
        if target is None:
            return
        if step.layer.glass is not None:
            glass.draw(self._painter, self._into, target, step, self._scene, around(parts))
        else:
            glass.blur_backdrop(self._painter, self._into, target, step, around(parts))

    def _over_light(self, step: Draw, shone: Shone, parts: Parts) -> None:
        """A layer that covers what is below it with its light, then with its content: what drawing both as one gives."""
        layers.behind(self._painter, self._into, shone.light, parts)
        self._tell(step)
        ink = None if shone.is_alone else self._inks.ink(step, self._scene)
        if ink is not None:
            look, split_edges = self._inks.look(step, self._scene), self._executor.levers.split_edges
            layers.content(self._painter, self._into, ink, step, look, split_edges=split_edges, parts=parts)

    def _shone(self, step: Draw, place: str) -> Shone | None:
        """The layer's light, worked out apart from where the layer is; None where that cannot be."""
        ink = None if step.group is not None else self._inks.ink(step, self._scene)
        if ink is None or not glow_cache.travels(step, ink, self._scene):
            return None
        look, split_edges = self._inks.look(step, self._scene), self._executor.levers.split_edges
        return self._executor.lights.find(place, step, ink, look, self._scene, split_edges=split_edges)

    def _matte(self, step: Draw, place: str) -> Target | None:
        if step.matte is None or step.matte.source is None:
            return None
        return self._layer(step.matte.source, 1.0, f"{place}:matte")

    def _layer(self, step: Draw, opacity: float, place: str) -> Target | None:
        """The layer's content and effects on one buffer of its own; None where it has no pixel. Given back by the walk."""
        lit = self._lit(step, opacity, place, is_flat=True)
        return None if lit is None else lit.sharp

    def _lit(self, step: Draw, opacity: float, place: str, *, is_flat: bool = False) -> Lit | None:
        """The same with its light apart, unless `is_flat`."""
        alone = replace(step, opacity=opacity, blend="normal", matte=None)
        wanted = _Own(alone, is_flat, self._maps(step))
        kept = self._executor.layers.find(place)
        again = self._lit_again(kept[0][1], alone, place) if kept is not None and kept[0][0] == wanted else None
        if again is not None:
            self._executor.layers.hit_count += 1
            return again
        lit = self._drawn_layer(wanted, place)
        if lit is None:
            return None
        if self._executor.levers.keep_layers:
            self._executor.layers.put(place, (wanted, lit), *lit.targets)
        else:
            self._loans.extend(lit.targets)
        return lit

    def _lit_again(self, kept: Lit, step: Draw, place: str) -> Lit | None:
        """A kept layer with its light, which is kept elsewhere if it is lent; None where that cannot be had."""
        if kept.light is None or not kept.light.is_lent:
            return kept
        shone = self._shone(step, place)
        return None if shone is None else replace(kept, light=shone.light)

    def _drawn_layer(self, own: _Own, place: str) -> Lit | None:
        step = own.step
        region = bounds.layer_region(step, self._scene, self._inks)
        ink = None if region.is_empty else self._ink(step, f"{place}:group")
        if ink is None:
            return None
        shone = self._shone(step, place)
        if shone is not None and shone.is_alone:
            lit = effects.only_light(self._painter, shone.light)
            return Lit(effects.flattened(self._painter, lit)) if own.is_flat else lit
        target = self._painter.pool.take(region if self._bounded else self._scene.frame)
        look, baked = self._inks.look(step, self._scene), effects.needs_baking(step.layer)
        split_edges = self._executor.levers.split_edges
        feeds_effects = effects.is_resampled(step.layer.effects, after_baking=baked)
        layers.content(self._painter, target, ink, step, look, feeds_effects=feeds_effects, split_edges=split_edges)
        if not has_passes(step.layer):
            return Lit(target)
        if shone is not None:
            lit = Lit(target, shone.light)
        else:
            scene = effect_scene(step, self._scene, self._inks, self._map)
            stack, in_place = step.layer.effects, self._executor.levers.read_in_place
            lit = effects.lit_chain(self._painter, target, stack, scene, after_baking=baked, in_place=in_place)
        return Lit(effects.flattened(self._painter, lit)) if own.is_flat else lit

    def _map(self, layer_id: str) -> Target | None:
        """Another layer drawn alone over the frame, in 8 linear bits; given back by the walk."""
        step = dict(self._graph.references).get(layer_id)
        if step is None:
            return None
        target = self._painter.pool.take(self._scene.frame, "f1")
        self._loans.append(target)
        layer = self._layer(step, step.opacity, f"{self._place}:map:{layer_id}")
        if layer is not None:
            layers.composite(self._painter, target, Lit(layer), 1.0, "replace", (self._scene.frame,), None, None)
        return target

    # -------------------------------------------------------------------------------------------------------- in space

    def _sheet(self, plane: Draw, place: str) -> depth.Sheet:
        """A plane ready to be drawn; with effects it is flattened first, and then hides nothing behind it."""
        ink, look = self._ink(plane, place), self._inks.look(plane, self._scene)
        if ink is None or not has_passes(plane.layer):
            return depth.Sheet(plane, None if ink is None else smooth(ink), look, self._scene)
        in_place = self._executor.levers.read_in_place
        flat = self._executor.sheets.flattened(
            ink, look, plane, self._scene, self._maps(plane), self._map, in_place=in_place
        )
        return depth.Sheet(plane, flat, PLAIN, self._scene, writes_depth=False)

    def _maps(self, step: Draw) -> tuple[tuple[str, Draw], ...]:
        """The layers that a layer's effects read."""
        if not self._graph.references:
            return ()
        named = {value for entry in step.layer.effects for _, value in entry.stored}
        return tuple(pair for pair in self._graph.references if pair[0] in named)

    @property
    def _bounded(self) -> bool:
        return self._executor.levers.bounded_passes


def _is_direct(step: Draw) -> bool:
    """Whether content goes straight onto what is below; a plane takes its effects along."""
    layer = step.layer
    return not (
        (has_passes(layer) and step.plane is None)
        or step.matte
        or step.samples
        or layer.glass
        or layer.backdrop_blur > 0
    )


def _is_plain(step: Draw) -> bool:
    """Whether a fixed function composites the layer's own buffer."""
    return not (step.layer.glass or step.layer.backdrop_blur > 0)


def _is_cropped(step: Draw) -> bool:
    """Whether a group is cut to its box: placed compositions are, precomp groups where they have a mask."""
    source = step.layer.source
    return (isinstance(source, CompositionSource) and source.sealed) or bool(step.layer.masks)
