"""From a layer's source to what the quads draw: analytic shape or texture, with mask and colour stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import moderngl
import numpy as np
import numpy.typing as npt

from gpu_renderer import effects
from gpu_renderer.backends.gl.source_contents import Made, SourceInks
from gpu_renderer.backends.gl.textures import Textures
from gpu_renderer.cache.targets import KeptTargets
from gpu_renderer.content import masks, raster_scale
from gpu_renderer.content.raster import WHOLE, Raster, Share
from gpu_renderer.content.source import ContentSource
from gpu_renderer.content.vector.css import Rgba
from gpu_renderer.content.vector.mesh import deformed
from gpu_renderer.display_list import analytic
from gpu_renderer.display_list.gradients import gradient_of
from gpu_renderer.display_list.graph import UNTINTED, Draw, Scene, Step, Tint
from gpu_renderer.display_list.paint import PLAIN, Analytic, Ink, Look, Picture, Spot, quad_of, spot_of
from gpu_renderer.display_list.space import lights
from gpu_renderer.effects import Box, EffectScene
from gpu_renderer.effects.scene import no_layer
from gpu_renderer.geometry import color, placement
from gpu_renderer.geometry.matrix import Matrix3
from gpu_renderer.geometry.region import Region
from gpu_renderer.opengl.painter import Painter
from gpu_renderer.opengl.targets import Target
from motion.snapshot import (
    CompositionSource,
    EffectSnapshot,
    ImageSource,
    LayerSnapshot,
    LightWash,
    Mesh,
    ParticleSource,
    ShapeSource,
    SolidPaint,
    Source,
    VideoSource,
)

MASK_SUPERSAMPLE = 2.0
BAKED_BYTES_MAX = 64 << 20
MESHES_MAX = 4
MASK_SIGMA_FACTOR = 0.5
"""The blur of a feather in raster px of the doubled mask: feather / 2, which is feather / 4 layer px (compositing.md 5.3)."""
_WITHOUT_TABLES = (CompositionSource, ParticleSource)
"""Tables are dropped on these, under masks and on planes (effects.md 5)."""


class StepRegions:
    """What steps of this frame and of the last one reach, by step: both are asked for again and again."""

    def __init__(self) -> None:
        self._now: dict[int, tuple[Step, Scene, Region]] = {}
        self._before: dict[int, tuple[Step, Scene, Region]] = {}

    def find(self, step: Step, scene: Scene) -> Region | None:
        """The region put for the very same step, if it is known."""
        held = self._now.get(id(step)) or self._before.get(id(step))
        if held is None or held[0] is not step or (held[1] is not scene and held[1] != scene):
            return None
        return held[2]

    def put(self, step: Step, scene: Scene, region: Region) -> Region:
        """Remembers a region, until the end of the next frame, and returns it."""
        self._now[id(step)] = (step, scene, region)
        return region

    def end_frame(self) -> None:
        """Forgets the frame before."""
        self._before, self._now = self._now, {}


class Inks:
    """Makes inks and looks; textures live in the texture store."""

    def __init__(self, painter: Painter, contents: ContentSource, textures: Textures) -> None:
        self._painter = painter
        self._contents = contents
        self._textures = textures
        self._tables: dict[bytes, moderngl.Texture] = {}
        self._made: dict[int, tuple[Draw, Scene, Ink | None]] = {}
        self._spots: dict[int, tuple[Draw, Scene, Spot | None]] = {}
        self._sources = SourceInks()
        self.regions = StepRegions()
        self._meshes: dict[str, tuple[Raster, Mesh, Raster]] = {}
        self.baked: KeptTargets[tuple[Raster, tuple[object, ...]]] = KeptTargets(painter.pool, BAKED_BYTES_MAX)

    def box(self, layer: LayerSnapshot) -> tuple[float, float]:
        """The layer's own box, px, without padding."""
        return (1.0, 1.0) if isinstance(layer.source, LightWash) else self._contents.box(layer.source)

    def ink(self, step: Draw, scene: Scene) -> Ink | None:
        """The layer's content, None where it has nothing to draw; made once a frame."""
        held = self._made.get(id(step))
        if held is None or held[0] is not step or (held[1] is not scene and held[1] != scene):
            held = self._made[id(step)] = (step, scene, self._ink(step, scene))
        return held[2]

    def spot(self, step: Draw, scene: Scene) -> Spot | None:
        """Where the content of a step without samples lands in the scene's frame, None where it draws nothing; once a frame."""
        held = self._spots.get(id(step))
        if held is None or held[0] is not step or (held[1] is not scene and held[1] != scene):
            ink = self.ink(step, scene)
            spot = None if ink is None else spot_of(ink, quad_of(ink, step.placement), scene.frame)
            held = self._spots[id(step)] = (step, scene, spot)
        return held[2]

    def give(self, step: Draw, scene: Scene, ink: Ink, quad: Matrix3) -> None:
        """Makes a step without samples show this content on this quad for the rest of the frame, or until it is taken away."""
        self._made[id(step)] = (step, scene, ink)
        self._spots[id(step)] = (step, scene, spot_of(ink, quad, scene.frame))

    def take_away(self, step: Draw) -> None:
        """Lets a step show its own content again."""
        self._made.pop(id(step), None)
        self._spots.pop(id(step), None)

    def end_frame(self) -> None:
        """Forgets the frame's steps."""
        self._made.clear()
        self._spots.clear()
        self._sources.end_frame()
        self.regions.end_frame()

    def _ink(self, step: Draw, scene: Scene) -> Ink | None:
        layer = step.layer
        made = self._sources.find(step, scene) if step.is_bare else None
        if made is not None and self._is_at_hand(made):
            return made.ink
        if effects.needs_baking(layer):
            return self._baked(step, scene)
        if analytic.is_analytic(layer):
            shape = self._analytic(step, scene)
            return self._remembered(step, scene, shape, None)
        if isinstance(layer.source, LightWash):
            return self._picture(step, lights.wash(layer.source), scene)
        raster = self._raster(step)
        return None if raster is None else self._remembered(step, scene, self._picture(step, raster, scene), raster)

    def _is_at_hand(self, made: Made) -> bool:
        """Whether a picture's texture is there still; asking for it keeps it there."""
        if made.raster is None or not isinstance(made.ink, Picture):
            return True
        return self._textures.of(made.raster.pixels) is made.ink.texture

    def _remembered(
        self, step: Draw, scene: Scene, ink: Analytic | Picture, raster: Raster | None
    ) -> Analytic | Picture:
        if step.is_bare:
            self._sources.put(step, scene, ink, raster)
        return ink

    def look(self, step: Draw, scene: Scene) -> Look:
        """Mask and colour stage of an unbaked layer; a baked one has had both."""
        layer = step.layer
        aces = scene.color.working_space == "aces-cg"
        if step.is_bare and not aces and not masks.has_paths(layer):
            return PLAIN
        if effects.needs_baking(layer):
            return Look(aces_cg=aces, gain=step.gain)
        mask = self._mask(layer)
        stage = effects.color_stage(layer.effects)
        is_tabled = mask is None and step.plane is None and not isinstance(layer.source, _WITHOUT_TABLES)
        table = self._table(stage.table) if is_tabled and stage is not None and stage.table is not None else None
        return Look(None if mask is None else self._textures.of(mask), stage, table, aces, step.gain, mask)

    def picture_of(self, source: ShapeSource, scene: Scene) -> Picture | None:
        """A raster of a source that belongs to no layer, at its own size."""
        raster = self._contents.raster(source, 1.0)
        if raster is None:
            return None
        texture, shown = self._textures.of(raster.pixels), _linear(raster.color, UNTINTED, scene)
        return Picture(texture, raster.width, raster.height, raster.padding, color=shown)

    def stage_look(self, stack: Sequence[EffectSnapshot]) -> Look:
        """The colour stage alone, for pictures that are linear already."""
        stage = effects.color_stage(stack)
        table = self._table(stage.table) if stage is not None and stage.table is not None else None
        return Look(None, stage, table)

    def _analytic(self, step: Draw, scene: Scene) -> Analytic:
        layer, is_wall = step.layer, step.plane is not None and step.plane.is_wall
        source = layer.source
        assert isinstance(source, ShapeSource)
        assert source.primitive != "path"
        paint = source.fills[0]
        if not isinstance(paint, SolidPaint):
            shades = gradient_of(paint, source.width, source.height)
            assert shades is not None
            is_hard = is_wall or (source.primitive == "rect" and source.radii[0] <= 0.0)
            return Analytic(source.primitive, shades, source.width, source.height, source.radii[0], is_hard)
        fill = color.parse(paint.color)
        stage = effects.color_stage(layer.effects)
        if stage is not None:  # on encoded numbers here: a quirk of the reference (compositing.md 1.5)
            fill = color.Rgba(*stage.graded_fill(fill[:3]), fill.a)
        lit = color.Rgba(fill.r * step.tint[0], fill.g * step.tint[1], fill.b * step.tint[2], fill.a)
        linear = color.linear(lit, aces_cg=scene.color.working_space == "aces-cg")
        return Analytic(source.primitive, linear, source.width, source.height, source.radii[0], is_wall)

    def _raster(self, step: Draw) -> Raster | None:
        layer = step.layer
        width, height = self._contents.box(layer.source)
        rung = raster_scale.tier(step.raster_scale, continuous=layer.continuous_raster, width=width, height=height)
        samples = raster_scale.supersample(rung, max(width, height, 1.0))
        raster = self._contents.raster(layer.source, samples)
        if raster is None or layer.mesh is None or layer.masks:  # a masked layer draws undeformed (compositing.md 5.6)
            return raster
        return self._deformed(layer, layer.mesh, raster)

    def _deformed(self, layer: LayerSnapshot, mesh: Mesh, raster: Raster) -> Raster:
        """The raster under its mesh, the very same one while neither changes."""
        kept = self._meshes.get(layer.id)
        if kept is None or kept[0] is not raster or kept[1] != mesh:
            if len(self._meshes) >= MESHES_MAX:
                self._meshes.clear()
            kept = self._meshes[layer.id] = (raster, mesh, deformed(raster, mesh))
        return kept[2]

    def _baked(self, step: Draw, scene: Scene) -> Picture | None:
        """The content after its effects of the raster route, kept while neither changes."""
        layer = step.layer
        plan = effects.baking(layer, scene.view_scale, *self._contents.box(layer.source))
        raster = self._contents.raster(layer.source, plan.scale, plan.bleed_px)
        if raster is None:
            return None
        paths = masks.paths(layer, raster.width, raster.height)
        value = (id(raster.pixels), raster.width, raster.height, plan.scale, layer.effects, paths, layer.fill_opacity)
        place = f"{layer.id}:{hash(value)}"
        kept, flat = self.baked.find(place), _baked_color(raster, layer)
        if kept is None or kept[0][1] != value:
            target = effects.bake(
                self._painter, raster, layer, self._contents.mask, self._contents.monospace, scale_max=plan.scale
            ).target
            if flat is not None:
                target = self._coverage(target)
            self.baked.put(place, (raster, value), target)
        else:
            target = kept[1]
        shown = _linear(flat, step.gain, scene)
        is_picture = isinstance(layer.source, (ImageSource, VideoSource))
        # a picture is stretched over the room of its effects, as in the reference (effects.md 4.1)
        padding = plan.padding_px if is_picture else raster.padding
        return Picture(
            target.texture, raster.width, raster.height, padding, _crop(layer, raster), layer.draft_quality, color=shown,
            source=target,
        )  # fmt: skip

    def _coverage(self, canvas: Target) -> Target:
        """The alpha of a canvas alone, which costs less to filter. Takes the canvas."""
        alpha = self._painter.applied("effects/alpha.frag", canvas, format="a1")
        self._painter.pool.give_back(canvas)
        return alpha

    def _picture(self, step: Draw, raster: Raster, scene: Scene) -> Picture:
        layer = step.layer
        texture = self._textures.of(raster.pixels, is_fleeting=raster.is_fleeting)
        return Picture(
            texture, raster.width, raster.height, raster.padding, _crop(layer, raster), layer.draft_quality, raster.is_opaque,
            _linear(raster.color, step.gain, scene), raster.inked, raster.pixels,
        )  # fmt: skip

    def _mask(self, layer: LayerSnapshot) -> npt.NDArray[np.uint8] | None:
        if not masks.has_paths(layer):
            return None
        box = self._contents.box(layer.source)
        paths = masks.paths(layer, *box)
        if not masks.is_masked(paths):
            return None
        return self._contents.mask(paths, *box, MASK_SUPERSAMPLE, MASK_SIGMA_FACTOR)

    def _table(self, table: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> moderngl.Texture:
        key = table.tobytes()
        if key not in self._tables:
            texture = self._painter.context.texture((256, 1), 3, key, alignment=1)
            texture.repeat_x = texture.repeat_y = False
            self._tables[key] = texture
        return self._tables[key]


def has_passes(layer: LayerSnapshot) -> bool:
    """Whether spatial effects run over the layer's buffer."""
    return bool(layer.effects) and effects.has_chain(layer.effects, after_baking=effects.needs_baking(layer))


def effect_scene(
    step: Draw, scene: Scene, inks: Inks, layer_target: Callable[[str], Target | None] = no_layer
) -> EffectScene:
    """What the effects of a layer may know of the layer and the frame."""
    width, height = inks.box(step.layer)
    ink = None if step.group is not None else inks.ink(step, scene)
    padding = 0.0 if ink is None else ink.padding
    box = placement.extent(step.placement.quad(width, height, padding))
    return EffectScene(
        scene.frame, Box(*box), width, height, output_scale=scene.view_scale, layer_target=layer_target,
        layer_id=step.layer.id,
    )  # fmt: skip


def _baked_color(raster: Raster, layer: LayerSnapshot) -> Rgba | None:
    """The colour that a baked canvas has everywhere, its alpha being the coverage."""
    own = raster.color
    return own._replace(alpha=1.0) if own is not None and effects.keeps_color(layer) else None


def _linear(encoded: Rgba | None, gain: Tint, scene: Scene) -> color.Rgba | None:
    """The colour of a raster of one colour in the working space, with the gain of the plane that it lies on."""
    if encoded is None:
        return None
    red, green, blue, alpha = encoded
    lit = color.Rgba(red * gain[0], green * gain[1], blue * gain[2], alpha)
    return color.linear(lit, aces_cg=scene.color.working_space == "aces-cg")


def part_shown(source: Source, columns: int, rows: int) -> Share:
    """The part of content of so many texels that is shown: of a picture that covers its box, the middle (layers.md 9.2)."""
    if not (isinstance(source, (ImageSource, VideoSource)) and source.cover):
        return WHOLE
    own, box = columns / rows, source.width / source.height
    if own > box:
        part = box / own
        return ((1 - part) / 2, 0.0, part, 1.0)
    part = own / box
    return (0.0, (1 - part) / 2, 1.0, part)


def _crop(layer: LayerSnapshot, raster: Raster) -> Share:
    rows, columns = raster.pixels.shape[:2]
    return part_shown(layer.source, columns, rows)
